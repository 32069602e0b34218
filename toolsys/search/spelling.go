package search

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// correct looks for what an unknown word may be: two words in one, a word with a typo
// in it, the beginning of a longer one.
func (e *expansion) correct(g *group, w token) {
	if e.corrections++; e.corrections > maxCorrections || len(w.text) > maxCorrected {
		return
	}
	if a, b, ok := e.split(w.text); ok {
		g.members = append(g.members, member{a, weightSplit, "split"}, member{b, weightSplit, "split"})
		return
	}
	for _, id := range e.spelling.near(w.root) {
		g.members = append(g.members, member{id, weightTypo, "spelt like"})
	}
	if len(g.members) > 0 {
		return
	}
	for _, id := range e.spelling.begun(w.root) {
		g.members = append(g.members, member{id, weightBegins, "begins"})
	}
}

// minHalf is how many bytes each of two words in one has.
const minHalf = 3

// split takes a word for two.
func (e *expansion) split(word string) (a, b int32, ok bool) {
	for i := minHalf; i+minHalf <= len(word); i++ {
		a, knownA := e.ids[rootOf(word[:i])]
		b, knownB := e.ids[rootOf(word[i:])]
		if knownA && knownB {
			return a, b, true
		}
	}
	return 0, 0, false
}

// How long a word must be for one and for two typos to be corrected, and how many
// words it is then taken for at most.
const (
	oneTypo    = 5
	twoTypos   = 9
	maxSimilar = 3
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
		if t.pair || len(t.text) < oneTypo-1 {
			continue
		}
		if runes := []rune(t.text); len(runes) >= oneTypo-1 {
			s = append(s, spelt{int32(id), t.text, runes, lettersOf(t.text)})
		}
	}
	return s
}

// lettersOf is the set of letters of a word, as bits. Two words that are one typo
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
	case len(runes) >= twoTypos:
		bound = 2
	case len(runes) >= oneTypo:
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
	return found[:min(len(found), maxSimilar)]
}

// begun are terms that a word begins.
func (s spelling) begun(word string) []int32 {
	var found []int32
	long := utf8.RuneCountInString(word) >= oneTypo-1
	for _, w := range s {
		if long && len(found) < maxSimilar && strings.HasPrefix(w.text, word) {
			found = append(found, w.term)
		}
	}
	return found
}

// distance is Damerau and Levenshtein's, with neighbours swapped as one step
// and no letter touched twice. What exceeds the bound is bound+1: it is not
// looked at to the end.
func distance(a, b []rune, bound int) int {
	if abs(len(a)-len(b)) > bound {
		return bound + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j]+cost(a[i], b[j]), last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], bound+1)
}

// cost is that of putting one letter for another.
func cost(x, y rune) int {
	if x == y {
		return 0
	}
	return 1
}

// abs is a number without its sign.
func abs(n int) int { return max(n, -n) }
