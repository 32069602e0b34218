package search

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unbroken are scripts that set no blanks between words, and Hangul, which glues
// particles to them: there, pairs of neighbouring characters stand for words.
var unbroken = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isWord reports whether a sign belongs to a word: letters, digits and the marks on them.
func isWord(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isUnbroken reports whether a character is of such a script. The long vowel of
// Katakana belongs to no script of its own.
func isUnbroken(r rune) bool {
	return r >= 0x0e00 && (unicode.In(r, unbroken...) || r == 'ー')
}

// run is a stretch of letters of one kind.
type run struct {
	Text string
	// Unbroken is set for a script without blanks: a sentence, or a word
	// with what is glued to it.
	Unbroken bool
	// Start and End are where it stands, in bytes of the text that [nfkc] gives.
	Start, End int
}

// nfkc writes characters that differ in width or composition only alike.
func nfkc(text string) string { return norm.NFKC.String(text) }

// perRun is about how many bytes of a text there are for each run.
const perRun = 6

// runsOf cuts a text, made [nfkc], where no word goes on and where the kind of
// script changes.
func runsOf(text string) []run {
	text = nfkc(text)
	runs := make([]run, 0, 1+len(text)/perRun)
	start, kind := -1, false
	for i, r := range text {
		word, grams := isWord(r), isUnbroken(r)
		if r >= 0x80 && start >= 0 && unicode.Is(unicode.M, r) {
			grams = kind
		}
		if start >= 0 && (!word || grams != kind) {
			runs = append(runs, run{text[start:i], kind, start, i})
			start = -1
		}
		if word && start < 0 {
			start, kind = i, grams
		}
	}
	if start >= 0 {
		runs = append(runs, run{text[start:], kind, start, len(text)})
	}
	return runs
}

// gramsOf are the pairs of neighbours in an unbroken run, or the run itself where
// it is a single character.
func gramsOf(text string) []string {
	runes := []rune(text)
	if len(runes) < 2 {
		return []string{text}
	}
	grams := make([]string, len(runes)-1)
	for i := range grams {
		grams[i] = string(runes[i : i+2])
	}
	return grams
}

// caseParts cuts a name where its case changes, in lower case: createPRComment is
// create, pr and comment. Most words have one part.
func caseParts(name string) []string {
	if strings.LastIndexFunc(name, unicode.IsUpper) <= 0 { // as nearly all words of a text
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

// hump reports whether a word begins at i: a capital after what is none, or the
// last capital of a run that a small letter follows.
func hump(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	return !unicode.IsUpper(runes[i-1]) || (i+1 < len(runes) && unicode.IsLower(runes[i+1]))
}

// fold writes a word in lower case and, in Latin script, without accents.
func fold(word string) string {
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

// isASCII reports whether a word has no byte beyond the first 128.
func isASCII(word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return false
		}
	}
	return true
}
