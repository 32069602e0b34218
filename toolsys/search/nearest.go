package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Nearest proposes tools for a name that no tool has (SPEC C4): first those
// spelt much like it, then, out of the index, those whose name, hint and
// description share its words, the rarer the word the better: cancelOrder
// leads to a createRefund whose description has cancelled orders. Only names of the
// list are proposed, at most limit of them. A nil index leaves it at spelling.
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
	type neighbour struct {
		name string
		away int
	}
	var near []neighbour
	var r ruler
	asked := squeezed(name)
	for _, other := range names {
		if away, ok := r.away(asked, other); ok {
			near = append(near, neighbour{other, away})
		}
	}
	slices.SortStableFunc(near, func(a, b neighbour) int { return cmp.Compare(a.away, b.away) })
	var sorted []string
	for _, n := range near {
		sorted = append(sorted, n.name)
	}
	return sorted
}

// away is how far a name is from another, case and separators apart. A model
// often forgets the server, so that an MCP tool's own name counts as well,
// though never as much as the full name.
func (r *ruler) away(asked []rune, other string) (int, bool) {
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

// related are the tools that share words with a name, by how rare those
// words are.
func (ix *Index) related(name string) []string {
	weights, roots := make([]float64, len(ix.docs)), ix.roots()
	for _, s := range rootsOf(contentWords(partsOf(name, true))) {
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
	words := partsOf(name, true)
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

// rooted enters each tool under the roots of its words; no other index of the reader may be
// at it.
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
func rootsOf(words []string) []string {
	roots := make([]string, len(words))
	for i, w := range words {
		roots[i] = rootOf(w)
	}
	return unique(roots)
}
