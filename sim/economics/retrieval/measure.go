package retrieval

import (
	"maps"
	"slices"

	"toolbench/toolsys/search"
)

// Standing is how one ranker did on one set of queries.
type Standing struct {
	Ranker search.Ranker
	// All are the figures over every query that counts; Half those of the queries
	// at even and at odd places, from 0: what was tuned on one half shows its worth
	// on the other.
	All  *Figures
	Half [2]*Figures
	// Classes and Langs are the figures by kind and by language, in order.
	Classes, Langs []Group
	// NoneExpected counts queries for which the catalogue has nothing, NoneGiven
	// those of them that were answered with nothing.
	NoneExpected, NoneGiven int
	// Skipped counts queries whose labels are unresolved, here or in the file.
	Skipped int
}

// Group are the figures of one class or language.
type Group struct {
	Name string
	*Figures
}

// Measure asks every query of the pool under one ranker (SPEC E9). ks are the ks
// of hit@k and recall@k, each from 1 to Depth. The answer depends on nothing but
// what is given.
func Measure(pool Pool, queries []Query, ranker search.Ranker, ks []int) Standing {
	ix := search.NewIndex(ranker, pool.Entries, nil)
	return measureBy(pool, queries, ranker, ks, func(text string) []string { return Ask(ix, text) })
}

// measureBy asks every query by a function that gives names, best first.
func measureBy(pool Pool, queries []Query, ranker search.Ranker, ks []int, ask func(text string) []string) Standing {
	m := measuring{
		answer: ask, pool: pool, ks: ks,
		classes: map[string]*Figures{}, langs: map[string]*Figures{},
		Standing: Standing{Ranker: ranker, All: newFigures(ks), Half: [2]*Figures{newFigures(ks), newFigures(ks)}},
	}
	for i, q := range queries {
		m.ask(i, q)
	}
	m.Classes, m.Langs = groups(m.classes), groups(m.langs)
	return m.Standing
}

// measuring is a standing on its way.
type measuring struct {
	Standing
	answer         func(text string) []string
	pool           Pool
	ks             []int
	classes, langs map[string]*Figures
}

// ask counts one query.
func (m *measuring) ask(i int, q Query) {
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

// Ask gives the names that a query finds, best first, at most Depth of them. A
// query that cannot be read finds nothing.
func Ask(ix *search.Index, text string) []string {
	q, err := search.ParseQuery(text)
	if err != nil {
		return nil
	}
	var names []string
	for _, match := range ix.Search(q, Depth).Matches {
		names = append(names, match.Name)
	}
	return names
}

func (m *measuring) group(all map[string]*Figures, name string) *Figures {
	if all[name] == nil {
		all[name] = newFigures(m.ks)
	}
	return all[name]
}

// groups are figures by name, in order.
func groups(all map[string]*Figures) []Group {
	var sorted []Group
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, Group{name, all[name]})
	}
	return sorted
}
