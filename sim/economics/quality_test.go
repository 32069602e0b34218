package economics_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/economics"
	"toolbench/sim/world"
	"toolbench/toolsys/search"
)

// catalogues is where catalogues and labelled queries may lie beside the repository.
const catalogues = "../../../shared/catalogues/"

// labelled are the sets that rankers are measured on, each with hit@1 and hit@5 of
// the better of two BM25 rankers that others measured on it.
var labelled = []struct {
	name       string
	hit1, hit5 float64
}{
	{"azure", 0.789, 0.962}, {"mcpproxy", 0.489, 0.766}, {"ironclaw", 0.906, 0.953}, {"ace-zh", 0.810, 0.965},
}

// set reads a catalogue and its queries, or skips the test.
func set(t testing.TB, name string) (economics.SearchPool, []economics.Query) {
	tools, err := os.ReadFile(catalogues + name + ".jsonl")
	if err != nil {
		t.Skip("no catalogue here: " + name)
	}
	c, err := world.ParseCatalogue(name+".jsonl", tools)
	require.NoError(t, err)
	text, err := os.ReadFile(catalogues + name + ".queries.jsonl")
	require.NoError(t, err)
	queries, err := economics.ParseQueries(name+".queries.jsonl", text)
	require.NoError(t, err)
	return economics.NewSearchPool(c), queries
}

// The weights of the default were tuned on the queries at even places; those at odd
// places are what it is measured by, and all of them together.
func TestTheDefaultBeatsTheUsualRankersOnEverySet(t *testing.T) {
	for _, s := range labelled {
		t.Run(s.name, func(t *testing.T) {
			pool, queries := set(t, s.name)
			standing := economics.MeasureRanker(pool, queries, search.DefaultRanker(), []int{1, 5})
			for _, f := range []*economics.SearchFigures{standing.All, standing.Half[1]} {
				t.Logf("%d queries, hit@1 %.3f, hit@5 %.3f, MRR %.3f", f.Queries, f.Hit(0), f.Hit(1), f.MRR())
				assert.GreaterOrEqual(t, f.Hit(0), s.hit1)
				assert.GreaterOrEqual(t, f.Hit(1), s.hit5)
			}
			for _, other := range search.Rankers() {
				if other.Name == search.DefaultRanker().Name {
					continue
				}
				theirs := economics.MeasureRanker(pool, queries, other, []int{1, 5})
				t.Logf("%s: hit@1 %.3f, hit@5 %.3f", other.Name, theirs.All.Hit(0), theirs.All.Hit(1))
				assert.GreaterOrEqual(t, standing.All.Hit(0), theirs.All.Hit(0), other.Name)
				assert.GreaterOrEqual(t, standing.All.Hit(1), theirs.All.Hit(1), other.Name)
				assert.GreaterOrEqual(t, standing.NoneGiven, theirs.NoneGiven, "%s says more often that there is nothing", other.Name)
			}
		})
	}
}

// TestTheBaselineIsWhatItWas holds the seed's scoring, with whole sentences for
// queries, to the figures it was known for.
func TestTheBaselineIsWhatItWas(t *testing.T) {
	for name, floor := range map[string][2]float64{"azure": {0.57, 0.88}, "mcpproxy": {0.36, 0.63}, "ironclaw": {0.67, 0.78}} {
		pool, queries := set(t, name)
		f := economics.MeasureRanker(pool, queries, search.Seed(), []int{1, 5}).All
		assert.InDelta(t, floor[0], f.Hit(0), 0.015, name)
		assert.InDelta(t, floor[1], f.Hit(1), 0.015, name)
	}
}

// Requests in Chinese, for the same tools with nothing but their English names left:
// what shares no word is found by the glossary alone. BM25 finds one in eight among
// the first five.
func TestChineseRequestsFindToolsInEnglish(t *testing.T) {
	pool, queries := set(t, "ace-zh")
	for i := range pool.Entries {
		pool.Entries[i].Description, pool.Entries[i].Params = "", nil
	}
	ours := economics.MeasureRanker(pool, queries, search.Lexicon(), []int{1, 5}).All
	theirs := economics.MeasureRanker(pool, queries, search.BM25(), []int{1, 5}).All
	t.Logf("%d tools: hit@1 %.3f, hit@5 %.3f; BM25 %.3f, %.3f", len(pool.Entries), ours.Hit(0), ours.Hit(1), theirs.Hit(0), theirs.Hit(1))
	assert.Greater(t, ours.Hit(0), 4*theirs.Hit(0))
	assert.Greater(t, ours.Hit(1), 0.55)
}

// The bound is a millisecond for a search of 1,455 tools.
func BenchmarkSearchInARealCatalogue(b *testing.B) {
	pool, queries := set(b, "ace-zh")
	for _, ranker := range search.Rankers() {
		ix := search.NewIndex(ranker, pool.Entries, nil)
		economics.AskIndex(ix, queries[0].Text) // the first builds the index
		b.Run(ranker.Name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				q, err := search.ParseQuery(queries[i%len(queries)].Text)
				if err != nil {
					b.Fatal(err)
				}
				ix.Search(q, 5)
			}
		})
	}
}

func BenchmarkIndexARealCatalogue(b *testing.B) {
	pool, queries := set(b, "ace-zh")
	for _, ranker := range search.Rankers() {
		b.Run(ranker.Name, func(b *testing.B) {
			for b.Loop() {
				economics.AskIndex(search.NewIndex(ranker, pool.Entries, nil), queries[0].Text)
			}
		})
	}
}
