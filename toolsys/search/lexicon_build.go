package search

import ()

// buildLexicon counts the terms of all fields of all tools.
func buildLexicon(docs []doc) scorer {
	l := &lexicon{
		tools: len(docs), glossary: builtInGlossary(), ids: map[string]int32{}, pairs: map[[2]int32]int32{}, names: make([]float64, len(docs)),
	}
	read := make([]reading, len(docs))
	var mean [fieldCount]float64
	words := map[string]word{}
	for i := range docs {
		read[i] = l.read(&docs[i], words)
		for f, ids := range read[i] {
			mean[f] += float64(len(ids)) / float64(len(docs))
		}
		l.intents = append(l.intents, intentOfName(docs[i].ownName()))
	}
	c := counter{lexicon: l, mean: mean, freq: make([]float64, len(l.terms)), named: make([]bool, len(l.terms))}
	for i := range read {
		c.count(i, &read[i])
	}
	l.weigh()
	l.spelling = newSpelling(l.terms)
	return l.score
}

// reading is the terms of a tool's fields, in order.
type reading [fieldCount][]int32

// word is what a stretch of letters is made of.
type word struct {
	ids  []int32
	stop bool
}

// read takes the fields of a tool apart. words remembers what was taken apart
// before.
func (l *lexicon) read(d *doc, words map[string]word) reading {
	var r reading
	for f, text := range d.fields() {
		for _, run := range runsOf(text) {
			w, known := words[run.Text]
			if !known {
				w = l.take(run)
				words[run.Text] = w
			}
			if !w.stop || f == fieldName {
				r[f] = append(r[f], w.ids...)
			}
		}
		if f <= fieldText {
			l.addPairs(r[f])
		}
	}
	return r
}

// take makes terms of a run: a word counts as it is and, where its case shows that it
// has parts, by its parts.
func (l *lexicon) take(run run) word {
	if run.Unbroken {
		return word{ids: l.enter(gramsOf(run.Text))}
	}
	whole := fold(run.Text)
	parts := caseParts(run.Text)
	if len(parts) == 1 {
		return word{l.enter([]string{rootOf(whole)}), l.glossary.Stop(english, whole)}
	}
	for i, p := range parts {
		parts[i] = rootOf(fold(p))
	}
	return word{ids: l.enter(append(parts, rootOf(whole)))}
}

// enter gives terms their numbers.
func (l *lexicon) enter(texts []string) []int32 {
	ids := make([]int32, len(texts))
	for i, text := range texts {
		id, known := l.ids[text]
		if !known {
			id = l.newTerm(lexTerm{text: text})
			l.ids[text] = id
		}
		ids[i] = id
	}
	return ids
}

func (l *lexicon) newTerm(t lexTerm) int32 {
	l.terms = append(l.terms, t)
	return int32(len(l.terms) - 1)
}

// addPairs enters neighbouring words. Characters are in pairs already.
func (l *lexicon) addPairs(ids []int32) {
	for i := 1; i < len(ids); i++ {
		key := [2]int32{ids[i-1], ids[i]}
		a, b := l.terms[key[0]].text, l.terms[key[1]].text
		if _, known := l.pairs[key]; !known && a[0] < 0x80 && b[0] < 0x80 {
			l.pairs[key] = l.newTerm(lexTerm{text: a + " " + b, pair: true})
		}
	}
}

// counter turns readings into occurrences.
type counter struct {
	*lexicon
	mean  [fieldCount]float64
	freq  []float64 // of the tool at hand, by term
	named []bool
	order []int32
}

// count enters one tool under its terms.
func (c *counter) count(tool int, r *reading) {
	for f, ids := range r {
		norm := fieldNorms[f]
		one := fieldWeights[f] / (1 - norm + norm*float64(len(ids))/max(c.mean[f], 1e-9))
		for i, id := range ids {
			c.add(id, one, f == fieldName)
			if i == 0 {
				continue
			}
			if pair, ok := c.pairs[[2]int32{ids[i-1], id}]; ok && f <= fieldText {
				c.add(pair, one, f == fieldName)
			}
		}
	}
	for _, id := range c.order {
		c.terms[id].posts = append(c.terms[id].posts, lexPost{int32(tool), c.named[id], float32(c.freq[id])})
		c.freq[id], c.named[id] = 0, false
	}
	c.order = c.order[:0]
}

func (c *counter) add(id int32, much float64, named bool) {
	if c.freq[id] == 0 {
		c.order = append(c.order, id)
	}
	c.freq[id] += much
	c.named[id] = c.named[id] || named
}

// weigh gives terms their rarity and names the sum of their words'.
func (l *lexicon) weigh() {
	for id := range l.terms {
		t := &l.terms[id]
		t.idf = rarity(len(t.posts), l.tools)
		for _, p := range t.posts {
			if p.named && !t.pair {
				l.names[p.tool] += t.idf
			}
		}
	}
}
