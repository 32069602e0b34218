package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/shellcmd"
)

// looseness is what the shell may make of a word before the command sees it.
type looseness int

const (
	// fixed: the word is what it says.
	fixed looseness = iota
	// pattern: it may become names of files, which the word itself bounds.
	pattern
	// open: a value that is not known here is put in unquoted, and may itself be
	// such a pattern.
	open
)

// arguments are a part's arguments as its command will see them, as far as they
// are written out, and what the shell may make of each first. Where the part's
// text does not tell, it may make anything of all of them.
func arguments(p shellcmd.Part, v variables) (values []string, loose []looseness) {
	words := argumentsOf(p.Text)
	for i, arg := range p.Args {
		worst := open
		if len(words) == len(p.Args) {
			arg, worst = wordValue(words[i]), looseWord(words[i], v)
		}
		values, loose = append(values, arg), append(loose, worst)
	}
	return values, loose
}

func argumentsOf(text string) []*syntax.Word {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	return call.Args[1:]
}

// variables are those a command starts with, and the names of those it changes.
type variables struct {
	env     map[string]string
	changed []string
}

// harmless tells whether a variable's value is known to hold no pattern.
func (v variables) harmless(name string) bool {
	switch {
	case strings.Contains("?#$!-", name):
		return true
	case strings.Contains("@*", name) || strings.Trim(name, "0123456789") == "":
		return false // a function's arguments
	}
	return !slices.Contains(v.changed, name) && !strings.ContainsAny(v.env[name], "*?[")
}

// looseWord looks at the parts of a word that stand outside quotes. A variable
// whose value holds no pattern brings none in.
func looseWord(w *syntax.Word, v variables) looseness {
	worst := fixed
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[{") {
				worst = max(worst, pattern)
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				worst = open // its escapes are not read here
			}
		case *syntax.DblQuoted, *syntax.ArithmExp:
		case *syntax.ParamExp:
			if !part.Short || !v.harmless(part.Param.Value) {
				worst = open
			}
		default:
			worst = open
		}
	}
	return worst
}

// wordValue is a word without its quotes and escapes; expansions are left out.
func wordValue(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(part.Value, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(unescaped(lit.Value, "\"\\$`\n"))
				}
			}
		}
	}
	return b.String()
}

// unescaped takes out the backslashes that quote the next character: any, or one
// of those given.
func unescaped(s, only string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue // a line that goes on
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// written tells whether all of a word is written out.
func written(w *syntax.Word) bool {
	expands := false
	for _, part := range w.Parts {
		syntax.Walk(part, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Lit, *syntax.DblQuoted, nil:
			case *syntax.SglQuoted:
				expands = expands || n.Dollar
			default:
				expands = true
			}
			return true
		})
	}
	return !expands
}
