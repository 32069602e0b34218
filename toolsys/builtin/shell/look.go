package shell

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sight is what a look at the syntax shows beside what a Class tells.
type sight struct {
	// assigned are commands with the assignments in front of them ("FOO=1 make"),
	// and declarations.
	assigned []string
	// reads are the files that redirections read.
	reads []string
	// loops are the variables of loops.
	loops []string
	// unknown is true where a file read is not a plain word, and where a variable
	// is set that a later command may look at.
	unknown bool
	// plain: nothing but simple commands of words that are written out, joined by
	// &&, ||, | and ;, with redirections; nothing is left running.
	plain bool
}

// look goes through a command's syntax; one that does not parse shows nothing.
func look(command string) sight {
	var s sight
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return s
	}
	s.plain = true
	syntax.Walk(file, func(n syntax.Node) bool {
		s.plain = s.plain && plain(n)
		switch n := n.(type) {
		case *syntax.Redirect:
			s.redirect(n)
		case *syntax.CallExpr:
			if len(n.Assigns) > 0 {
				s.assigned, s.unknown = append(s.assigned, source(n)), true
			}
		case *syntax.WordIter:
			s.loop(n)
		case *syntax.DeclClause:
			s.assigned, s.unknown = append(s.assigned, source(n)), true
		}
		return true
	})
	return s
}

// plain tells whether a node is one that a plain command may have.
func plain(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		return !n.Background && !n.Coprocess && !n.Disown
	case *syntax.CallExpr:
		return len(n.Assigns) == 0
	case *syntax.Redirect:
		return n.N == nil || strings.Trim(n.N.Value, "0123456789") == ""
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.BinaryCmd:
		return n.Op == syntax.AndStmt || n.Op == syntax.OrStmt || n.Op == syntax.Pipe
	case nil, *syntax.File, *syntax.Word, *syntax.Lit, *syntax.Comment:
		return true
	}
	return false
}

func (s *sight) redirect(r *syntax.Redirect) {
	if r.Op != syntax.RdrIn && r.Op != syntax.RdrInOut {
		return
	}
	target := wordValue(r.Word)
	s.reads = append(s.reads, target)
	s.unknown = s.unknown || target == "" || !written(r.Word)
}

// loop: the words that a loop goes through may be patterns, which are looked up
// whatever is then done with them.
func (s *sight) loop(w *syntax.WordIter) {
	s.loops = append(s.loops, w.Name.Value)
	for _, word := range w.Items {
		switch {
		case !written(word):
			s.unknown = true
		case looseWord(word, variables{}) == pattern:
			s.reads = append(s.reads, wordValue(word))
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
