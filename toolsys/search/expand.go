package search

import (
	"toolbench/toolsys/search/glossary"
	"toolbench/toolsys/search/terms"
)

// Limits of what is read of one query: a request may quote whole documents.
const (
	mostText    = 8 << 10 // bytes
	mostWords   = 400
	mostGuesses = 24 // of unknown words
	mostGuessed = 64 // bytes of such a word
)

// expansion is a query on its way to groups.
type expansion struct {
	*lexicon
	lang    string
	groups  []group
	seen    map[string]bool
	want    act
	guesses int
}

// expand reads a query: the words, the phrases, what they may mean, and which kind
// of act is asked for.
func (l *lexicon) expand(q Query) ([]group, act) {
	e := expansion{lexicon: l, seen: map[string]bool{}}
	words, sentences := l.hear(q.spoken())
	folded := make([]string, len(words))
	for i, w := range words {
		folded[i] = w.text
	}
	e.lang = l.glossary.Language(folded)
	for _, s := range sentences {
		e.sentence(s)
	}
	e.read(e.telling(words))
	return e.groups, e.want
}

// telling are the words that mean something, or all where none does.
func (e *expansion) telling(words []heard) []heard {
	for _, w := range words {
		if !e.stop(w.text) {
			return words
		}
	}
	for i := range words {
		words[i].kept = true
	}
	return words
}

// stop tells whether a word says nothing: requests in any language have English
// words in them.
func (e *expansion) stop(word string) bool {
	return e.glossary.Stop(glossary.English, word) || e.glossary.Stop(e.lang, word)
}

// once tells whether something is met for the first time.
func (e *expansion) once(what string) bool {
	first := !e.seen[what]
	e.seen[what] = true
	return first
}

// add keeps a group that anything can be found by.
func (e *expansion) add(g group) {
	if len(g.members) > 0 {
		e.groups = append(e.groups, g)
	}
}

// sentence takes apart what has no blanks: by pairs of characters between its stop
// words, as texts of the same language have them, and by the words that the glossary
// knows.
func (e *expansion) sentence(text string) {
	for _, part := range e.glossary.Telling(text) {
		for _, gram := range terms.Grams(part) {
			if id, ok := e.ids[gram]; ok && e.once(gram) {
				e.add(newGroup(gram, 1, member{term: id, weight: 1}))
			}
		}
	}
	for _, p := range e.glossary.Pieces(text) {
		if e.once("piece " + p.Text) {
			g := newGroup(p.Text, 1)
			e.mean(&g, p.Concepts, weightTranslated, "glossary")
			e.add(g)
		}
	}
}

// read goes through the words that are set apart.
func (e *expansion) read(words []heard) {
	var before heard
	for i, w := range words {
		e.phrase(words[i:])
		if !w.kept && e.stop(w.text) {
			continue
		}
		if before.text != "" {
			e.neighbours(before, w)
		}
		before = w
		if e.once(w.root) {
			e.word(w)
		}
	}
}

// phrase reads the longest phrase of the glossary that words begin with.
func (e *expansion) phrase(words []heard) {
	for n := min(glossary.MaxPhrase, len(words)); n > 1; n-- {
		said := joined(words[:n])
		concepts := e.glossary.English(glossary.Key(said))
		if concepts == nil && e.lang != glossary.English {
			concepts = e.glossary.Foreign(e.lang, said)
		}
		if concepts != nil && e.once("phrase "+said) {
			g := newGroup(said, 1)
			e.mean(&g, concepts, weightTranslated, "glossary")
			e.add(g)
			return
		}
	}
}

// neighbours reads two words as one thing.
func (e *expansion) neighbours(a, b heard) {
	said := a.text + " " + b.text
	if !e.once("pair " + said) {
		return
	}
	weight := min(a.weight, b.weight)
	if id, ok := e.pair(a.root, b.root); ok {
		e.add(newGroup(said, weightNeighbours*weight, member{term: id, weight: 1}))
	}
	if id, ok := e.ids[terms.Root(a.text+b.text)]; ok {
		e.add(newGroup(said, weightJoined*weight, member{id, 1, "as one word"}))
	}
}

// word reads one word: itself, and what means the same here or in English; what is
// neither known nor has a meaning is guessed.
func (e *expansion) word(w heard) {
	g := newGroup(w.text, w.weight)
	id, known := e.ids[w.root]
	if known {
		g.members = append(g.members, member{term: id, weight: 1})
	}
	if concepts := e.foreign(w, known); concepts != nil {
		e.mean(&g, concepts, weightTranslated, "glossary")
	} else {
		if known {
			g.most = e.terms[id].idf
		}
		e.want = e.want.or(actOf(w.root))
		e.mean(&g, e.glossary.English(w.root), weightLike, "like")
	}
	if len(g.members) == 0 {
		e.guess(&g, w)
	}
	e.add(g)
}

// foreign finds the concepts of a word in the query's language or, in a query that
// may be of any, for a word that is neither known here nor English: as it stands, since
// names lose an ending and are another language's words (Libra, libro).
func (e *expansion) foreign(w heard, known bool) []int {
	if e.lang != glossary.English {
		return e.glossary.Foreign(e.lang, w.text)
	}
	if known || e.glossary.English(w.root) != nil {
		return nil
	}
	for _, lang := range e.glossary.Languages() {
		if concepts := e.glossary.Exactly(lang, w.text); concepts != nil {
			return concepts
		}
	}
	return nil
}
