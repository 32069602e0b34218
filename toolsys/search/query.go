package search

import (
	"errors"
	"slices"
	"strings"
)

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
	q := Query{Text: strings.ToLower(text), Raw: unplussed(text)}
	var plain []string
	for field := range strings.FieldsSeq(q.Text) {
		if word, must := strings.CutPrefix(field, "+"); must {
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
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Query{}, errors.New("search: no name after select:; give names with commas between them")
	}
	return Query{Select: unique(names)}, nil
}

// unplussed is a text without the plus signs that words begin with.
func unplussed(text string) string {
	fields := strings.Fields(text)
	for i, f := range fields {
		fields[i] = strings.TrimPrefix(f, "+")
	}
	return strings.Join(fields, " ")
}

// rankedText is what is to be ranked: the query as written, or the words of one that
// was put together by hand.
func (q Query) rankedText() string {
	if q.Raw != "" {
		return q.Raw
	}
	return strings.Join(q.Words, " ")
}
