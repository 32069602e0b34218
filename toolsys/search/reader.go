package search

import (
	"strings"
	"sync"
)

// Reader makes indexes and keeps what it read of each tool, so that an index over tools of which most were in an
// earlier one costs no more than putting the numbers together. It is safe for concurrent use.
type Reader struct {
	mu         sync.Mutex
	dictionary *dictionary
}

// Doc is a tool that may be in many indexes of one [Reader].
type Doc struct {
	Entry
	lower   string // the name
	server  string // as names spell it
	reading *reading
	roots   []string // of its words, for Nearest
}

// NewDoc makes a tool ready for indexes.
func NewDoc(e Entry) *Doc {
	return &Doc{Entry: e, lower: strings.ToLower(e.Name), server: normal(e.Server)}
}

// read reads the tools that were not read before.
func (r *Reader) read(docs []doc) *dictionary {
	if r.dictionary == nil {
		r.dictionary = &dictionary{ids: map[string]int32{}, pairs: map[[2]int32]int32{}, glossary: builtInGlossary(), runs: map[string]word{}}
	}
	d := r.dictionary
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range docs {
		if doc.reading == nil || doc.reading.of != d {
			doc.reading = d.read(doc.Doc)
		}
	}
	return d
}

// crowded is how many terms, in use and in all, make a dictionary one that is mostly of tools that are
// gone: servers that come and go must not fill the memory.
func crowded(used, all int) bool { return all > 4*used+1<<16 }

// dictionary numbers the words of tools and the pairs of words that stand beside each
// other. A number is never given anew.
type dictionary struct {
	mu    sync.RWMutex
	ids   map[string]int32
	texts []string // by number
	pairs map[[2]int32]int32
	ends  [][2]int32 // the words of a pair, by number

	glossary *glossary
	runs     map[string]word // what was taken apart before
	words    counter
	beside   counter
}

// find gives the number of a word.
func (d *dictionary) find(text string) (int32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, known := d.ids[text]
	return id, known
}

// findPair gives the number of two neighbouring words.
func (d *dictionary) findPair(a, b int32) (int32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, known := d.pairs[[2]int32{a, b}]
	return id, known
}

// reading is what the fields of a tool have of terms. It does not depend on other tools.
type reading struct {
	of      *dictionary
	lengths [fieldCount]int // in words
	// words are in the order in which they are first met. Stop words are among them, which
	// count for nothing but are no slips.
	words, pairs []occurrence
	does         intent
}

// word is what a stretch of letters is made of.
type word struct {
	ids  []int32
	stop bool
}

// read takes the fields of a tool apart; the dictionary is locked.
func (d *dictionary) read(doc *Doc) *reading {
	r := &reading{of: d, does: intentOfName(doc.ownName())}
	var ids []int32
	for f, text := range doc.fields() {
		ids = ids[:0]
		for _, run := range runsOf(text) {
			w := d.take(run)
			for _, id := range w.ids {
				d.words.at(id)
			}
			if !w.stop || f == fieldName {
				ids = append(ids, w.ids...)
			}
		}
		r.lengths[f] = len(ids)
		d.count(ids, f)
	}
	r.words, r.pairs = d.words.take(), d.beside.take()
	return r
}

// count counts the words of a field and, in all but parameters, neighbours. Characters are in pairs already.
func (d *dictionary) count(ids []int32, f int) {
	for i, id := range ids {
		d.words.at(id)[f]++
		if i > 0 && f <= fieldText && d.texts[ids[i-1]][0] < 0x80 && d.texts[id][0] < 0x80 {
			d.beside.at(d.enterPair(ids[i-1], id))[f]++
		}
	}
}

// take makes terms of a run: a word counts as it is and, where its case shows that it has parts, by its parts.
func (d *dictionary) take(run run) word {
	w, known := d.runs[run.Text]
	if known {
		return w
	}
	whole := fold(run.Text)
	parts := caseParts(run.Text)
	switch {
	case run.Unbroken:
		w = word{ids: d.enter(gramsOf(run.Text))}
	case len(parts) == 1:
		w = word{d.enter([]string{rootOf(whole)}), d.glossary.stops[english][whole]}
	default:
		w = word{ids: d.enter(append(each(parts, func(p string) string { return rootOf(fold(p)) }), rootOf(whole)))}
	}
	d.runs[strings.Clone(run.Text)] = w
	return w
}

// enter gives words their numbers.
func (d *dictionary) enter(texts []string) []int32 {
	ids := make([]int32, len(texts))
	for i, text := range texts {
		id, known := d.ids[text]
		if !known {
			id = int32(len(d.texts))
			text = strings.Clone(text) // and not all that it was cut from
			d.texts = append(d.texts, text)
			d.ids[text] = id
		}
		ids[i] = id
	}
	return ids
}

// enterPair gives two words the number that they have as neighbours.
func (d *dictionary) enterPair(a, b int32) int32 {
	key := [2]int32{a, b}
	id, known := d.pairs[key]
	if !known {
		id = int32(len(d.ends))
		d.ends = append(d.ends, key)
		d.pairs[key] = id
	}
	return id
}

// occurrence is how often a term is in one field of a tool. Those of one term are together, by field.
type occurrence struct {
	term  int32
	times uint32 // and the field, in the lowest bits
}

const fieldBits = 3

func (o occurrence) field() int { return int(o.times & (1<<fieldBits - 1)) }
func (o occurrence) count() int { return int(o.times >> fieldBits) }

// counter counts the terms of one tool by field.
type counter struct {
	slots  []int32 // by term: its place in terms, from 1
	terms  []int32
	counts [][fieldCount]uint32
}

// at is where a term is counted.
func (c *counter) at(term int32) *[fieldCount]uint32 {
	if more := int(term) + 1 - len(c.slots); more > 0 {
		c.slots = append(c.slots, make([]int32, more)...)
	}
	if c.slots[term] == 0 {
		c.terms, c.counts = append(c.terms, term), append(c.counts, [fieldCount]uint32{})
		c.slots[term] = int32(len(c.terms))
	}
	return &c.counts[c.slots[term]-1]
}

// take gives what was counted, and begins anew. A term that was met and not counted has one occurrence of 0.
func (c *counter) take() []occurrence {
	all := make([]occurrence, 0, len(c.terms)*5/4)
	for i, term := range c.terms {
		before := len(all)
		for f, n := range c.counts[i] {
			if n > 0 {
				all = append(all, occurrence{term, n<<fieldBits | uint32(f)})
			}
		}
		if len(all) == before {
			all = append(all, occurrence{term: term})
		}
		c.slots[term] = 0
	}
	c.terms, c.counts = c.terms[:0], c.counts[:0]
	return all
}
