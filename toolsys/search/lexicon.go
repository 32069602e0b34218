package search

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// What lexicon weighs how. The values were tuned on every other query of eighteen labelled sets, in English, Chinese
// and Korean, and hold on the rest; none of them is sharp.
const (
	// bend is how soon more of a term counts no more (Okapi's k1).
	bend = 1.1
	// fullName is how much a tool gains whose name the query has in full.
	fullName = 0.33
	// fitting is how much a tool gains that does the kind of thing that is asked, and loses that does another.
	fitting = 0.15

	// rarerMost is how much a rarer word of a translation counts at most, of the plainest one's rarity.
	rarerMost = 1.5

	// What a group of the query counts, as a share of a word.
	weightNeighbours = 0.35 // two neighbouring words, as such
	weightJoined     = 0.6  // two neighbouring words, written as one
	weightAside      = 0.5  // a word of a placeholder or an address

	// What a term counts that stands for a word, as a share of the word itself.
	weightLike       = 0.5 // a word of like meaning
	weightTranslated = 0.9 // an English word for one of another language
	weightLater      = 0.6 // of these, any but the plainest
	weightInto       = 0.4 // a word of another language, for texts in it
	weightPiece      = 0.5 // a word of a phrase that no tool has as such
	weightSplit      = 0.4 // half of a word that is two
	weightTypo       = 0.5 // a word spelt much like it
	weightBegins     = 0.4 // a word that it begins
)

// fieldWeights is what a term counts in each field; fieldNorms how much a field
// longer than others is held against it, from 0 to 1.
var (
	fieldWeights = [fieldCount]float64{fieldName: 2, fieldServer: 0.75, fieldHint: 2, fieldText: 1, fieldParam: 0.77, fieldParamText: 0.33}
	fieldNorms   = [fieldCount]float64{fieldName: 0.6, fieldServer: 0, fieldHint: 0.7, fieldText: 0.7, fieldParam: 0.75, fieldParamText: 0.6}
)

// lexicon is an inverted index of terms: words without their endings, pairs of
// neighbouring words, and pairs of characters where no blanks part the words. The number
// of a pair is written as its complement, so that one number is enough for a term.
type lexicon struct {
	glossary   *glossary
	dictionary *dictionary

	tools int
	texts []string   // of words, by number
	ends  [][2]int32 // of pairs
	known []bool     // by word: whether any tool here has it
	order []int32    // these words as they are first met, by tool

	words, pairs postings
	// names is what the words of each tool's name weigh together, intents what the tool does by its name.
	names    []float64
	intents  []intent
	spelling func() *spelling
	tallies  sync.Pool
}

// lexPost is one tool that has a term: how often, by the weights of the fields, and whether in its name.
type lexPost struct {
	which uint32 // twice the tool, and 1 for the name
	freq  float32
}

func newPost(tool int32, named bool, freq float32) lexPost {
	which := uint32(tool) << 1
	if named {
		which++
	}
	return lexPost{which, freq}
}

func (p lexPost) tool() int32 { return int32(p.which >> 1) }
func (p lexPost) named() bool { return p.which&1 > 0 }

// worth is what an occurrence counts of its term's weight, below bend+1.
func (p lexPost) worth() float64 { return float64(p.freq) * (bend + 1) / (float64(p.freq) + bend) }

// posts are the tools that have a term.
func (l *lexicon) posts(term int32) []lexPost {
	if term < 0 {
		return l.pairs.of(^term)
	}
	return l.words.of(term)
}

// idf is how rare a term is.
func (l *lexicon) idf(term int32) float64 { return rarity(len(l.posts(term)), l.tools) }

// text is a term in words.
func (l *lexicon) text(term int32) string {
	if term < 0 {
		return l.texts[l.ends[^term][0]] + " " + l.texts[l.ends[^term][1]]
	}
	return l.texts[term]
}

// word finds the term of a word.
func (l *lexicon) word(text string) (int32, bool) {
	id, ok := l.dictionary.find(text)
	return id, ok && int(id) < len(l.known) && l.known[id]
}

// pair finds the term of two neighbouring words.
func (l *lexicon) pair(a, b string) (int32, bool) {
	first, knownA := l.word(a)
	second, knownB := l.word(b)
	if !knownA || !knownB {
		return 0, false
	}
	id, ok := l.dictionary.findPair(first, second)
	return ^id, ok && int(id) < len(l.ends) && len(l.pairs.of(id)) > 0
}

// score adds up, for each group of the query, what its best member is worth in each tool; then raises the tools whose
// name the query has in full and that do what is asked, and lowers those that do something else.
func (l *lexicon) score(q Query) scores {
	groups, want := l.expand(q)
	t, _ := l.tallies.Get().(*queryScores)
	if t == nil {
		all := make([]float64, 4*l.tools)
		t = &queryScores{sums: all[:l.tools], named: all[l.tools : 2*l.tools], best: all[2*l.tools : 3*l.tools], inName: all[3*l.tools:]}
	}
	for _, g := range groups {
		t.group(l, g)
	}
	for _, i := range t.found {
		text := min(1, t.named[i]/max(l.names[i], 1e-9))
		t.sums[i] *= (1 + fullName*text) * (1 + fitting*want.fit(l.intents[i]))
	}
	return scores{t.sums, t.found, func(tool int) string { return l.why(tool, groups) }, func() { l.tallies.Put(t.cleared()) }}
}

// queryScores is what the tools score, and what of their names the query has.
type queryScores struct {
	sums, named  []float64
	best, inName []float64 // of the group at hand
	touched      []int32   // the tools that the group finds
	found        []int32   // those that any group does
}

// cleared is a queryScores as it was before it was used.
func (t *queryScores) cleared() *queryScores {
	for _, i := range t.found {
		t.sums[i], t.named[i] = 0, 0
	}
	t.found = t.found[:0]
	return t
}

// group counts the best member of a group in each tool.
func (t *queryScores) group(l *lexicon, g group) {
	for _, m := range g.members {
		idf := l.idf(m.term)
		weight, much := m.weight*min(idf, g.most), m.weight*idf
		for _, p := range l.posts(m.term) {
			tool := p.tool()
			if t.best[tool] == 0 {
				t.touched = append(t.touched, tool)
			}
			t.best[tool] = max(t.best[tool], weight*p.worth())
			if p.named() && m.term >= 0 {
				t.inName[tool] = max(t.inName[tool], much)
			}
		}
	}
	for _, i := range t.touched {
		if t.sums[i] == 0 {
			t.found = append(t.found, i)
		}
		t.sums[i] += g.weight * t.best[i]
		t.named[i] += g.weight * t.inName[i]
		t.best[i], t.inName[i] = 0, 0
	}
	t.touched = t.touched[:0]
}

// why names, for one tool, the words of the query with what each adds, and the term
// that it was found by where that is another.
func (l *lexicon) why(tool int, groups []group) string {
	var reasons []string
	for _, g := range groups {
		best, worth := member{}, 0.0
		for _, m := range g.members {
			if w := m.weight * min(l.idf(m.term), g.most) * l.worthIn(m.term, tool); w > worth {
				best, worth = m, w
			}
		}
		if worth > 0 {
			reasons = append(reasons, fmt.Sprintf("%s%s %.2f", g.text, l.via(best), g.weight*worth))
		}
	}
	return strings.Join(reasons, "; ")
}

// worthIn is what a term counts in a tool, 0 where it does not occur.
func (l *lexicon) worthIn(term int32, tool int) float64 {
	posts := l.posts(term)
	i, ok := slices.BinarySearchFunc(posts, tool, func(p lexPost, t int) int { return int(p.tool()) - t })
	if !ok {
		return 0
	}
	return posts[i].worth()
}

// via is how a term came in that is not the word of the query.
func (l *lexicon) via(m member) string {
	if m.how == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", m.how, l.text(m.term))
}

// newLexicon puts together what was read of all tools.
func newLexicon(docs []doc, r *Reader) *lexicon {
	d := r.read(docs)
	l := &lexicon{
		glossary: d.glossary, dictionary: d, tools: len(docs), names: make([]float64, len(docs)), intents: make([]intent, len(docs)),
	}
	d.mu.RLock()
	l.texts, l.ends = d.texts, d.ends // of which no more than there are now is looked at
	d.mu.RUnlock()
	l.meet(docs)
	l.enter(docs)
	l.nameWeights()
	l.spelling = sync.OnceValue(func() *spelling { return newSpelling(l.texts, l.order) })
	if crowded(len(l.order), len(l.texts)) || crowded(l.pairs.used, len(l.ends)) {
		r.dictionary = nil
	}
	return l
}

// meet counts in how many tools each term is, and puts words in the order in which they are first met.
func (l *lexicon) meet(docs []doc) {
	l.known = make([]bool, len(l.texts))
	l.words, l.pairs = newPostings(len(l.texts)), newPostings(len(l.ends))
	for i, doc := range docs {
		l.intents[i] = doc.reading.does
		for _, o := range doc.reading.words {
			if !l.known[o.term] {
				l.known[o.term] = true
				l.order = append(l.order, o.term)
			}
		}
		l.words.meet(doc.reading.words)
		l.pairs.meet(doc.reading.pairs)
	}
	l.words.allot()
	l.pairs.allot()
}

// enter enters each tool under its terms, with how often it has them: what is in a field
// that is longer than others counts less.
func (l *lexicon) enter(docs []doc) {
	var mean [fieldCount]float64
	for _, doc := range docs {
		for f, n := range doc.reading.lengths {
			mean[f] += float64(n) / float64(len(docs))
		}
	}
	for i, doc := range docs {
		var one [fieldCount]float64
		for f, n := range doc.reading.lengths {
			norm := fieldNorms[f]
			one[f] = fieldWeights[f] / (1 - norm + norm*float64(n)/max(mean[f], 1e-9))
		}
		l.words.enter(int32(i), doc.reading.words, &one)
		l.pairs.enter(int32(i), doc.reading.pairs, &one)
	}
}

// nameWeights sums up what the words of each name weigh.
func (l *lexicon) nameWeights() {
	for _, id := range l.order {
		idf := l.idf(id)
		for _, p := range l.words.of(id) {
			if p.named() {
				l.names[p.tool()] += idf
			}
		}
	}
}

// postings are the tools that have each of many terms, those of one term together and by tool.
type postings struct {
	ends  []int32 // by term
	posts []lexPost
	used  int // terms that any tool has
}

func newPostings(terms int) postings { return postings{ends: make([]int32, terms)} }

// of are the tools that have a term.
func (p *postings) of(term int32) []lexPost { return p.posts[beginOf(p.ends, int(term)):p.ends[term]] }

// meet counts one more tool for each of its terms.
func (p *postings) meet(all []occurrence) {
	for i, o := range all {
		if o.count() > 0 && (i == 0 || all[i-1].term != o.term) {
			p.ends[o.term]++
		}
	}
}

// allot makes room for the tools that were counted. Each end is where its term's begin, until they are entered.
func (p *postings) allot() {
	var sum int32
	for term, n := range p.ends {
		if n > 0 {
			p.used++
		}
		p.ends[term] = sum
		sum += n
	}
	p.posts = make([]lexPost, sum)
}

// enter enters a tool under its terms. One is what a term counts that is once in a field.
func (p *postings) enter(tool int32, all []occurrence, one *[fieldCount]float64) {
	for len(all) > 0 {
		term, freq, named := all[0].term, 0.0, false
		for len(all) > 0 && all[0].term == term {
			f := all[0].field()
			for range all[0].count() { // one by one, as rounding depends on it
				freq += one[f]
				named = named || f == fieldName
			}
			all = all[1:]
		}
		if freq > 0 {
			p.posts[p.ends[term]] = newPost(tool, named, float32(freq))
			p.ends[term]++
		}
	}
}
