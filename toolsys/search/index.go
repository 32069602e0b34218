package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// mcpPrefix begins the names of MCP tools.
const mcpPrefix = "mcp__"

// Index finds tools by words. It does not change once built, so that any number
// of searches may use it at a time.
type Index struct {
	docs   []doc // by name
	byName map[string]int
	total  int // of deferred tools

	whole map[string][]int // parts and unbroken segments of names -> tools that have them
	parts []posting        // parts alone, to look for words inside
	hints map[string][]int
	texts map[string][]int
	stems map[string][]int // of name, hint and description, for Nearest
}

// doc is a tool in the index.
type doc struct {
	Entry
	lower    string // the name
	server   string // as names spell it
	deferred bool
}

// NewIndex builds an index over a pool: the tools that are searched, and the
// loaded ones, which only select: and Nearest find. The order of the entries
// does not matter; of equal names the built-in counts (SPEC D1).
func NewIndex(deferred, loaded []Entry) *Index {
	ix := &Index{
		byName: map[string]int{}, whole: map[string][]int{},
		hints: map[string][]int{}, texts: map[string][]int{}, stems: map[string][]int{},
	}
	parts := map[string][]int{}
	for i, d := range collect(deferred, loaded) {
		ix.add(i, d)
		enter(parts, partsOf(d.Name, d.MCP), i)
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		ix.parts = append(ix.parts, posting{part, parts[part]})
	}
	return ix
}

// posting is a part of names and the tools whose names have it.
type posting struct {
	part  string
	tools []int
}

// collect puts the entries in order and drops repeated names.
func collect(deferred, loaded []Entry) []doc {
	docs := make([]doc, 0, len(deferred)+len(loaded))
	for _, e := range deferred {
		docs = append(docs, doc{e, strings.ToLower(e.Name), normal(e.Server), true})
	}
	for _, e := range loaded {
		docs = append(docs, doc{e, strings.ToLower(e.Name), normal(e.Server), false})
	}
	slices.SortStableFunc(docs, func(a, b doc) int {
		return cmp.Or(
			cmp.Compare(a.Name, b.Name), first(!a.MCP, !b.MCP), first(a.deferred, b.deferred),
			cmp.Compare(a.Server, b.Server), cmp.Compare(a.Description, b.Description), cmp.Compare(a.Hint, b.Hint),
		)
	})
	return slices.CompactFunc(docs, func(a, b doc) bool { return a.Name == b.Name })
}

// first sorts what holds before what does not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// add enters the i-th tool under all its words.
func (ix *Index) add(i int, d doc) {
	ix.docs = append(ix.docs, d)
	ix.byName[d.Name] = i
	if d.deferred {
		ix.total++
	}
	parts := partsOf(d.Name, d.MCP)
	hint, text := wordsOf(d.Hint), wordsOf(d.Description)
	enter(ix.hints, hint, i)
	enter(ix.texts, text, i)

	whole := slices.Clone(parts)
	for _, segment := range segmentsOf(d.Name, d.MCP) {
		whole = append(whole, strings.ToLower(segment))
	}
	enter(ix.whole, unique(whole), i)
	enter(ix.stems, stemsOf(slices.Concat(parts, hint, text)), i)
}

// enter notes a tool under each word.
func enter(postings map[string][]int, words []string, i int) {
	for _, w := range words {
		postings[w] = append(postings[w], i)
	}
}
