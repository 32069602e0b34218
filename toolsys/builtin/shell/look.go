package shell

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sight is what a look at the syntax shows beside the simple commands.
type sight struct {
	// sides are redirections that write ("> out.txt") and commands with the
	// assignments in front of them ("FOO=1 make"). None of them counts as reading.
	sides []string
	// reads are the files that redirections read.
	reads []string
	// unknown is true where a file read is not a plain word, and where a variable
	// is set that a later command may look at.
	unknown bool
}

// look goes through a command's syntax; one that does not parse shows nothing.
func look(command string) sight {
	var s sight
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return s
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			s.redirect(n)
		case *syntax.CallExpr:
			if len(n.Assigns) > 0 {
				s.sides, s.unknown = append(s.sides, source(n)), true
			}
		case *syntax.DeclClause:
			s.sides, s.unknown = append(s.sides, source(n)), true
		}
		return true
	})
	return s
}

// harmless are the files that a redirection may write without being a part.
var harmless = []string{"/dev/null", "/dev/stdout", "/dev/stderr"}

func (s *sight) redirect(r *syntax.Redirect) {
	target, plain := r.Word.Lit(), r.Word.Lit() != ""
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
	case syntax.RdrIn:
		s.reads = append(s.reads, target)
		s.unknown = s.unknown || !plain
	case syntax.DplIn, syntax.DplOut:
		if plain && strings.Trim(target, "0123456789-") == "" {
			return // 2>&1 and the like
		}
		s.sides = append(s.sides, r.Op.String()+" "+source(r.Word))
	default:
		if !slices.Contains(harmless, target) {
			s.sides = append(s.sides, r.Op.String()+" "+source(r.Word))
		}
	}
}

func source(n syntax.Node) string {
	var out bytes.Buffer
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&out, n); err != nil {
		return "" // into memory, a node that was just parsed
	}
	return strings.TrimSpace(out.String())
}
