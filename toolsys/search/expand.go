package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Limits of what is read of one query: a request may quote a document.
const (
	maxText        = 8 << 10 // bytes
	maxWords       = 400
	maxCorrections = 24 // of unknown words
	maxCorrected   = 64 // bytes of such a word
)

// expansion is a query on its way to groups.
type expansion struct {
	*lexicon
	lang        string
	groups      []group
	seen        map[string]bool
	want        intent
	corrections int
}

// expand reads a query: the words, the phrases, their concepts, and which kind of thing is asked for.
func (l *lexicon) expand(q Query) ([]group, intent) {
	e := expansion{lexicon: l, seen: map[string]bool{}}
	words, sentences := l.tokenize(q.rankedText())
	e.lang = l.glossary.Language(nfkc(q.rankedText()), textsOf(words))
	for _, s := range sentences {
		e.sentence(s)
	}
	e.read(e.contentWords(words))
	if len(words) > 0 && e.want == intentNone && slices.Contains(forms()[e.lang+"?"], words[0].text) {
		e.want = intentKnow
	}
	return e.groups, e.want
}

// contentWords are the words that mean something, or all where none does.
func (e *expansion) contentWords(words []token) []token {
	if slices.ContainsFunc(words, func(w token) bool { return !e.stop(w.text) }) {
		return words
	}
	for i := range words {
		words[i].kept = true
	}
	return words
}

// stop reports whether a word carries no meaning: requests in any language have English words in them.
func (e *expansion) stop(word string) bool {
	return e.glossary.stops[english][word] || e.glossary.stops[e.lang][word]
}

// once reports whether something is met for the first time.
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

// sentence takes apart what has no blanks: by pairs of characters between its stop words, as texts of the same
// language have them, and by the words that the glossary has.
func (e *expansion) sentence(text string) {
	pieces, parts := e.glossary.TakeApart(text)
	for _, part := range parts {
		for _, gram := range gramsOf(part) {
			if id, ok := e.lexicon.word(gram); ok && e.once(gram) {
				e.add(newGroup(gram, 1, member{term: id, weight: 1}))
			}
		}
	}
	for _, p := range pieces {
		if e.once("piece " + p.Text) {
			e.add(e.translated(newGroup(p.Text, 1), p.Concepts))
		}
	}
}

// read goes through the words that are set apart.
func (e *expansion) read(words []token) {
	var before token
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
func (e *expansion) phrase(words []token) {
	for n := min(maxPhrase, len(words)); n > 1; n-- {
		text := strings.Join(textsOf(words[:n]), " ")
		concepts := e.glossary.english[phraseKey(text)]
		if concepts == nil && e.lang != english {
			concepts = e.glossary.Foreign(e.lang, text)
		}
		if concepts != nil && e.once("phrase "+text) {
			e.add(e.translated(newGroup(text, 1), concepts))
			return
		}
	}
}

// neighbours reads two words as one thing.
func (e *expansion) neighbours(a, b token) {
	text := a.text + " " + b.text
	if !e.once("pair " + text) {
		return
	}
	weight := min(a.weight, b.weight)
	if id, ok := e.pair(a.root, b.root); ok {
		e.add(newGroup(text, weightNeighbours*weight, member{term: id, weight: 1}))
	}
	if id, ok := e.lexicon.word(rootOf(a.text + b.text)); ok {
		e.add(newGroup(text, weightJoined*weight, member{id, 1, "as one word"}))
	}
}

// word reads one word: itself, and what means the same here or in English; what is
// neither indexed nor in the glossary is corrected.
func (e *expansion) word(w token) {
	g := newGroup(w.text, w.weight)
	id, known := e.lexicon.word(w.root)
	if known {
		g.members = append(g.members, member{term: id, weight: 1})
	}
	if concepts := e.foreign(w, known); concepts != nil {
		g = e.translated(g, concepts)
	} else {
		if known {
			g.most = e.idf(id)
		}
		e.want = cmp.Or(e.want, intentsByVerb[w.root])
		e.addConcepts(&g, e.glossary.english[w.root], weightLike, "like")
	}
	if len(g.members) == 0 {
		e.correct(&g, w)
	}
	e.add(g)
}

// foreign finds the concepts of a word in the query's language or, in a query that
// may be of any, for a word that is neither indexed nor English: as it stands, since
// names lose an ending and are another language's words (Libra, libro).
func (e *expansion) foreign(w token, known bool) []int {
	if e.lang != english {
		return e.glossary.Foreign(e.lang, w.text)
	}
	if known || e.glossary.english[w.root] != nil {
		return nil
	}
	for _, lang := range e.glossary.Languages() {
		if concepts := e.glossary.Exactly(lang, w.text); concepts != nil {
			return concepts
		}
	}
	return nil
}

// translated is a group with the words of concepts. A rarer word of like meaning counts little
// more than the plainest: a word for repositories is not for projects, where all tools have those.
func (e *expansion) translated(g group, concepts []int) group {
	most := 0.0
	for _, c := range concepts {
		if id, ok := e.lexicon.word(e.glossary.keys[c][0]); ok {
			most = max(most, rarerMost*e.idf(id))
		}
	}
	g.most = cmp.Or(most, g.most)
	e.addConcepts(&g, concepts, weightTranslated, "glossary")
	return g
}

// addConcepts adds the words of concepts to a group: the English ones, and those of other
// languages for tools that are described in them.
func (e *expansion) addConcepts(g *group, concepts []int, weight float64, how string) {
	for _, c := range concepts {
		for i, key := range e.glossary.keys[c] {
			much := weight
			if i > 0 {
				much *= weightLater
			}
			e.want = cmp.Or(e.want, intentsByVerb[key])
			e.addTerm(g, member{weight: much, how: how}, key)
		}
		for _, term := range e.glossary.foreignTerms[c]() {
			e.addTerm(g, member{weight: weight * weightInto * term.Share, how: how}, term.Text)
		}
	}
}

// addTerm adds a term, or a phrase: as two neighbours, else by its words.
func (e *expansion) addTerm(g *group, m member, key string) {
	if !strings.Contains(key, " ") {
		if id, ok := e.lexicon.word(key); ok {
			g.members = append(g.members, member{id, m.weight, m.how})
		}
		return
	}
	words := strings.Fields(key)
	if id, ok := e.pair(words[0], words[1]); ok && len(words) == 2 {
		g.members = append(g.members, member{id, m.weight, m.how})
		return
	}
	for _, w := range words {
		if !e.glossary.stops[english][w] {
			e.addTerm(g, member{weight: m.weight * weightPiece, how: m.how}, w)
		}
	}
}

// group is one thing that a query asks for, and the terms that stand for it.
type group struct {
	text   string
	weight float64
	// most is what a member's rarity counts at most: a rare word of like meaning is
	// worth no more than the word of the query.
	most    float64
	members []member
}

// member is a term of the index, what it counts, and how it came in; empty for the word itself.
type member struct {
	term   int32
	weight float64
	how    string
}

// newGroup is one without a limit.
func newGroup(text string, weight float64, members ...member) group {
	return group{text: text, weight: weight, most: math.Inf(1), members: members}
}

// intent is the kind of thing that a tool does, or that is asked for, by its verb.
type intent uint8

const (
	intentNone intent = iota
	intentRead
	intentCreate
	intentChange
	intentDelete
	intentSend
	// intentKnow is that of a question: what only looks need not have a verb in its name.
	intentKnow
)

// verbs are the words that express intents.
var verbs = [...]string{
	intentRead: `get list show read view describe fetch search find query lookup retrieve display check status count browse inspect info
		what which who how`,
	intentCreate: "create add insert new make generate build register append upload write save import",
	intentChange: "update edit set modify change rename move configure replace assign patch restore",
	intentDelete: "delete remove drop destroy erase clear purge uninstall cancel discard",
	intentSend:   "send publish post notify share submit invite",
}

// intentsByVerb leads from the root of a verb to its intent; any other word has none.
var intentsByVerb = func() map[string]intent {
	intents := map[string]intent{}
	for a, words := range verbs {
		for verb := range strings.FieldsSeq(words) {
			intents[phraseKey(verb)] = intent(a)
		}
	}
	return intents
}()

// intentOfName is the intent of the first verb in a tool's name.
func intentOfName(name string) intent {
	a := intentNone
	for _, run := range runsOf(name) {
		for _, part := range caseParts(run.Text) {
			a = cmp.Or(a, intentsByVerb[rootOf(part)])
		}
	}
	return a
}

// fit is 1 for a tool that does what is wanted, -1 for one that only looks where something is to be done, the
// reverse, or one that destroys or spares what it should not; 0 where neither is clear.
func (a intent) fit(does intent) float64 {
	sharp := func(x intent) bool { return x == intentRead || x == intentDelete || x == intentKnow }
	switch {
	case a == intentNone || does == intentNone:
		return 0
	case a == does:
		return 1
	case a == intentKnow && does == intentRead:
		return 0
	case sharp(a) || sharp(does):
		return -1
	}
	return 0
}
