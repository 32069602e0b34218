package shellcmd

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds brackets in brackets: the parser recurses.
const maxNesting = 1000

var errNesting = errors.New("nested too deeply")

// Parse reads a Bash script. Brackets nested too deeply are an error, since the
// parser recurses.
func Parse(script string) (*syntax.File, error) {
	depth := 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{':
			if depth++; depth > maxNesting {
				return nil, errNesting
			}
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "bash")
}
