package search

import "toolbench/toolsys/search/glossary"

// lexicon is an inverted index of terms: words without their endings, pairs of
// neighbouring words, and pairs of characters where no blanks part the words.
type lexicon struct {
	tools    int
	glossary *glossary.Glossary
	ids      map[string]int32
	pairs    map[[2]int32]int32
	terms    []lexTerm
	// names is what the words of each tool's name weigh together, acts what the
	// tool does by its name.
	names []float64
	acts  []act
	slips spelling
}

// lexTerm is a term, how rare it is, and where it occurs.
type lexTerm struct {
	text  string
	pair  bool
	idf   float64
	posts []lexPost // by tool
}

// lexPost is one tool that has a term: how often, by the weights of the fields,
// and whether in its name.
type lexPost struct {
	tool  int32
	named bool
	freq  float32
}

// worth is what an occurrence counts of its term's weight, below bend+1.
func (p lexPost) worth() float64 {
	return float64(p.freq) * (bend + 1) / (float64(p.freq) + bend)
}

// pair finds the term of two neighbouring words.
func (l *lexicon) pair(a, b string) (int32, bool) {
	first, knownA := l.ids[a]
	second, knownB := l.ids[b]
	if !knownA || !knownB {
		return 0, false
	}
	id, ok := l.pairs[[2]int32{first, second}]
	return id, ok
}

// score adds up, for each group of the query, what its best member is worth in
// each tool; then raises the tools whose name the query says in full and that do
// what is asked, and lowers those that do something else.
func (l *lexicon) score(q Query) ([]float64, func(int) string) {
	groups, want := l.expand(q)
	t := newTally(l.tools)
	for _, g := range groups {
		t.group(l, g)
	}
	for i, sum := range t.sums {
		if sum > 0 {
			said := min(1, t.named[i]/max(l.names[i], 1e-9))
			t.sums[i] *= (1 + wholeName*said) * (1 + fitting*want.fit(l.acts[i]))
		}
	}
	return t.sums, func(tool int) string { return l.why(tool, groups) }
}

// tally is what the tools score, and what of their names was said.
type tally struct {
	sums, named  []float64
	best, inName []float64 // of the group at hand
	touched      []int32
}

func newTally(tools int) *tally {
	all := make([]float64, 4*tools)
	return &tally{sums: all[:tools], named: all[tools : 2*tools], best: all[2*tools : 3*tools], inName: all[3*tools:]}
}

// group counts the best member of a group in each tool.
func (t *tally) group(l *lexicon, g group) {
	for _, m := range g.members {
		term := &l.terms[m.term]
		weight := m.weight * min(term.idf, g.most)
		for _, p := range term.posts {
			if t.best[p.tool] == 0 {
				t.touched = append(t.touched, p.tool)
			}
			t.best[p.tool] = max(t.best[p.tool], weight*p.worth())
			if p.named && !term.pair {
				t.inName[p.tool] = max(t.inName[p.tool], m.weight*term.idf)
			}
		}
	}
	for _, i := range t.touched {
		t.sums[i] += g.weight * t.best[i]
		t.named[i] += g.weight * t.inName[i]
		t.best[i], t.inName[i] = 0, 0
	}
	t.touched = t.touched[:0]
}
