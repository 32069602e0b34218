package terms

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold writes a word in lower case and, in Latin script, without accents.
func Fold(word string) string {
	word = strings.ToLower(word)
	if isASCII(word) {
		return word
	}
	var b strings.Builder
	latin := false
	for _, r := range norm.NFD.String(word) {
		if latin && unicode.Is(unicode.Mn, r) {
			continue
		}
		latin = unicode.Is(unicode.Latin, r)
		if plain, ok := ligatures[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// ligatures are Latin letters that do not come apart by themselves.
var ligatures = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ı': "i"}

// isASCII tells whether a word has no byte beyond the first 128.
func isASCII(word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return false
		}
	}
	return true
}
