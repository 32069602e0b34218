package search

import (
	"regexp"
	"strings"

	"toolbench/toolsys/search/terms"
)

// heard is a word of a query.
type heard struct {
	text   string // folded
	root   string
	weight float64
	kept   bool // counts although it is a stop word
}

// asides are parts of a query that give values rather than say what to do with
// them: placeholders and addresses.
var asides = regexp.MustCompile(`<[^<>\s]{1,64}>|\S+://\S+|\S+@\S+`)

// hear takes a query apart: words, at most mostWords of them, and what has no
// blanks. What is said beyond mostText is not heard.
func (l *lexicon) hear(text string) (words []heard, sentences []string) {
	text = terms.Normal(strings.ToValidUTF8(text[:min(len(text), mostText)], ""))
	aside := asides.FindAllStringIndex(text, -1)
	for _, run := range terms.Runs(text) {
		for len(aside) > 0 && aside[0][1] <= run.Start {
			aside = aside[1:]
		}
		switch {
		case len(words)+len(sentences) >= mostWords:
			return words, sentences
		case run.Unbroken:
			sentences = append(sentences, run.Text)
		case len(aside) > 0 && aside[0][0] <= run.Start:
			words = l.hearWord(words, run.Text, weightAside)
		default:
			words = l.hearWord(words, run.Text, 1)
		}
	}
	return words, sentences
}

// hearWord adds a word, by its parts where it is not known whole.
func (l *lexicon) hearWord(words []heard, text string, weight float64) []heard {
	whole := terms.Fold(text)
	parts := []string{whole}
	if _, known := l.ids[terms.Root(whole)]; !known {
		parts = terms.Parts(text)
	}
	for _, p := range parts {
		p = terms.Fold(p)
		words = append(words, heard{text: p, root: terms.Root(p), weight: weight})
	}
	return words
}

// joined are words with a blank between them.
func joined(words []heard) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}
