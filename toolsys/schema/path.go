package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// step is one descent from the root of an input: a member by name, or an item
// by index (index -1 marks a member).
type step struct {
	name  string
	index int
}

// path is a place in an input.
type path []step

// locate turns a validator's tokens into a path by looking at the value itself,
// since the tokens do not tell an index from a member that is called "2".
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

func (p path) member(name string) path {
	return append(slices.Clip(p), step{name: name, index: -1})
}

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
	for _, r := range s {
		if r != '_' && r != '-' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != "" && len(s) <= maxShown
}

// subject is how a sentence about this place begins.
func (p path) subject() string {
	if len(p) == 0 {
		return "The input"
	}
	return "The parameter " + p.quoted()
}

func (p path) quoted() string {
	return `"` + p.String() + `"`
}

// compare orders places as they are read: members by name, items by index.
func (p path) compare(q path) int {
	return slices.CompareFunc(p, q, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
}
