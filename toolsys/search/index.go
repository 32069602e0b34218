package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// mcpPrefix begins the names of MCP tools.
const mcpPrefix = "mcp__"

// Index finds tools by words. It does not change once built, so that any number
// of searches may use it at a time. What a ranker needs is made by the first
// search that scores words: one that selects names does not pay for it.
type Index struct {
	docs   []doc // by name
	byName map[string]int
	total  int // of deferred tools

	ranker Ranker
	score  func() scorer
	roots  func() map[string][]int // of name, hint and description, for Nearest
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
// does not matter; of equal names the built-in counts (SPEC D1). Words are scored
// by [DefaultRanker].
func NewIndex(deferred, loaded []Entry) *Index {
	return NewRanked(DefaultRanker(), deferred, loaded)
}

// NewRanked is [NewIndex] with the ranker of one's choice.
func NewRanked(ranker Ranker, deferred, loaded []Entry) *Index {
	if ranker.build == nil {
		ranker = DefaultRanker()
	}
	ix := &Index{docs: collect(deferred, loaded), byName: map[string]int{}, ranker: ranker}
	for i, d := range ix.docs {
		ix.byName[d.Name] = i
		if d.deferred {
			ix.total++
		}
	}
	ix.score = sync.OnceValue(func() scorer { return ranker.build(ix.docs) })
	ix.roots = sync.OnceValue(func() map[string][]int { return rooted(ix.docs) })
	return ix
}

// Ranker is the one that scores this index.
func (ix *Index) Ranker() Ranker { return ix.ranker }

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
			slices.Compare(a.Params, b.Params),
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

// enter notes a tool under each word.
func enter(postings map[string][]int, words []string, i int) {
	for _, w := range words {
		postings[w] = append(postings[w], i)
	}
}
