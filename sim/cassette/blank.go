package cassette

import "toolbench/sim/secret"

// Blank returns the text with secrets replaced by Redacted: keys, tokens and
// organization ids by their looks, and the given values wherever they stand (O5).
// Reports on other people's recordings pass their texts through it; who blanks many
// makes a secret.Finder once.
func Blank(text string, secrets ...string) string {
	return secret.New(nameless(secrets)...).Text(text, nil)
}
