package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// node walks a tree in source order.
func (a *analysis) node(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		if n != nil {
			a.visit(n)
		}
		return true
	})
}

func (a *analysis) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Stmt:
		a.statement(n)
	case *syntax.CallExpr:
		a.callExpr(n)
	case *syntax.DeclClause:
		a.declaration(n)
	case *syntax.FuncDecl:
		if n.Name == nil {
			a.harmful()
			return
		}
		a.functions[n.Name.Value] = true
		a.class.Changes.Functions = append(a.class.Changes.Functions, n.Name.Value)
	case *syntax.CoprocClause:
		a.harmful()
	case *syntax.ProcSubst:
		if n.Op != syntax.CmdIn {
			a.harmful()
		}
	case *syntax.ForClause:
		a.loop(n)
	case *syntax.TestClause:
		a.testClause(n)
	case *syntax.ParamExp:
		a.parameter(n)
	case *syntax.ArithmExp:
		a.arithmetic(n.X)
	case *syntax.ArithmCmd:
		a.arithmetic(n.X)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			a.arithmetic(x)
		}
	}
}

func (a *analysis) statement(st *syntax.Stmt) {
	if st.Background || st.Coprocess || st.Disown {
		a.leftRunning = true
	}
	for _, rd := range st.Redirs {
		r := redirectOf(rd)
		if r.Write {
			a.harmful()
			a.class.Writes = append(a.class.Writes, r)
		}
		if strings.HasPrefix(r.Target, "/dev/tcp/") || strings.HasPrefix(r.Target, "/dev/udp/") || rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
			a.harmful()
			a.class.Network = true
		}
	}
	a.redirects = st.Redirs
}

func redirectOf(rd *syntax.Redirect) Redirect {
	w := wordOf(rd.Word)
	r := Redirect{Op: rd.Op.String(), Target: w.text}
	if rd.N != nil {
		r.Fd = rd.N.Value
	}
	if !w.literal {
		r.Target = w.source
	}
	switch rd.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
		return r
	case syntax.DplOut:
		if w.literal && (w.text == "-" || strings.Trim(w.text, "0123456789") == "") {
			return r
		}
	}
	r.Write = !w.literal || !harmlessTarget(w.text)
	return r
}

func harmlessTarget(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return false
}

// callExpr is a simple command, or assignments alone.
func (a *analysis) callExpr(c *syntax.CallExpr) {
	redirects := a.redirects
	a.redirects = nil
	for _, as := range c.Assigns {
		a.assignment(as, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordOf(w)
	}
	a.command(words, redirects)
}

// assignment notes NAME=value. Before a command it lasts for that command only.
func (a *analysis) assignment(as *syntax.Assign, forCommand bool) {
	if as.Name == nil {
		return
	}
	name := as.Name.Value
	if powerful(name) {
		a.harmful()
	}
	if as.Index != nil {
		a.arithmetic(as.Index)
	}
	if !forCommand {
		a.class.Changes.Vars = append(a.class.Changes.Vars, name)
	}
	if !plainNumber(as.Value) || as.Array != nil {
		a.tainted[name] = true
	}
}

func plainNumber(w *syntax.Word) bool {
	if w == nil {
		return true
	}
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ArithmExp); ok {
			return true
		}
	}
	lit := w.Lit()
	return lit != "" && strings.Trim(strings.TrimPrefix(lit, "-"), "0123456789") == ""
}

// powerful are variables that make other commands do other things.
func powerful(name string) bool {
	switch name {
	case "PATH", "BASH_ENV", "ENV", "IFS", "SHELL", "HOME", "PWD", "OLDPWD", "CDPATH", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "EDITOR", "VISUAL", "BROWSER",
		"LESSOPEN", "LESSCLOSE", "LESS", "MORE", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "TMPDIR", "NODE_OPTIONS", "GOFLAGS", "POSIXLY_CORRECT", "JQ_LIBRARY_PATH", "AWKPATH", "AWKLIBPATH", "GCONV_PATH", "LOCPATH", "NLSPATH":
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "BASH_FUNC", "SSH_", "MALLOC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "PAGER")
}

// declaration is export, declare, local, readonly, typeset.
func (a *analysis) declaration(d *syntax.DeclClause) {
	a.redirects = nil
	for _, as := range d.Args {
		if as.Name == nil { // an option, or decided at run time
			w := wordOf(as.Value)
			if !w.literal || !strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, "in") {
				a.harmful() // -i makes values arithmetic, -n makes names references
			}
			continue
		}
		a.assignment(as, false)
	}
	if len(d.Args) == 0 {
		a.class.Changes.Options = true
	}
	a.addPart(d.Variant.Value, d)
}

// addPart notes a declaration as a simple command.
func (a *analysis) addPart(name string, d *syntax.DeclClause) {
	text := printed(d)
	a.class.Parts = append(a.class.Parts, Part{Name: name, Args: strings.Fields(strings.TrimPrefix(text, name)), Text: text, Literal: !expands(d)})
}

func (a *analysis) loop(n *syntax.ForClause) {
	switch l := n.Loop.(type) {
	case *syntax.WordIter:
		if powerful(l.Name.Value) {
			a.harmful()
		}
		for _, item := range l.Items {
			if !plainNumber(item) {
				a.tainted[l.Name.Value] = true
			}
		}
		if len(l.Items) == 0 {
			a.tainted[l.Name.Value] = true
		}
	case *syntax.CStyleLoop:
		a.arithmetic(l.Init)
		a.arithmetic(l.Cond)
		a.arithmetic(l.Post)
	}
}

// testClause is [[ ... ]]: its comparisons of numbers evaluate arithmetic, -v evaluates subscripts.
func (a *analysis) testClause(t *syntax.TestClause) {
	syntax.Walk(t, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.BinaryTest:
			switch x.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				a.arithmeticText(x.X)
				a.arithmeticText(x.Y)
			}
		case *syntax.UnaryTest:
			if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) && !syntax.ValidName(wordOf(w).text) {
				a.harmful()
			}
		}
		return true
	})
}

// arithmeticText is a word whose text will be evaluated: what it expands to is evaluated again.
func (a *analysis) arithmeticText(x syntax.TestExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.harmful()
		return
	}
	a.evaluatedWord(w)
}
