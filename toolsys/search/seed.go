package search

import (
	"maps"
	"slices"
	"strings"
)

// seed is the baseline's index: which tools have a word where.
type seed struct {
	docs  []doc
	whole map[string][]int // parts and unbroken segments of names -> tools that have them
	parts []namePart       // parts alone, to look for words inside
	hints map[string][]int
	texts map[string][]int
}

// namePart is a part of names and the tools whose names have it.
type namePart struct {
	part  string
	tools []int
}

// buildSeed enters each tool under all its words.
func buildSeed(docs []doc) scorer {
	s := &seed{docs: docs, whole: map[string][]int{}, hints: map[string][]int{}, texts: map[string][]int{}}
	parts := map[string][]int{}
	for i, d := range docs {
		own := partsOf(d.Name, d.MCP)
		enter(parts, own, i)
		enter(s.whole, unique(append(slices.Clone(own), lowered(segmentsOf(d.Name, d.MCP))...)), i)
		enter(s.hints, wordsOf(d.Hint), i)
		enter(s.texts, wordsOf(d.Description), i)
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		s.parts = append(s.parts, namePart{part, parts[part]})
	}
	return s.score
}

// lowered are the words in lower case.
func lowered(words []string) []string {
	low := make([]string, len(words))
	for i, w := range words {
		low[i] = strings.ToLower(w)
	}
	return low
}
