package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fold sets the classes of a read-only script.
func fold(s *Script, stmts []*syntax.Stmt) {
	names := significant(stmts)
	all := func(class set) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !class[n] })
	}
	s.Search, s.Read, s.List = all(tables.Search), all(tables.Read), all(tables.List)
}

// significant gives the names of the commands whose output a reader would care for.
func significant(stmts []*syntax.Stmt) []string {
	names := each(stmts, func(st *syntax.Stmt) []string { return significantIn(st.Cmd) })
	return slices.DeleteFunc(slices.Concat(names...), func(n string) bool { return tables.Neutral[n] })
}

func significantIn(cmd syntax.Command) []string {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return nil
		}
		return []string{baseName(unwrap(wordsOf(cmd))[0].Text)} // timeout 5 grep is grep
	case *syntax.BinaryCmd:
		left := significant([]*syntax.Stmt{cmd.X})
		if (cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll) && len(left) > 0 {
			return left
		}
		return append(left, significant([]*syntax.Stmt{cmd.Y})...)
	case nil:
		return nil
	}
	return slices.Concat(each(bodies(cmd), significant)...)
}

// bodies gives the statement lists of a compound command.
func bodies(cmd syntax.Command) [][]*syntax.Stmt {
	switch cmd := cmd.(type) {
	case *syntax.Block:
		return [][]*syntax.Stmt{cmd.Stmts}
	case *syntax.Subshell:
		return [][]*syntax.Stmt{cmd.Stmts}
	case *syntax.IfClause:
		out := [][]*syntax.Stmt{cmd.Cond, cmd.Then}
		if cmd.Else != nil {
			out = append(out, bodies(cmd.Else)...)
		}
		return out
	case *syntax.WhileClause:
		return [][]*syntax.Stmt{cmd.Cond, cmd.Do}
	case *syntax.ForClause:
		return [][]*syntax.Stmt{cmd.Do}
	case *syntax.CaseClause:
		return each(cmd.Items, func(item *syntax.CaseItem) []*syntax.Stmt { return item.Stmts })
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return [][]*syntax.Stmt{{cmd.Stmt}}
		}
	case *syntax.FuncDecl:
		return [][]*syntax.Stmt{{cmd.Body}}
	}
	return nil
}

// wordsOf gives a command's words, each as far as it is known by itself.
func wordsOf(c *syntax.CallExpr) []Word {
	scratch := newWalker(&Script{}, Env{})
	return each(c.Args, func(x *syntax.Word) Word {
		if fields := scratch.word(x); len(fields) == 1 {
			return fields[0]
		}
		return Word{Kind: Unknown, Source: sourceOf(x)}
	})
}

// scratch is a command that is looked at by itself.
func scratch(words []Word) *call {
	return &call{w: newWalker(&Script{}, Env{}), name: words[0].Text, args: words[1:], step: &Step{}}
}

// unwrap gives the words of the command behind wrappers.
func unwrap(list []Word) []Word {
	for range 10 {
		wr, ok := tables.Wrappers[baseName(list[0].Text)]
		if !ok {
			if list[0].Text != "xargs" && list[0].Text != "command" {
				return list
			}
			wr = wrapper{Short: "0rtxpd:E:I:L:n:P:s:", Long: "null no-run-if-empty"}
		}
		rest, ok := scratch(list).behind(wr)
		if !ok || len(rest) == 0 {
			return list
		}
		list = rest
	}
	return list
}

// SedEdit is an in-place substitution that can be shown to a person as an edit of one file (H3).
type SedEdit struct {
	Script   string
	Extended bool   // -E
	File     string // as written
}

// Apply gives what the edit makes of a file's content.
func (e SedEdit) Apply(content string) (string, error) {
	prog, err := ParseSed(e.Script, e.Extended)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	_, _, err = prog.Run(strings.NewReader(content), SedOptions{Out: &out})
	return out.String(), err
}

// sedEdit recognises sed -i [-E] [-e] 's/../../' FILE as a whole script.
func sedEdit(file *syntax.File) *SedEdit {
	if len(file.Stmts) != 1 {
		return nil
	}
	st := file.Stmts[0]
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || len(st.Redirs) > 0 || len(c.Assigns) > 0 || len(c.Args) < 4 {
		return nil
	}
	words := wordsOf(c)
	if slices.ContainsFunc(words, func(w Word) bool { return w.Kind != Literal }) || words[0].Text != "sed" {
		return nil
	}
	p, ok := scratch(words).parse(spec{Short: "Eri::e:", Long: "expression= in-place? regexp-extended"})
	script, operands, literal := sedScript(p)
	keeps := slices.ContainsFunc(p.options, func(o option) bool { return o.name[0] == 'i' && o.value.Text != "" })
	if !ok || !literal || keeps || !p.given("i", "in-place") || len(operands) != 1 {
		return nil
	}
	e := &SedEdit{Script: script, Extended: p.given("E", "r", "regexp-extended"), File: operands[0].Text}
	prog, err := ParseSed(script, e.Extended)
	if err != nil || !prog.Substitution() {
		return nil
	}
	return e
}
