package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
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
	for _, id := range e.spelling().near(w.root) {
		g.members = append(g.members, member{id, weightTypo, "spelt like"})
	}
	if len(g.members) > 0 {
		return
	}
	for _, id := range e.spelling().begun(w.root) {
		g.members = append(g.members, member{id, weightBegins, "begins"})
	}
}

// minHalf is how many bytes each of two words in one has.
const minHalf = 3

// split takes a word for two.
func (e *expansion) split(word string) (a, b int32, ok bool) {
	for i := minHalf; i+minHalf <= len(word); i++ {
		a, knownA := e.lexicon.word(rootOf(word[:i]))
		b, knownB := e.lexicon.word(rootOf(word[i:]))
		if knownA && knownB {
			return a, b, true
		}
	}
	return 0, 0, false
}

// How long a word must be for one and for two typos to be corrected, and how many words it is then taken for at most.
const (
	oneTypo    = 5
	twoTypos   = 9
	maxSimilar = 3
)

// spelling finds words spelt much like another. They are in the order in which tools have
// them; what is looked at of every word is apart from the rest, so as to be read quickly.
type spelling struct {
	letters []uint64 // which each has
	heads   []uint32 // its first bytes
	terms   []int32
	ends    []int32 // of its runes
	runes   []rune  // of all words
}

// newSpelling takes the words that are long enough to be mistaken.
func newSpelling(texts []string, order []int32) *spelling {
	s := new(spelling)
	for _, id := range order {
		text, from := texts[id], len(s.runes)
		if utf8.RuneCountInString(text) < oneTypo-1 {
			continue
		}
		for _, r := range text {
			s.runes = append(s.runes, r)
		}
		s.letters, s.heads = append(s.letters, lettersOf(s.runes[from:])), append(s.heads, headOf(text))
		s.terms, s.ends = append(s.terms, id), append(s.ends, int32(len(s.runes)))
	}
	return s
}

// word is the i-th word.
func (s *spelling) word(i int) []rune { return s.runes[beginOf(s.ends, i):s.ends[i]] }

// lettersOf is the set of letters of a word, as bits. Two words that are one typo
// apart differ in two of them at most, which spares comparing most words.
func lettersOf(word []rune) uint64 {
	var set uint64
	for _, r := range word {
		set |= 1 << (uint(r) % 64)
	}
	return set
}

// headOf is the first four bytes of a word that has as many letters.
func headOf(word string) uint32 { return binary.BigEndian.Uint32([]byte(word[:4])) }

// near are the terms nearest in spelling to a word, if they are near enough.
func (s *spelling) near(word string) []int32 {
	runes := []rune(word)
	letters := lettersOf(runes)
	bound := 0
	switch {
	case len(runes) >= twoTypos:
		bound = 2
	case len(runes) >= oneTypo:
		bound = 1
	}
	var found []int32
	var r distanceRows
	for i, have := range s.letters {
		if bits.OnesCount64(have^letters) > 2*bound {
			continue
		}
		away := r.distance(runes, s.word(i), bound)
		if away < bound {
			found, bound = found[:0], away
		}
		if away == bound {
			found = append(found, s.terms[i])
		}
	}
	return found[:min(len(found), maxSimilar)]
}

// begun are terms that a word begins.
func (s *spelling) begun(word string) []int32 {
	var found []int32
	runes := []rune(word)
	if len(runes) < oneTypo-1 {
		return nil
	}
	head := headOf(word)
	for i, has := range s.heads {
		if has != head || len(found) == maxSimilar {
			continue
		}
		if text := s.word(i); len(text) >= len(runes) && slices.Equal(runes, text[:len(runes)]) {
			found = append(found, s.terms[i])
		}
	}
	return found
}

// distanceRows measures distances, in rows that it uses again.
type distanceRows struct{ before, last, row []int }

// distance is Damerau and Levenshtein's, with neighbours swapped as one step and no letter touched twice. What
// exceeds the bound is bound+1: it is not looked at to the end, nor what is so far from the diagonal.
func (r *distanceRows) distance(a, b []rune, bound int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > bound {
		return bound + 1
	}
	if len(r.row) <= len(b)+1 {
		all := make([]int, 3*(2*len(b)+2))
		n := len(all) / 3
		r.before, r.last, r.row = all[:n], all[n:2*n], all[2*n:]
	}
	for j := range len(b) + 1 {
		r.last[j] = j
	}
	for i := range a {
		if r.next(a, b, i, bound) > bound {
			return bound + 1
		}
		r.before, r.last, r.row = r.last, r.row, r.before
	}
	return min(r.last[len(b)], bound+1)
}

// next makes the row of the i-th letter, and gives the least in it.
func (r *distanceRows) next(a, b []rune, i, bound int) int {
	row := r.row
	from, to := max(0, i-bound), min(len(b), i+bound+1)
	if row[from] = bound + 1; from == 0 {
		row[0] = i + 1
	}
	least := row[from]
	for j := from; j < to; j++ {
		other := r.last[j] // one letter for another
		if a[i] != b[j] {
			other++
		}
		row[j+1] = min(other, r.last[j+1]+1, row[j]+1)
		if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
			row[j+1] = min(row[j+1], r.before[j-1]+1)
		}
		least = min(least, row[j+1])
	}
	if to < len(b) {
		row[to+1] = bound + 1
	}
	return least
}

// Nearest proposes tools for a name that no tool has (SPEC C4): first those spelt much like it, then, out of the
// index, those whose name, hint and description share its words, the rarer the word the better: cancelOrder leads to
// a createRefund whose description has cancelled orders. Only names of the list are proposed, at most limit of them.
// A nil index leaves it at spelling.
func Nearest(name string, names []string, ix *Index, limit int) []string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	found := alike(name, names)
	if ix != nil {
		for _, other := range ix.related(name) {
			if _, listed := slices.BinarySearch(names, other); listed {
				found = append(found, other)
			}
		}
	}
	found = unique(found)
	return found[:min(len(found), max(limit, 0))]
}

// alike are the names within the bound of spelling, nearest first.
func alike(name string, names []string) []string {
	var near []string
	var r distanceRows
	away, asked := map[string]int{}, squeezed(name)
	for _, other := range names {
		if far, ok := r.away(asked, other); ok {
			near, away[other] = append(near, other), far
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return away[a] - away[b] })
	return near
}

// away is how far a name is from another, case and separators apart. A model often forgets the server, so that an MCP
// tool's own name counts as well, though never as much as the full name.
func (r *distanceRows) away(asked []rune, other string) (int, bool) {
	bound := max(1, min(3, len(asked)/3))
	best := 2 * r.distance(asked, squeezed(other), bound)
	if own := strings.LastIndex(other, "__"); own >= 0 {
		best = min(best, 2*r.distance(asked, squeezed(other[own+2:]), bound)+1)
	}
	return best, best <= 2*bound+1
}

// squeezed is a name without case and separators.
func squeezed(name string) []rune {
	return []rune(strings.Join(segmentsOf(strings.ToLower(name), false), ""))
}

// related are the tools that share words with a name, by how rare those words are.
func (ix *Index) related(name string) []string {
	weights, roots, words := make([]float64, len(ix.docs)), ix.roots(), partsOf(name, true)
	for _, s := range rootsOf(contentWords(words)) {
		docs := roots[s]
		for _, i := range docs {
			weights[i] += math.Log1p(float64(len(ix.docs)) / float64(len(docs)))
		}
	}
	var found []int
	for i, w := range weights {
		if w > 0 {
			found = append(found, i)
		}
	}
	scored := ix.score()(Query{Raw: strings.Join(words, " "), Words: words})
	defer scored.back()
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(scored.of[b], scored.of[a]))
	})
	names := make([]string, len(found))
	for n, i := range found {
		names[n] = ix.docs[i].Name
	}
	return names
}

// rooted enters each tool under the roots of its words; no other index of the reader may be at it.
func rooted(docs []doc) map[string][]int {
	roots := map[string][]int{}
	for i, d := range docs {
		if d.roots == nil {
			d.roots = rootsOf(slices.Concat(partsOf(d.Name, d.MCP), wordsOf(d.Hint), wordsOf(d.Description)))
		}
		enter(roots, d.roots, i)
	}
	return roots
}

// rootsOf are the roots of words, each once.
func rootsOf(words []string) []string { return unique(each(slices.Clone(words), rootOf)) }
