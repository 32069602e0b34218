package search

import (
	"fmt"
	"slices"
	"strings"
)

// The weights of a word, by where it is found (SPEC E5). A server's name is
// what tells MCP tools apart best, so their names weigh more.
const (
	weightPartMCP     = 12
	weightPart        = 10
	weightInPartMCP   = 6
	weightInPart      = 5
	weightHint        = 4
	weightDescription = 2
)

// score adds up every word for every tool: the name once, as a whole part or
// inside one, plus the hint, plus the description.
func (s *seed) score(q Query) ([]float64, func(int) string) {
	sums := make([]float64, len(s.docs))
	named := make([]int, len(s.docs)) // the last word, counted from 1, that scored on the name
	for n, word := range q.Words {
		s.scoreNames(word, n+1, sums, named)
		for _, i := range s.hints[word] {
			sums[i] += weightHint
		}
		for _, i := range s.texts[word] {
			sums[i] += weightDescription
		}
	}
	return sums, func(tool int) string { return s.why(tool, q.Words) }
}

// scoreNames adds up one word, the n-th, on names: whole parts first, so that
// what is also inside another part does not count again.
func (s *seed) scoreNames(word string, n int, sums []float64, named []int) {
	for _, i := range s.whole[word] {
		named[i] = n
		sums[i] += s.docs[i].weigh(weightPartMCP, weightPart)
	}
	for _, p := range s.parts {
		if !inside(word, p.part) {
			continue
		}
		for _, i := range p.tools {
			if named[i] != n {
				named[i] = n
				sums[i] += s.docs[i].weigh(weightInPartMCP, weightInPart)
			}
		}
	}
}

// weigh picks the weight for an MCP tool or another.
func (d *doc) weigh(mcp, other float64) float64 {
	if d.MCP {
		return mcp
	}
	return other
}

// inside tells whether a word is contained in a part of a name. A single
// letter is in nearly all of them, which says nothing.
func inside(word, part string) bool {
	return len(word) > 1 && strings.Contains(part, word)
}

// why says for one tool what the words scored on, in their order.
func (s *seed) why(i int, words []string) string {
	var reasons []string
	for _, word := range words {
		var where []string
		switch {
		case has(s.whole[word], i):
			where = append(where, fmt.Sprintf("name %g", s.docs[i].weigh(weightPartMCP, weightPart)))
		case slices.ContainsFunc(partsOf(s.docs[i].Name, s.docs[i].MCP), func(p string) bool { return inside(word, p) }):
			where = append(where, fmt.Sprintf("in name %g", s.docs[i].weigh(weightInPartMCP, weightInPart)))
		}
		if has(s.hints[word], i) {
			where = append(where, fmt.Sprintf("hint %d", weightHint))
		}
		if has(s.texts[word], i) {
			where = append(where, fmt.Sprintf("description %d", weightDescription))
		}
		if len(where) > 0 {
			reasons = append(reasons, word+": "+strings.Join(where, " + "))
		}
	}
	return strings.Join(reasons, "; ")
}

// has tells whether a tool is among those of a word, which are in order.
func has(tools []int, i int) bool {
	_, found := slices.BinarySearch(tools, i)
	return found
}
