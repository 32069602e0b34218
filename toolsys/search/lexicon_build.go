package search

import "sync"

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

// meet counts in how many tools each term is, and puts words in the order in which they
// are first met.
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

// postings are the tools that have each of many terms, those of one term together and by
// tool.
type postings struct {
	ends  []int32 // by term
	posts []lexPost
	used  int // terms that any tool has
}

func newPostings(terms int) postings { return postings{ends: make([]int32, terms)} }

// of are the tools that have a term.
func (p *postings) of(term int32) []lexPost {
	var from int32
	if term > 0 {
		from = p.ends[term-1]
	}
	return p.posts[from:p.ends[term]]
}

// meet counts one more tool for each of its terms.
func (p *postings) meet(all []occurrence) {
	for i, o := range all {
		if o.count() > 0 && (i == 0 || all[i-1].term != o.term) {
			p.ends[o.term]++
		}
	}
}

// allot makes room for the tools that were counted. Each end is where its term's begin,
// until they are entered.
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
