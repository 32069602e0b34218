package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"toolbench/toolsys/search"
)

// Vectors ranks a pool's tools by the cosine of their embeddings with a query's, in
// memory (SPEC E9). It decides the order and no more: select:, whole names and
// required words are taken as other rankers take them, by an index beside it.
type Vectors struct {
	embedder Embedder
	pool     Pool
	names    *search.Index
	tools    [][]float64
	queries  map[string][]float64
}

// NewVectors embeds the pool's tools, name and description, and the queries that will
// be asked. Errors are the embedder's.
func NewVectors(ctx context.Context, e Embedder, p Pool, queries []string) (*Vectors, error) {
	v := &Vectors{embedder: e, pool: p, names: search.NewIndex(search.Seed(), p.Entries, nil), queries: map[string][]float64{}}
	var texts []string
	for _, entry := range p.Entries {
		texts = append(texts, embeddedText(entry))
	}
	asked := slices.Compact(slices.Sorted(slices.Values(queries)))
	all, err := e.Embed(ctx, slices.Concat(texts, asked))
	if err != nil {
		return nil, err
	}
	for _, vector := range all {
		normalize(vector)
	}
	v.tools = all[:len(texts)]
	for i, text := range asked {
		v.queries[text] = all[len(texts)+i]
	}
	return v, nil
}

// embeddedText is what of a tool is embedded.
func embeddedText(e search.Entry) string {
	text := strings.NewReplacer("__", " ", "_", " ", "-", " ").Replace(strings.TrimPrefix(e.Name, "mcp__"))
	for _, more := range []string{e.Hint, e.Description} {
		if more != "" {
			text += ". " + more
		}
	}
	return text
}

// normalize makes a vector's length 1, so that a product is a cosine.
func normalize(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if length := math.Sqrt(sum); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}

// Label is how reports call this ranker. It cannot build an index.
func (v *Vectors) Label() search.Ranker {
	return search.Ranker{Name: "embeddings", About: fmt.Sprintf("cosine of vectors by %s over name and description, in memory", v.embedder.Model)}
}

// Search finds the tools nearest to a query that was embedded before, at most so many.
// Every tool is somehow near, so that a query always finds something.
func (v *Vectors) Search(text string, q search.Query, most int) search.Result {
	if len(q.Select) > 0 || len(q.Required) == 0 && v.named(q.Text) {
		return v.names.Search(q, most)
	}
	result := search.Result{TotalDeferred: len(v.tools)}
	asked := v.queries[text]
	for i, entry := range v.pool.Entries {
		if !required(entry.Name, q.Required) {
			continue
		}
		score := dot(asked, v.tools[i])
		result.Matches = append(result.Matches, search.Match{Name: entry.Name, Score: score, Why: "cosine"})
	}
	slices.SortStableFunc(result.Matches, func(a, b search.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Name, b.Name))
	})
	result.Matches = result.Matches[:min(most, len(result.Matches))]
	return result
}

// named reports whether a query is a name or a part of one, which comes before any ranker.
func (v *Vectors) named(text string) bool {
	part := text
	if strings.HasPrefix(text, "mcp__") { // mcp__server* is a server
		part = strings.TrimRight(text, "*_")
	}
	return part != "" && slices.ContainsFunc(v.pool.Entries, func(e search.Entry) bool { return strings.Contains(strings.ToLower(e.Name), part) })
}

func required(name string, words []string) bool {
	lower := strings.ToLower(name)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) })
}

// dot is the product of two vectors of one length; 0 where there is none.
func dot(a, b []float64) (sum float64) {
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return sum
}

// Measure asks labelled queries as the package's Measure does.
func (v *Vectors) Measure(queries []Query, ks []int) Standing {
	return measureBy(v.pool, queries, v.Label(), ks, func(text string) []string {
		q, err := search.ParseQuery(text)
		if err != nil {
			return nil
		}
		var names []string
		for _, match := range v.Search(text, q, Depth).Matches {
			names = append(names, match.Name)
		}
		return names
	})
}
