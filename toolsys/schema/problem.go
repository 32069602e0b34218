package schema

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is how many problems [Problems.String] spells out; more would bury
// the ones a model can act on.
const maxListed = 20

// Problem is one way in which an input breaks its schema.
type Problem struct {
	// Path is the place in the input, such as edits[2].old_string; empty is the root.
	Path string
	// Keyword is the schema's keyword that was broken ("required", "type", ...), or
	// "json", "duplicate", "number", "decode" for what no schema can say.
	Keyword string
	// Message says it in a sentence made for the model.
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

// String is the text a model gets: a header, then a line for each problem, the
// first 20 of them.
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
		if c := a.at.compare(b.at); c != 0 {
			return c
		}
		if c := strings.Compare(a.Keyword, b.Keyword); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		return a.Path == b.Path && a.Keyword == b.Keyword && a.Message == b.Message
	})
}
