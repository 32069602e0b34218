package search

import "slices"

// Ranker is a way of scoring what a search finds by words (SPEC E9). It decides
// the order of tools and no more: select:, whole names, required words, ties and
// the number of results are the same under every ranker (SPEC E5). The zero value
// is [DefaultRanker].
type Ranker struct {
	// Name is what settings, flags and reports call it.
	Name string
	// About says in a phrase what it looks at.
	About string

	build func(docs []doc) scorer
}

// scorer is what a ranker has made of a pool: for a query, each tool's score, 0
// where nothing was found, and what says in a phrase what a tool scored on. It may
// be used by several searches at a time.
type scorer func(q Query) (scores []float64, why func(tool int) string)

// Seed is the baseline: whole words in name, hint and description, with the
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

// Lexicon weighs each field of a tool by itself, and knows word forms, slips of
// the finger, abbreviations, words of like meaning and, by its glossary, words of
// other languages.
func Lexicon() Ranker {
	return Ranker{"lexicon", "fields by weight, word forms, slips, abbreviations, glossary", buildLexicon}
}

// DefaultRanker is the one a pool is searched with unless another is asked for.
func DefaultRanker() Ranker { return Lexicon() }

// Rankers are all there are, the baseline first.
func Rankers() []Ranker { return []Ranker{Seed(), BM25(), BM25Params(), Lexicon()} }

// RankerNamed finds a ranker by its name.
func RankerNamed(name string) (Ranker, bool) {
	all := Rankers()
	i := slices.IndexFunc(all, func(r Ranker) bool { return r.Name == name })
	if i < 0 {
		return Ranker{}, false
	}
	return all[i], true
}
