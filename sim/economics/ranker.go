package economics

import (
	"maps"
	"slices"

	"toolbench/toolsys/search"
)

// RankerStanding is how one ranker did on one set of queries.
type RankerStanding struct {
	Ranker search.Ranker
	// All are the figures over every query that counts; Half those of the queries
	// at even and at odd places, from 0: what was tuned on one half shows its worth
	// on the other.
	All  *SearchFigures
	Half [2]*SearchFigures
	// Classes and Langs are the figures by kind and by language, in order.
	Classes, Langs []SearchGroup
	// NoneExpected counts queries for which the catalogue has nothing, NoneGiven
	// those of them that were answered with nothing.
	NoneExpected, NoneGiven int
	// Skipped counts queries whose labels are unresolved, here or in the file.
	Skipped int
}

// SearchGroup are the figures of one class or language.
type SearchGroup struct {
	Name string
	*SearchFigures
}

// MeasureRanker asks every query of the pool under one ranker (SPEC E9). ks are the ks
// of hit@k and recall@k, each from 1 to RankDepth. The answer depends on nothing but
// what is given.
func MeasureRanker(pool SearchPool, queries []Query, ranker search.Ranker, ks []int) RankerStanding {
	ix := search.NewIndex(ranker, pool.Entries, nil)
	return measureBy(pool, queries, ranker, ks, func(text string) []string { return AskIndex(ix, text) })
}

// measureBy asks every query by a function that gives names, best first.
func measureBy(pool SearchPool, queries []Query, ranker search.Ranker, ks []int, ask func(text string) []string) RankerStanding {
	m := ranking{
		answer: ask, pool: pool, ks: ks,
		classes: map[string]*SearchFigures{}, langs: map[string]*SearchFigures{},
		RankerStanding: RankerStanding{Ranker: ranker, All: newSearchFigures(ks), Half: [2]*SearchFigures{newSearchFigures(ks), newSearchFigures(ks)}},
	}
	for i, q := range queries {
		m.ask(i, q)
	}
	m.Classes, m.Langs = groups(m.classes), groups(m.langs)
	return m.RankerStanding
}

// ranking is a standing on its way.
type ranking struct {
	RankerStanding
	answer         func(text string) []string
	pool           SearchPool
	ks             []int
	classes, langs map[string]*SearchFigures
}

// ask counts one query.
func (m *ranking) ask(i int, q Query) {
	relevant, _ := m.pool.Resolve(q.Relevant)
	switch {
	case len(q.Unresolved) > 0, len(q.Relevant) > 0 && len(relevant) == 0:
		m.Skipped++
		return
	case len(q.Relevant) == 0:
		m.NoneExpected++
		if len(m.answer(q.Text)) == 0 {
			m.NoneGiven++
		}
		return
	}
	found := m.answer(q.Text)
	m.All.count(found, relevant, m.ks)
	m.Half[i%2].count(found, relevant, m.ks)
	m.group(m.langs, q.Lang).count(found, relevant, m.ks)
	if q.Class != "" {
		m.group(m.classes, q.Class).count(found, relevant, m.ks)
	}
}

// AskIndex gives the names that a query finds, best first, at most RankDepth of them. A
// query that cannot be read finds nothing.
func AskIndex(ix *search.Index, text string) []string { return found(text, ix.Search) }

// found gives the names that a query finds in a search.
func found(text string, ask func(search.Query, int) search.Result) []string {
	q, err := search.ParseQuery(text)
	if err != nil {
		return nil
	}
	return each(ask(q, RankDepth).Matches, func(m search.Match) string { return m.Name })
}

func (m *ranking) group(all map[string]*SearchFigures, name string) *SearchFigures {
	if all[name] == nil {
		all[name] = newSearchFigures(m.ks)
	}
	return all[name]
}

// groups are figures by name, in order.
func groups(all map[string]*SearchFigures) []SearchGroup {
	return each(slices.Sorted(maps.Keys(all)), func(name string) SearchGroup { return SearchGroup{name, all[name]} })
}

// RankDepth is how many tools of an answer are looked at for MRR.
const RankDepth = 100

// SearchFigures are sums over queries; the methods give the means (SPEC E9).
type SearchFigures struct {
	// Queries is how many had a relevant tool to find.
	Queries int
	// hits and recalls are by place in the list of ks.
	hits, recalls []float64
	reciprocal    float64
}

func newSearchFigures(ks []int) *SearchFigures {
	return &SearchFigures{hits: make([]float64, len(ks)), recalls: make([]float64, len(ks))}
}

// count adds one query: the names that were found, best first, and those that
// would do.
func (f *SearchFigures) count(found []string, relevant map[string]bool, ks []int) {
	f.Queries++
	for i, k := range ks {
		got := 0
		for _, name := range found[:min(k, len(found))] {
			if relevant[name] {
				got++
			}
		}
		f.hits[i] += float64(min(got, 1))
		f.recalls[i] += float64(got) / float64(len(relevant))
	}
	for rank, name := range found {
		if relevant[name] {
			f.reciprocal += 1 / float64(rank+1)
			break
		}
	}
}

// Hit is hit@k for the i-th k, from 0 to 1.
func (f *SearchFigures) Hit(i int) float64 { return f.mean(f.hits[i]) }

// Recall is recall@k for the i-th k, from 0 to 1.
func (f *SearchFigures) Recall(i int) float64 { return f.mean(f.recalls[i]) }

// MRR is the mean reciprocal rank, from 0 to 1.
func (f *SearchFigures) MRR() float64 { return f.mean(f.reciprocal) }

// mean of no query is 0.
func (f *SearchFigures) mean(sum float64) float64 { return sum / float64(max(f.Queries, 1)) }
