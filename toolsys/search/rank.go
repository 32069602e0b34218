package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Ranker is a way of scoring what a search finds by words (SPEC E9). It decides
// the order of tools and no more: select:, full names, required words, ties and
// the number of results are the same under every ranker (SPEC E5). The zero value
// is [DefaultRanker].
type Ranker struct {
	// Name is what settings, flags and reports call it.
	Name string
	// About is what it looks at, as a phrase.
	About string

	build func(docs []doc) scorer
}

// scorer is what a ranker has made of a pool: for a query, each tool's score, 0
// where nothing was found, and a function that gives what a tool scored on. It may
// be used by several searches at a time.
type scorer func(q Query) (scores []float64, why func(tool int) string)

// Seed is the baseline: full words in name, hint and description, with the
// weights of SPEC E5.
func Seed() Ranker {
	return Ranker{"seed", "whole words in name, hint and description, fixed weights", buildSeed}
}

// BM25 is Okapi's formula over the words of name, hint and description, each tool
// one text: the usual yardstick.
func BM25() Ranker {
	return Ranker{"bm25", "Okapi BM25 over name, hint and description", func(docs []doc) scorer { return buildBM25(docs, false) }}
}

// BM25Params is [BM25] over the names and descriptions of parameters as well.
func BM25Params() Ranker {
	return Ranker{"bm25-params", "the same with the parameters' names and descriptions", func(docs []doc) scorer { return buildBM25(docs, true) }}
}

// Lexicon weighs each field of a tool by itself, and matches word forms, typos,
// abbreviations, words of like meaning and, by its glossary, words of
// other languages.
func Lexicon() Ranker {
	return Ranker{"lexicon", "fields by weight, word forms, typos, abbreviations, glossary", buildLexicon}
}

// DefaultRanker is the one a pool is searched with unless another is asked for.
func DefaultRanker() Ranker { return Lexicon() }

// Rankers are all there are, the baseline first.
func Rankers() []Ranker { return []Ranker{Seed(), BM25(), BM25Params(), Lexicon()} }

// RankerNamed finds a ranker by its name.
func RankerNamed(name string) (Ranker, bool) {
	for _, r := range Rankers() {
		if r.Name == name {
			return r, true
		}
	}
	return Ranker{}, false
}

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
		enter(s.whole, unique(append(slices.Clone(own), segmentsOf(strings.ToLower(d.Name), d.MCP)...)), i)
		enter(s.hints, wordsOf(d.Hint), i)
		enter(s.texts, wordsOf(d.Description), i)
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		s.parts = append(s.parts, namePart{part, parts[part]})
	}
	return s.score
}

// The weights of a word, by where it is found (SPEC E5). A server's name is
// what distinguishes MCP tools best, so their names weigh more.
const (
	weightPartMCP     = 12
	weightPart        = 10
	weightInPartMCP   = 6
	weightInPart      = 5
	weightHint        = 4
	weightDescription = 2
)

// score adds up every word for every tool: the name once, as a full part or
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

// scoreNames adds up one word, the n-th, on names: full parts first, so that
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

// inside reports whether a word is contained in a part of a name. A single
// letter is in nearly all of them, and means nothing.
func inside(word, part string) bool {
	return len(word) > 1 && strings.Contains(part, word)
}

// why is what the words scored on in one tool, in their order.
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

// has reports whether a tool is among those of a word, which are in order.
func has(tools []int, i int) bool {
	_, found := slices.BinarySearch(tools, i)
	return found
}

// Okapi's constants, at the values that are usual.
const (
	saturation = 1.2
	lengthNorm = 0.75
)

// bm25 is an index of texts, one a tool.
type bm25 struct {
	postings map[string][]occurrence
	lengths  []float64 // over their mean
}

// occurrence is how often a tool's text has a term.
type occurrence struct {
	tool  int
	count float64
}

// buildBM25 counts the words of each tool's text.
func buildBM25(docs []doc, params bool) scorer {
	b := &bm25{postings: map[string][]occurrence{}, lengths: make([]float64, len(docs))}
	sum := 0.0
	for i, d := range docs {
		words := plainTerms(d.text(params))
		b.lengths[i] = float64(len(words))
		sum += b.lengths[i]
		for _, term := range words {
			b.count(term, i)
		}
	}
	for i := range b.lengths {
		b.lengths[i] *= float64(len(docs)) / max(sum, 1)
	}
	return b.score
}

// count notes one more occurrence in the tool that is being entered.
func (b *bm25) count(term string, tool int) {
	list := b.postings[term]
	if n := len(list); n > 0 && list[n-1].tool == tool {
		list[n-1].count++
		return
	}
	b.postings[term] = append(list, occurrence{tool, 1})
}

// text is all that describes a tool. An MCP tool's prefix is left out: all of them
// have it.
func (d *doc) text(params bool) string {
	name := d.Name
	if d.MCP {
		name = strings.TrimPrefix(name, mcpPrefix)
	}
	all := []string{name, d.Hint, d.Description}
	if params {
		all = append(all, d.Params...)
	}
	return strings.Join(all, "\n")
}

// plainTerms are the words of a text as they stand, names cut into their parts,
// and pairs of characters where words are not set apart.
func plainTerms(text string) []string {
	var all []string
	for _, r := range runsOf(text) {
		if r.Unbroken {
			all = append(all, gramsOf(r.Text)...)
		} else {
			all = append(all, caseParts(r.Text)...)
		}
	}
	return all
}

// score adds up what each word of the query is worth.
func (b *bm25) score(q Query) ([]float64, func(int) string) {
	sums := make([]float64, len(b.lengths))
	words := unique(plainTerms(q.rankedText()))
	for _, term := range words {
		list := b.postings[term]
		idf := rarity(len(list), len(b.lengths))
		for _, o := range list {
			sums[o.tool] += idf * b.worth(o)
		}
	}
	return sums, func(tool int) string { return b.why(tool, words) }
}

// worth is what an occurrence counts, between 0 and saturation+1.
func (b *bm25) worth(o occurrence) float64 {
	return o.count * (saturation + 1) / (o.count + saturation*(1-lengthNorm+lengthNorm*b.lengths[o.tool]))
}

// rarity is the weight of a term that so many of all tools have. It is never
// below 0.
func rarity(have, all int) float64 {
	return math.Log1p((float64(all-have) + 0.5) / (float64(have) + 0.5))
}

// why names the terms with what they add.
func (b *bm25) why(tool int, words []string) string {
	var reasons []string
	for _, term := range words {
		list := b.postings[term]
		if i, ok := slices.BinarySearchFunc(list, tool, func(o occurrence, t int) int { return o.tool - t }); ok {
			reasons = append(reasons, fmt.Sprintf("%s %.2f", term, rarity(len(list), len(b.lengths))*b.worth(list[i])))
		}
	}
	return strings.Join(reasons, "; ")
}
