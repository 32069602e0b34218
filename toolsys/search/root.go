package search

import "strings"

// longest is how many letters a word has at most.
const longest = 64

// rootOf cuts an English word down to what its forms share, by Porter's rules of 1980: connect for connected and
// connection, and one in Cyrillic or Arabic letters to what [clip] leaves. It need not be a word. What else has
// anything but small Latin letters stays as it is, and so does what is too long to be a word.
func rootOf(word string) string {
	if lang := ownScript(word); lang != "" && len(word) <= longest {
		return clip(lang, word)
	}
	if len(word) < 3 || len(word) > longest || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	if word == "news" { // is not several new
		return word
	}
	word = plural(word)
	word = past(word)
	if n := len(word) - 1; word[n] == 'y' && hasVowel(word[:n]) {
		word = word[:n] + "i"
	}
	return tidied(bare(swapped(swapped(word, doubled), single)))
}

// plural takes the s of plurals off.
func plural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), !strings.HasSuffix(w, "s"):
		return w
	}
	return w[:len(w)-1]
}

// past takes ed and ing off.
func past(w string) string {
	if strings.HasSuffix(w, "eed") {
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	for _, ending := range []string{"ed", "ing"} {
		if head, ok := strings.CutSuffix(w, ending); ok {
			if hasVowel(head) {
				return mended(head)
			}
			return w
		}
	}
	return w
}

// mended gives back what an ending took with it: hop(p)ing, fil(e)ing.
func mended(w string) string {
	n := len(w)
	switch {
	case strings.HasSuffix(w, "at"), strings.HasSuffix(w, "bl"), strings.HasSuffix(w, "iz"):
		return w + "e"
	case n > 1 && w[n-1] == w[n-2] && consonant(w, n-1) && !strings.ContainsRune("lsz", rune(w[n-1])):
		return w[:n-1]
	case measure(w) == 1 && closedSyllable(w):
		return w + "e"
	}
	return w
}

// swap is an ending and what comes in its place.
type swap struct{ ending, by string }

// The endings of Porter's steps 2 and 3, the longer of two that end alike first.
var (
	doubled = []swap{
		{"ational", "ate"}, {"ization", "ize"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"}, {"tional", "tion"},
		{"biliti", "ble"}, {"entli", "ent"}, {"ousli", "ous"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"}, {"iviti", "ive"},
		{"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"}, {"ator", "ate"}, {"eli", "e"},
	}
	single = []swap{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ness", ""}, {"ful", ""},
	}
)

// last are the endings of step 4.
var last = []string{
	"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic", "ou",
}

// swapped replaces the first ending that fits, where enough is left before it.
func swapped(w string, endings []swap) string {
	for _, e := range endings {
		if head, ok := strings.CutSuffix(w, e.ending); ok {
			if measure(head) > 0 {
				return head + e.by
			}
			return w
		}
	}
	return w
}

// bare takes an ending of step 4 off a word that is long enough without.
func bare(w string) string {
	for _, ending := range last {
		if head, ok := strings.CutSuffix(w, ending); ok {
			ion := ending != "ion" || strings.HasSuffix(head, "s") || strings.HasSuffix(head, "t")
			if measure(head) > 1 && ion {
				return head
			}
			return w
		}
	}
	return w
}

// tidied takes off a last e and one of two l.
func tidied(w string) string {
	if head, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(head); m > 1 || m == 1 && !closedSyllable(head) {
			w = head
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// consonant reports whether the i-th letter is one; y is where no consonant is before it.
func consonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonant(w, i-1)
	}
	return true
}

// measure counts how often vowels are followed by consonants.
func measure(w string) int {
	n, vowel := 0, false
	for i := range len(w) {
		c := consonant(w, i)
		if c && vowel {
			n++
		}
		vowel = !c
	}
	return n
}

// hasVowel reports whether a letter is no consonant: y is one where nothing stands before it.
func hasVowel(w string) bool {
	return strings.ContainsAny(w, "aeiou") || strings.LastIndexByte(w, 'y') > 0
}

// closedSyllable reports whether a word ends in consonant, vowel, consonant, the last none of w, x, y.
func closedSyllable(w string) bool {
	n := len(w)
	return n > 2 && consonant(w, n-1) && !consonant(w, n-2) && consonant(w, n-3) && !strings.ContainsRune("wxy", rune(w[n-1]))
}
