package search

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// How long a word must be for one and for two slips to be forgiven, and how many
// words it is then taken for at most.
const (
	oneSlip   = 5
	twoSlips  = 9
	mostAlike = 3
)

// spelling finds words spelt much like another.
type spelling []spelt

// spelt is a term, its letters in order, and which there are.
type spelt struct {
	term    int32
	text    string
	runes   []rune
	letters uint64
}

// newSpelling takes the words among terms that are long enough to be mistaken.
func newSpelling(all []lexTerm) spelling {
	var s spelling
	for id, t := range all {
		if t.pair || len(t.text) < oneSlip-1 {
			continue
		}
		if runes := []rune(t.text); len(runes) >= oneSlip-1 {
			s = append(s, spelt{int32(id), t.text, runes, lettersOf(t.text)})
		}
	}
	return s
}

// lettersOf is the set of letters of a word, as bits. Two words that are one slip
// apart differ in two of them at most, which spares comparing most words.
func lettersOf(word string) uint64 {
	var set uint64
	for _, r := range word {
		set |= 1 << (uint(r) % 64)
	}
	return set
}

// near are the terms nearest in spelling to a word, if they are near enough.
func (s spelling) near(word string) []int32 {
	runes, letters := []rune(word), lettersOf(word)
	bound := 0
	switch {
	case len(runes) >= twoSlips:
		bound = 2
	case len(runes) >= oneSlip:
		bound = 1
	}
	var found []int32
	for _, w := range s {
		if abs(len(w.runes)-len(runes)) > bound || bits.OnesCount64(w.letters^letters) > 2*bound {
			continue
		}
		away := distance(runes, w.runes, bound)
		if away < bound {
			found, bound = found[:0], away
		}
		if away == bound {
			found = append(found, w.term)
		}
	}
	return found[:min(len(found), mostAlike)]
}

// begun are terms that a word begins.
func (s spelling) begun(word string) []int32 {
	var found []int32
	long := utf8.RuneCountInString(word) >= oneSlip-1
	for _, w := range s {
		if long && len(found) < mostAlike && strings.HasPrefix(w.text, word) {
			found = append(found, w.term)
		}
	}
	return found
}
