package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// Ranker is a way of scoring what a search finds by words (SPEC E9). It decides the order of tools and no more:
// select:, full names, required words, ties and the number of results are the same under every ranker (SPEC E5). The
// zero value is [DefaultRanker].
type Ranker struct {
	// Name is what settings, flags and reports call it.
	Name string
	// About is what it looks at, as a phrase.
	About string

	build func(docs []doc, r *Reader) scorer
}

// scorer is what a ranker has made of a pool. It may be used by several searches at a time.
type scorer func(q Query) scores

// scores are what tools score on a query: each, 0 where nothing was found; those that have
// any; and what one scored on. Nobody may look at them once they are given back.
type scores struct {
	of    []float64
	found []int32
	why   func(tool int) string
	back  func()
}

// scoreSums are scores that are added up, in room that is used again.
type scoreSums struct {
	of    []float64
	found []int32
	// marks are, of each tool, the last word that counted on its name, by number.
	marks []int
	word  int
}

// sumsFrom takes room for so many tools from a pool.
func sumsFrom(pool *sync.Pool, tools int) *scoreSums {
	if s, ok := pool.Get().(*scoreSums); ok {
		return s
	}
	return &scoreSums{of: make([]float64, tools), marks: make([]int, tools)}
}

// add adds what is above 0.
func (s *scoreSums) add(tool int, much float64) {
	if s.of[tool] == 0 {
		s.found = append(s.found, int32(tool))
	}
	s.of[tool] += much
}

// scores gives what was added up, in room that goes back to the pool.
func (s *scoreSums) scores(pool *sync.Pool, why func(int) string) scores {
	return scores{s.of, s.found, why, func() {
		for _, i := range s.found {
			s.of[i] = 0
		}
		s.found = s.found[:0]
		pool.Put(s)
	}}
}

// Seed is the baseline: full words in name, hint and description, with the weights of SPEC E5.
func Seed() Ranker {
	return Ranker{"seed", "whole words in name, hint and description, fixed weights", buildSeed}
}

// BM25 is Okapi's formula over the words of name, hint and description, each tool one text: the usual yardstick.
func BM25() Ranker {
	return Ranker{"bm25", "Okapi BM25 over name, hint and description", func(docs []doc, _ *Reader) scorer { return buildBM25(docs, false) }}
}

// BM25Params is [BM25] over the names and descriptions of parameters as well.
func BM25Params() Ranker {
	return Ranker{"bm25-params", "the same with the parameters' names and descriptions", func(docs []doc, _ *Reader) scorer { return buildBM25(docs, true) }}
}

// Lexicon weighs each field of a tool by itself, and matches word forms, typos, abbreviations, words of like meaning
// and, by its glossary, words of other languages.
func Lexicon() Ranker {
	return Ranker{"lexicon", "fields by weight, word forms, typos, abbreviations, glossary",
		func(docs []doc, r *Reader) scorer { return newLexicon(docs, r).score }}
}

// DefaultRanker is the one a pool is searched with unless another is asked for.
func DefaultRanker() Ranker { return Lexicon() }

// IsDefault reports whether the ranker is the one that is used where none is chosen.
func (r Ranker) IsDefault() bool { return r.Name == DefaultRanker().Name }

// Rankers are all there are, the baseline first.
func Rankers() []Ranker { return []Ranker{Seed(), BM25(), BM25Params(), Lexicon()} }

// RankerNamed finds a ranker by its name.
func RankerNamed(name string) (Ranker, bool) {
	i := slices.IndexFunc(Rankers(), func(r Ranker) bool { return r.Name == name })
	if i < 0 {
		return Ranker{}, false
	}
	return Rankers()[i], true
}

// seed is the baseline's index: which tools have a word where.
type seed struct {
	docs  []doc
	whole map[string][]int // parts and unbroken segments of names -> tools that have them
	parts lines            // parts alone, to look for words inside
	have  [][]int          // the tools whose names have a part
	hints map[string][]int
	texts map[string][]int
	room  sync.Pool
}

// buildSeed enters each tool under all its words.
func buildSeed(docs []doc, _ *Reader) scorer {
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
		s.parts.add(part)
		s.have = append(s.have, parts[part])
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
func (s *seed) score(q Query) scores {
	t := sumsFrom(&s.room, len(s.docs))
	for _, word := range q.Words {
		s.scoreNames(word, t)
		for _, i := range s.hints[word] {
			t.add(i, weightHint)
		}
		for _, i := range s.texts[word] {
			t.add(i, weightDescription)
		}
	}
	return t.scores(&s.room, func(tool int) string { return s.why(tool, q.Words) })
}

// scoreNames adds up one word on names: full parts first, so that what is also inside
// another part does not count again.
func (s *seed) scoreNames(word string, t *scoreSums) {
	t.word++
	name := func(i int, weight float64) {
		if t.marks[i] != t.word {
			t.marks[i] = t.word
			t.add(i, weight)
		}
	}
	for _, i := range s.whole[word] {
		name(i, s.docs[i].weigh(weightPartMCP, weightPart))
	}
	if len(word) < 2 {
		return
	}
	s.parts.with(word, func(part int, _ bool) {
		for _, i := range s.have[part] {
			name(i, s.docs[i].weigh(weightInPartMCP, weightInPart))
		}
	})
}

// weigh picks the weight for an MCP tool or another.
func (d *doc) weigh(mcp, other float64) float64 {
	if d.MCP {
		return mcp
	}
	return other
}

// why is what the words scored on in one tool, in their order.
func (s *seed) why(i int, words []string) string {
	var reasons []string
	for _, word := range words {
		var where []string
		inside := func(part string) bool { return strings.Contains(part, word) }
		switch {
		case has(s.whole[word], i):
			where = append(where, fmt.Sprintf("name %g", s.docs[i].weigh(weightPartMCP, weightPart)))
		case len(word) > 1 && slices.ContainsFunc(partsOf(s.docs[i].Name, s.docs[i].MCP), inside): // a letter means nothing
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
	postings map[string][]mention
	lengths  []float64 // over their mean
	room     sync.Pool
}

// mention is how often a tool's text has a term.
type mention struct {
	tool  int
	count float64
}

// buildBM25 counts the words of each tool's text.
func buildBM25(docs []doc, params bool) scorer {
	b := &bm25{postings: map[string][]mention{}, lengths: make([]float64, len(docs))}
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
	b.postings[term] = append(list, mention{tool, 1})
}

// text is all that describes a tool. An MCP tool's prefix is left out: all of them have it.
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
func (b *bm25) score(q Query) scores {
	t := sumsFrom(&b.room, len(b.lengths))
	words := unique(plainTerms(q.rankedText()))
	for _, term := range words {
		list := b.postings[term]
		idf := rarity(len(list), len(b.lengths))
		for _, o := range list {
			t.add(o.tool, idf*b.worth(o))
		}
	}
	return t.scores(&b.room, func(tool int) string { return b.why(tool, words) })
}

// worth is what an occurrence counts, between 0 and saturation+1.
func (b *bm25) worth(o mention) float64 {
	return o.count * (saturation + 1) / (o.count + saturation*(1-lengthNorm+lengthNorm*b.lengths[o.tool]))
}

// rarity is the weight of a term that so many of all tools have. It is never below 0.
func rarity(have, all int) float64 {
	return math.Log1p((float64(all-have) + 0.5) / (float64(have) + 0.5))
}

// why names the terms with what they add.
func (b *bm25) why(tool int, words []string) string {
	var reasons []string
	for _, term := range words {
		list := b.postings[term]
		if i, ok := slices.BinarySearchFunc(list, tool, func(o mention, t int) int { return o.tool - t }); ok {
			reasons = append(reasons, fmt.Sprintf("%s %.2f", term, rarity(len(list), len(b.lengths))*b.worth(list[i])))
		}
	}
	return strings.Join(reasons, "; ")
}
