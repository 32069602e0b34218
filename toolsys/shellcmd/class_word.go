package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command, as far as its text is known before running.
type word struct {
	text    string // what it expands to; the known beginning if it is not literal
	source  string
	literal bool // no expansion but a file pattern
	// opaque: it may turn into an option, or into several words. A pattern that begins with * is
	// opaque: a file may be named -delete.
	opaque  bool
	pattern bool // an unquoted file pattern, brace or tilde: not usable as a command's name
}

func wordOf(w *syntax.Word) word {
	out := word{source: sourceOf(w), literal: true}
	if w == nil {
		return out
	}
	known := true // all parts so far
	for _, part := range w.Parts {
		out.part(part, &known)
	}
	if strings.HasPrefix(out.text, "~") {
		out.pattern = true
	}
	if out.pattern && (out.text == "" || strings.IndexByte("*?[{@!+", out.text[0]) >= 0 || strings.Contains(out.text, "{")) {
		out.opaque = true
	}
	if !out.literal && out.text == "" {
		out.opaque = true
	}
	return out
}

func (w *word) part(part syntax.WordPart, known *bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		if unescaped(part.Value, "*?[") || unescaped(part.Value, "{") && (strings.Contains(part.Value, ",") || strings.Contains(part.Value, "..")) {
			w.pattern = true
		}
		w.add(unbackslash(part.Value, ""), *known)
	case *syntax.SglQuoted:
		if part.Dollar {
			w.add(ansiText(part), *known)
		} else {
			w.add(part.Value, *known)
		}
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				w.add(unbackslash(lit.Value, "$`\"\\\n"), *known)
				continue
			}
			w.literal, *known = false, false
			if p, ok := inner.(*syntax.ParamExp); ok && manyWords(p) {
				w.opaque = true
			}
		}
	default: // unquoted: it may split into words
		w.literal, *known, w.opaque = false, false, true
	}
}

func (w *word) add(s string, known bool) {
	if known {
		w.text += s
	}
}

// manyWords says whether a quoted parameter may still be several words, or none.
func manyWords(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Param.Value == "@" || p.Names != 0 || p.Excl {
		return true
	}
	if w, ok := p.Index.(*syntax.Word); ok {
		return w.Lit() == "@"
	}
	return false
}

func unescaped(s, set string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte(set, s[i]) >= 0 {
			return true
		}
	}
	return false
}

// unbackslash takes backslashes off, before any character or before those of set; an escaped newline is
// nothing at all.
func unbackslash(s, set string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (set == "" || strings.IndexByte(set, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiText gives the text of $'...'.
func ansiText(q *syntax.SglQuoted) string {
	s, err := expand.Literal(&expand.Config{Env: nobody{}}, &syntax.Word{Parts: []syntax.WordPart{q}})
	if err != nil {
		return ""
	}
	return s
}

// nobody is an environment that keeps ~ and ~user as they are, so that no user is looked up.
type nobody struct{}

func (nobody) Get(name string) expand.Variable {
	if user, ok := strings.CutPrefix(name, "HOME"); ok {
		return expand.Variable{Set: true, Kind: expand.String, Str: "~" + strings.TrimPrefix(user, " ")}
	}
	return expand.Variable{}
}

func (nobody) Each(func(string, expand.Variable) bool) {}

// sourceOf gives a word's source; the printer is only needed for words with expansions.
func sourceOf(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return printed(w)
			}
			b.WriteString("'" + part.Value + "'")
		case *syntax.DblQuoted:
			lit, ok := "", len(part.Parts) == 1 && !part.Dollar
			if ok {
				var l *syntax.Lit
				if l, ok = part.Parts[0].(*syntax.Lit); ok {
					lit = l.Value
				}
			}
			if !ok {
				return printed(w)
			}
			b.WriteString(`"` + lit + `"`)
		default:
			return printed(w)
		}
	}
	return b.String()
}

// printed gives a node's source in the printer's normal form.
func printed(n syntax.Node) string {
	if d, ok := n.(*syntax.DeclClause); ok {
		n = &syntax.Stmt{Cmd: d, Position: d.Pos()}
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// expands says whether something in n is only known at run time.
func expands(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
