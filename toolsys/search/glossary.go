package search

import (
	_ "embed" // the data
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed glossary.txt
var concepts string

//go:embed stopwords.txt
var stopwords string

// English is the code of the language that concepts are named in.
const english = "en"

// concept is a row of words that mean much the same.
type concept struct {
	// English are its words and phrases, the plainest first. A phrase has blanks.
	English []string
	// Others are its words in other languages.
	Others []foreignWord
}

// foreignWord is a word or phrase of a language other than English.
type foreignWord struct{ Lang, Text string }

// glossary is a list of concepts and stop words. It does not change.
type glossary struct {
	// Concepts are in the order of the file.
	Concepts []concept

	keys         [][]string      // the [phraseKey]s of each concept's English words, the plainest first
	foreignTerms [][]foreignTerm // of its other words

	english  map[string][]int      // key of an English phrase -> concepts
	unbroken map[foreignWord][]int // a word of a script without blanks -> concepts
	exact    map[foreignWord][]int // a folded word of another language -> concepts
	clipped  map[foreignWord][]int // such a word without its ending -> concepts
	stops    map[string]map[string]bool
	longest  int // characters of the longest unbroken word
}

// builtInGlossary is the glossary that is built in. It is read once.
var builtInGlossary = sync.OnceValue(func() *glossary {
	g, err := parseGlossary(concepts, stopwords)
	if err != nil {
		panic(err) // the data are part of the program, and a test reads them
	}
	return g
})

// parseGlossary reads a glossary and stop words. Errors name the line.
func parseGlossary(concepts, stopwords string) (*glossary, error) {
	g := &glossary{
		english: map[string][]int{}, unbroken: map[foreignWord][]int{}, exact: map[foreignWord][]int{}, clipped: map[foreignWord][]int{},
		stops: map[string]map[string]bool{},
	}
	if err := eachLine("stopwords.txt", stopwords, g.addStops); err != nil {
		return nil, err
	}
	if err := eachLine("glossary.txt", concepts, g.addConcept); err != nil {
		return nil, err
	}
	return g, nil
}

// eachLine hands on what is neither empty nor a comment.
func eachLine(file, text string, add func(string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := add(line); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return nil
}

func (g *glossary) addStops(line string) error {
	words := strings.Fields(line)
	if len(words[0]) != 2 || g.stops[words[0]] != nil {
		return fmt.Errorf("%q is no language, or has a line already", words[0])
	}
	set := map[string]bool{}
	for _, w := range words[1:] {
		set[fold(w)] = true
		g.enterUnbroken(foreignWord{words[0], w})
	}
	g.stops[words[0]] = set
	return nil
}

func (g *glossary) addConcept(line string) error {
	columns := strings.Split(line, "|")
	c := concept{English: phrases(columns[0])}
	if len(c.English) == 0 {
		return fmt.Errorf("a concept without an English word")
	}
	for _, column := range columns[1:] {
		lang, words, _ := strings.Cut(strings.TrimSpace(column), " ")
		if len(lang) != 2 || len(phrases(words)) == 0 {
			return fmt.Errorf("%q: write the language's code and its words", strings.TrimSpace(column))
		}
		for _, w := range phrases(words) {
			c.Others = append(c.Others, foreignWord{lang, w})
		}
	}
	g.enter(c)
	return nil
}

// phrases are the words of a column.
func phrases(column string) []string {
	return each(strings.Fields(column), func(w string) string { return strings.ReplaceAll(w, "_", " ") })
}

// enter makes a concept findable under all its words.
func (g *glossary) enter(c concept) {
	i := len(g.Concepts)
	g.Concepts = append(g.Concepts, c)
	var keys []string
	for _, phrase := range c.English {
		keys = append(keys, phraseKey(phrase))
		add(g.english, phraseKey(phrase), i)
	}
	g.keys = append(g.keys, keys)
	g.foreignTerms = append(g.foreignTerms, termsOf(c.Others))
	for _, w := range c.Others {
		if g.enterUnbroken(w, i) {
			continue
		}
		folded := foreignWord{w.Lang, foldAll(w.Text)}
		add(g.exact, folded, i)
		add(g.clipped, foreignWord{w.Lang, clip(folded.Text)}, i)
	}
}

// enterUnbroken makes a word findable within sentences, if its script has no blanks.
// A stop word leads to no concept: it only keeps others from being found in it.
func (g *glossary) enterUnbroken(w foreignWord, concepts ...int) bool {
	if runs := runsOf(w.Text); len(runs) != 1 || !runs[0].Unbroken {
		return false
	}
	n := utf8.RuneCountInString(w.Text)
	if n > 1 {
		w.Lang = ""
	}
	g.longest = max(g.longest, n)
	g.unbroken[w] = append(g.unbroken[w], concepts...)
	return true
}

// add notes a concept under a key, once.
func add[K comparable](index map[K][]int, key K, concept int) {
	list := index[key]
	if n := len(list); n == 0 || list[n-1] != concept {
		index[key] = append(list, concept)
	}
}

// foldAll folds each word of a phrase.
func foldAll(phrase string) string {
	return strings.Join(each(strings.Fields(phrase), fold), " ")
}

// endings are those of verbs and plurals in Romance languages and in German, the
// longer first.
var endings = []string{
	"iendo", "ieron", "ando", "aron", "aban", "amos", "emos", "imos", "eln", "ern", "est", "ons", "ent", "ant", "ado", "ada", "ido", "ida",
	"ar", "er", "ir", "re", "en", "em", "es", "ez", "as", "os", "is", "et", "te", "st", "a", "e", "i", "o", "s", "n", "t", "r",
}

// minStem is how many letters an ending has to leave.
const minStem = 4

// clip takes the ending off a folded word that is long enough without, so that
// buscar, busca and buscando are the same. It need not be a word.
func clip(word string) string {
	for _, e := range endings {
		if head, ok := strings.CutSuffix(word, e); ok && len(head) >= minStem {
			return head
		}
	}
	return word
}
