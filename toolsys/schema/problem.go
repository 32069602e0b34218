package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxListed is how many problems [Problems.String] spells out; more would bury the ones a model can act on.
const maxListed = 20

// Problem is one way in which an input breaks its schema.
type Problem struct {
	// Path is the place in the input, such as edits[2].old_string; empty is the root.
	Path string
	// Keyword is the schema's keyword that was broken ("required", "type", ...), or
	// "json", "duplicate", "number", "decode" for what no schema can express.
	Keyword string
	// Message is a sentence about it made for the model.
	Message string

	at path
}

func newProblem(at path, keyword, message string) Problem {
	at = slices.Clone(at)
	return Problem{Path: at.String(), Keyword: keyword, Message: message, at: at}
}

// Problems is everything that is wrong with one input, sorted by place, then
// keyword, then message, without duplicates. Empty means valid.
type Problems []Problem

// String is the text a model gets: a header, then a line for each problem, the first 20 of them.
func (ps Problems) String() string {
	if len(ps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("The input does not match the tool's schema:")
	for i, p := range ps {
		if i == maxListed {
			fmt.Fprintf(&b, "\n... and %d more", len(ps)-maxListed)
			break
		}
		b.WriteString("\n- " + p.Message)
	}
	return b.String()
}

func (ps Problems) arranged() Problems {
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(a.at.compare(b.at), strings.Compare(a.Keyword, b.Keyword), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a.Path == b.Path && a.Keyword == b.Keyword && a.Message == b.Message })
}

// step is one descent from the root of an input: a member by name, or an item by index (index -1 marks a member).
type step struct {
	name  string
	index int
}

// path is a place in an input.
type path []step

// locate turns a validator's tokens into a path by looking at the value itself,
// since the tokens do not distinguish an index from a member that is called "2".
func locate(doc any, tokens []string) path {
	p := make(path, 0, len(tokens))
	for _, token := range tokens {
		switch v := doc.(type) {
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return p
			}
			p, doc = append(p, step{index: i}), v[i]
		case map[string]any:
			p, doc = append(p, step{name: token, index: -1}), v[token]
		default:
			return p
		}
	}
	return p
}

func (p path) member(name string) path { return append(slices.Clip(p), step{name: name, index: -1}) }

// String writes the path as the model would: edits[2].old_string.
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
		case !isName(s.name):
			fmt.Fprintf(&b, "[%s]", quoted(s.name))
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func isName(s string) bool {
	return s != "" && len(s) <= maxShown && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// subject is how a sentence about this place begins.
func (p path) subject() string {
	if len(p) == 0 {
		return "The input"
	}
	return "The parameter " + p.quoted()
}

func (p path) quoted() string { return `"` + p.String() + `"` }

// compare orders places as they are read: members by name, items by index.
func (p path) compare(q path) int {
	return slices.CompareFunc(p, q, func(a, b step) int { return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name)) })
}
