package search

import "strings"

// Sizes of context windows, in tokens.
const (
	DefaultWindow = 200_000
	largeWindow   = 1_000_000
	smallWindow   = 100_000
)

// largeBeta begins the beta header that asks for the large window.
const largeBeta = "context-1m"

// windows is each model's context window without and with that beta, as the
// vendor's model pages gave it in November 2026. The key is the model's name
// without provider, date and revision.
var windows = map[string]struct{ plain, beta int }{
	"claude-instant-1-2":    {smallWindow, smallWindow},
	"claude-2-0":            {smallWindow, smallWindow},
	"claude-2-1":            {DefaultWindow, DefaultWindow},
	"claude-3-haiku":        {DefaultWindow, DefaultWindow},
	"claude-3-sonnet":       {DefaultWindow, DefaultWindow},
	"claude-3-opus":         {DefaultWindow, DefaultWindow},
	"claude-3-5-haiku":      {DefaultWindow, DefaultWindow},
	"claude-3-5-sonnet":     {DefaultWindow, DefaultWindow},
	"claude-3-7-sonnet":     {DefaultWindow, DefaultWindow},
	"claude-haiku-4-5":      {DefaultWindow, DefaultWindow},
	"claude-opus-4":         {DefaultWindow, DefaultWindow},
	"claude-opus-4-0":       {DefaultWindow, DefaultWindow},
	"claude-opus-4-1":       {DefaultWindow, DefaultWindow},
	"claude-opus-4-5":       {DefaultWindow, DefaultWindow},
	"claude-opus-4-6":       {largeWindow, largeWindow},
	"claude-opus-4-7":       {largeWindow, largeWindow},
	"claude-opus-4-8":       {largeWindow, largeWindow},
	"claude-opus-5":         {largeWindow, largeWindow},
	"claude-opus-5-5":       {largeWindow, largeWindow},
	"claude-sonnet-4":       {DefaultWindow, largeWindow},
	"claude-sonnet-4-0":     {DefaultWindow, largeWindow},
	"claude-sonnet-4-5":     {DefaultWindow, largeWindow},
	"claude-sonnet-4-6":     {largeWindow, largeWindow},
	"claude-sonnet-5":       {largeWindow, largeWindow},
	"claude-sonnet-5-5":     {largeWindow, largeWindow},
	"claude-fable-5":        {largeWindow, largeWindow},
	"claude-fable-5-1":      {largeWindow, largeWindow},
	"claude-mythos-5":       {largeWindow, largeWindow},
	"claude-mythos-preview": {largeWindow, largeWindow},
}

// Window is a model's context window in tokens, given the request's betas
// (SPEC E3). The name may carry a provider's prefix, a date, a revision, or
// [1m], which asks for the large window as the beta does. A model that is not
// in the table gets DefaultWindow, and known is false.
func Window(model string, betas []string) (tokens int, known bool) {
	name, large := strings.CutSuffix(strings.ToLower(strings.TrimSpace(model)), "[1m]")
	for _, beta := range betas {
		large = large || strings.HasPrefix(strings.ToLower(strings.TrimSpace(beta)), largeBeta)
	}
	row, known := windows[bareModel(name)]
	switch {
	case !known:
		return DefaultWindow, false
	case large:
		return row.beta, true
	}
	return row.plain, true
}

// bareModel finds the table's key in a provider's spelling: the words from
// claude on, up to the first that is neither a name nor a version of one or
// two digits. us.anthropic.claude-opus-4-5-20251101-v1:0 is claude-opus-4-5.
func bareModel(name string) string {
	_, tail, found := strings.Cut(name, "claude-")
	if !found {
		return name
	}
	words := strings.FieldsFunc(tail, func(r rune) bool { return strings.ContainsRune("-.@:_/", r) })
	key := "claude"
	for _, word := range words {
		digits := strings.Trim(word, "0123456789") == ""
		if digits && len(word) > 2 || !digits && !isFamily(word) {
			break
		}
		key += "-" + word
	}
	return key
}

// isFamily knows the words of the table's keys.
func isFamily(word string) bool {
	switch word {
	case "instant", "haiku", "sonnet", "opus", "fable", "mythos", "preview":
		return true
	}
	return false
}
