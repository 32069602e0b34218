package cassette

// Blank returns the text with secrets replaced by Redacted: keys, tokens and
// organization ids by their looks, and the given values wherever they stand (O5).
// Reports on other people's recordings pass their texts through it.
func Blank(text string, secrets ...string) string { return newRedactor(secrets).text(text) }
