package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toolbench/toolsys/search/terms"
)

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

// text is all that is said of a tool. An MCP tool's prefix is left out: it tells
// no two of them apart.
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
	for _, r := range terms.Runs(text) {
		if r.Unbroken {
			all = append(all, terms.Grams(r.Text)...)
		} else {
			all = append(all, terms.Parts(r.Text)...)
		}
	}
	return all
}

// score adds up what each word of the query is worth.
func (b *bm25) score(q Query) ([]float64, func(int) string) {
	sums := make([]float64, len(b.lengths))
	words := unique(plainTerms(q.spoken()))
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
