package terms

import (
	"strings"
	"unicode"
)

// Parts cuts a name where its case changes, in lower case: createPRComment is
// create, pr and comment. Most words have one part.
func Parts(name string) []string {
	if !hasHump(name) {
		return []string{strings.ToLower(name)}
	}
	runes := []rune(name)
	var parts []string
	start := 0
	for i := 1; i < len(runes); i++ {
		if hump(runes, i) {
			parts = append(parts, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return append(parts, strings.ToLower(string(runes[start:])))
}

// hasHump tells whether there is a capital after the first letter.
func hasHump(name string) bool {
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// hump tells whether a word begins at i: a capital after what is none, or the
// last capital of a run that a small letter follows.
func hump(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	return !unicode.IsUpper(runes[i-1]) || (i+1 < len(runes) && unicode.IsLower(runes[i+1]))
}
