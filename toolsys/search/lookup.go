package search

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPhrase is how many words a phrase has at most.
const maxPhrase = 4

// phraseKey is what forms of an English word or phrase share.
func phraseKey(phrase string) string {
	return strings.Join(each(strings.Fields(phrase), func(w string) string { return rootOf(fold(w)) }), " ")
}

// foreignTerm is what texts of another language have of a word: the word without English
// endings, or one of the pairs of characters that make it up and its share of it.
type foreignTerm struct {
	Text  string
	Share float64
}

// termsOf are what texts of other languages have of a concept. A single character is none: it is in too many words.
func termsOf(c concept) []foreignTerm {
	var all []foreignTerm
	for _, column := range c.columns {
		for _, run := range runsOf(strings.ReplaceAll(column[3:], "_", " ")) {
			switch {
			case !run.Unbroken:
				all = append(all, foreignTerm{rootOf(fold(run.Text)), 1})
			case utf8.RuneCountInString(run.Text) > 1:
				grams := gramsOf(run.Text)
				for _, gram := range grams {
					all = append(all, foreignTerm{gram, 1 / float64(len(grams))})
				}
			}
		}
	}
	return all
}

// Foreign finds the concepts of a word or phrase of another language that sets
// blanks: as it stands, else by what is left without its ending.
func (g *glossary) Foreign(lang, phrase string) []int {
	x, folded := g.indexFor(lang, phrase), fold(phrase)
	if found := x.exact[folded]; found != nil {
		return found
	}
	return x.clipped[clip(lang, folded)]
}

// Exactly finds the concepts of a word or phrase as it stands.
func (g *glossary) Exactly(lang, phrase string) []int {
	return g.indexFor(lang, phrase).exact[fold(phrase)]
}

// indexFor is the index of a language; it is empty for a phrase in letters that the language does not have.
func (g *glossary) indexFor(lang, phrase string) *foreignIndex {
	own := ownScript(phrase)
	if g.foreign[lang] == nil || own != lang && !(own == "ru" && lang == "uk") && (own != "" || slices.Contains(notLatin, lang)) {
		return &foreignIndex{}
	}
	return g.foreign[lang]()
}

// ownScript is the first language of the glossary that sets blanks and is written in a word's script; empty for Latin.
func ownScript(word string) string {
	switch first, _ := utf8.DecodeRuneInString(word); {
	case unicode.Is(unicode.Cyrillic, first):
		return "ru"
	case unicode.Is(unicode.Arabic, first):
		return "ar"
	case unicode.Is(unicode.Devanagari, first):
		return "hi"
	}
	return ""
}

// piece is a word found in a sentence without blanks.
type piece struct {
	Text     string
	Concepts []int
}

// TakeApart finds the glossary's words in such a sentence, from the left, the longest that fits, and the stretches
// that lie between its stop words. What lies between the words is passed over. A single character is a word of the
// sentence's own language only: what is a word in one is a syllable in another.
func (g *glossary) TakeApart(sentence string) (pieces []piece, parts []string) {
	lang := scriptOf(sentence)
	runes := []rune(sentence)
	from := 0
	for i := 0; i < len(runes); {
		n, concepts := g.unbroken().longestAt(runes[i:], lang)
		switch {
		case len(concepts) > 0:
			pieces = append(pieces, piece{string(runes[i : i+n]), concepts})
		case n > 0:
			if i > from {
				parts = append(parts, string(runes[from:i]))
			}
			from = i + n
		}
		i += max(n, 1)
	}
	if from < len(runes) {
		parts = append(parts, string(runes[from:]))
	}
	return pieces, parts
}

// longestAt is the longest of the glossary's words that a sentence begins with.
func (x *unbrokenIndex) longestAt(runes []rune, lang string) (int, []int) {
	for n := min(x.longest, len(runes)); n > 0; n-- {
		w := foreignWord{Text: string(runes[:n])}
		if n == 1 {
			w.Lang = lang
		}
		if concepts, known := x.words[w]; known {
			return n, concepts
		}
	}
	return 0, nil
}

// scriptOf is the language of a sentence by its characters: Japanese where there are Kana, else Chinese.
func scriptOf(sentence string) string {
	kana := func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }
	hangul := func(r rune) bool { return unicode.Is(unicode.Hangul, r) }
	switch {
	case strings.ContainsFunc(sentence, kana):
		return "ja"
	case strings.ContainsFunc(sentence, hangul):
		return "ko"
	}
	return "zh"
}

// Languages are those with stop words, in order.
func (g *glossary) Languages() []string { return slices.Sorted(maps.Keys(g.stops)) }

// Language is the language of a text and its folded words: that of which most are in the glossary, as stop words or in a
// concept, less the letters that it does not have. It is English where no other has more.
func (g *glossary) Language(text string, words []string) string {
	best, most := english, 0
	for _, w := range words {
		if g.stops[english][w] || g.english[rootOf(w)] != nil {
			most++
		}
	}
	if most == len(words) {
		return english
	}
	for _, lang := range g.Languages() {
		n := -lacking(lang, text)
		for _, w := range words {
			if g.stops[lang][w] || g.Foreign(lang, w) != nil {
				n++
			}
		}
		if n > most {
			best, most = lang, n
		}
	}
	return best
}

// lacking is how many of the accented Latin letters of a text a language does not have.
func lacking(lang, text string) (n int) {
	own := strings.Join(forms()[lang+"!"], "")
	for _, r := range strings.ToLower(text) {
		if r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r) && !strings.ContainsRune(own, r) {
			n++
		}
	}
	return n
}

// Query is what the model asked for, parsed (SPEC E5).
type Query struct {
	// Text is the query, trimmed, in lower case: what is compared with names.
	Text string
	// Raw is the query as it was written, trimmed, without the plus signs: case
	// shows where a word ends, and words need not be apart in every language.
	Raw string
	// Select are the exact names of a select: query; then the rest is empty.
	Select []string
	// Required are the words after a plus, which must be in the name.
	Required []string
	// Words are scored, those of Required among them.
	Words []string
}

// selectPrefix begins a query for exact names.
const selectPrefix = "select:"

// ParseQuery reads a query: `select:A,B`, or words of which some begin with a
// plus (SPEC E5). A query that asks for nothing is an error.
func ParseQuery(text string) (Query, error) {
	text = strings.TrimSpace(text)
	if len(text) >= len(selectPrefix) && strings.EqualFold(text[:len(selectPrefix)], selectPrefix) {
		return parseSelect(text[len(selectPrefix):])
	}
	unplussed := each(strings.Fields(text), func(w string) string { return strings.TrimPrefix(w, "+") })
	q := Query{Text: strings.ToLower(text), Raw: strings.Join(unplussed, " ")}
	var plain []string
	for field := range strings.FieldsSeq(q.Text) {
		if word, must := strings.CutPrefix(field, "+"); must && strings.TrimLeft(word, "0123456789") == word { // and no telephone number
			q.Required = append(q.Required, strings.Trim(word, `,.;:!?"'`))
		} else {
			plain = append(plain, field)
		}
	}
	q.Required = slices.DeleteFunc(unique(q.Required), func(w string) bool { return w == "" })
	q.Words = contentWords(wordsOf(strings.Join(append(plain, q.Required...), " ")))
	if len(q.Words) == 0 && len(q.Required) == 0 {
		return Query{}, errors.New(`search: an empty query; give words, or select: and names`)
	}
	return q, nil
}

// parseSelect reads the names after select:.
func parseSelect(list string) (Query, error) {
	names := unique(each(strings.Split(list, ","), strings.TrimSpace))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if len(names) == 0 {
		return Query{}, errors.New("search: no name after select:; give names with commas between them")
	}
	return Query{Select: names}, nil
}

// rankedText is what is to be ranked: the query as written, or the words of one that was put together by hand.
func (q Query) rankedText() string { return cmp.Or(q.Raw, strings.Join(q.Words, " ")) }
