package shell

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ErrUnsupported is wrapped by Run's error for a script that needs what the in-process shell lacks. Such
// a script is refused before any of it runs.
var ErrUnsupported = errors.New("not supported in the in-process shell")

// internalMark begins the file names by which rewritten redirections reach the open handler (redirect.go). A
// script cannot name such a file by accident.
const internalMark = "\x01vshell:"

// renamed begins the names of the variables whose values the interpreter would take from the host.
const renamed = "__vshell_"

// rewriter changes a syntax tree in place, so that running it needs no pipe. What it writes can be
// printed and parsed again: eval and source go that way.
type rewriter struct {
	pipefail   bool // the script may set it
	pipestatus bool
	keyed      bool                  // the script may declare arrays with keys
	stage      map[*syntax.Stmt]bool // a | b within a | b | c: all of it is rewritten at once
	err        error
}

func rewrite(file *syntax.File, script string) error {
	w := &rewriter{pipefail: strings.Contains(script, "pipefail"), pipestatus: strings.Contains(script, "PIPESTATUS"), keyed: strings.Contains(script, "-A"), stage: map[*syntax.Stmt]bool{}}
	var nodes []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n != nil {
			nodes = append(nodes, n)
		}
		return true
	})
	for _, n := range nodes {
		w.refuse(n)
		if pipe, ok := n.(*syntax.BinaryCmd); ok && piped(pipe) {
			w.stage[pipe.X], w.stage[pipe.Y] = true, true
		}
		if sub, ok := n.(*syntax.CmdSubst); ok && len(sub.Stmts) == 1 && readsFile(sub.Stmts[0]) {
			sub.Stmts[0].Cmd = &syntax.CallExpr{Args: []*syntax.Word{literal("cat")}}
		}
	}
	if w.err != nil {
		return w.err
	}
	for i := len(nodes) - 1; i >= 0; i-- { // children before parents
		w.node(nodes[i])
	}
	return nil
}

func piped(cmd *syntax.BinaryCmd) bool { return cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll }

// readsFile reports whether a statement is that of $(<file), which the interpreter would read by itself.
func readsFile(st *syntax.Stmt) bool {
	return st.Cmd == nil && !st.Negated && !st.Background && len(st.Redirs) == 1 && st.Redirs[0].Op == syntax.RdrIn
}

func (w *rewriter) unsupported(n syntax.Node, what string) {
	if w.err == nil {
		w.err = fmt.Errorf("line %d: %s: %w", n.Pos().Line(), what, ErrUnsupported)
	}
}

func (w *rewriter) refuse(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ProcSubst:
		if n.Op != syntax.CmdIn {
			w.unsupported(n, "process substitution >(...)")
		}
	case *syntax.Lit:
		if hugeRange(n.Value) {
			w.unsupported(n, "a range of more than a million words")
		}
	case *syntax.CoprocClause:
		w.unsupported(n, "coproc")
	case *syntax.ForClause:
		if n.Select {
			w.unsupported(n, "select")
		}
	case *syntax.Redirect:
		if n.N != nil && n.N.Value != "0" && n.N.Value != "1" && n.N.Value != "2" {
			w.unsupported(n, "redirection of file descriptor "+n.N.Value)
		}
	}
}

// ranges finds {1..9}; the interpreter would make all the words at once.
var ranges = regexp.MustCompile(`\{(-?[0-9]+)\.\.(-?[0-9]+)`)

func hugeRange(lit string) bool {
	return slices.ContainsFunc(ranges.FindAllStringSubmatch(lit, -1), func(m []string) bool {
		a, errA := strconv.ParseFloat(m[1], 64)
		b, errB := strconv.ParseFloat(m[2], 64)
		return errA != nil || errB != nil || math.Abs(a-b) > 1e6
	})
}

func (w *rewriter) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Stmt:
		w.statement(n)
	case *syntax.CmdSubst:
		w.substitution(n)
	case *syntax.FuncDecl:
		nesting(n.Body)
	case *syntax.WhileClause:
		n.Do = append([]*syntax.Stmt{empty("turn")}, n.Do...) // turns are counted
	case *syntax.ForClause:
		if _, ok := n.Loop.(*syntax.CStyleLoop); ok {
			n.Do = append([]*syntax.Stmt{empty("turn")}, n.Do...)
		}
	case *syntax.Word:
		for i, part := range n.Parts {
			if ps, ok := part.(*syntax.ProcSubst); ok {
				n.Parts[i] = w.process(ps)
			}
		}
		w.counts(n.Parts)
	case *syntax.DblQuoted:
		w.counts(n.Parts)
	case *syntax.ParamExp:
		w.parameter(n)
	case *syntax.Assign:
		if n.Name != nil {
			n.Name.Value = rename(n.Name.Value)
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsUsrOwn || n.Op == syntax.TsGrpOwn || n.Op == syntax.TsModif {
			n.Op = syntax.TsExists // there is one user, and no access times
		}
	case *syntax.ArithmExp:
		w.arithmetic(n.X)
	case *syntax.ArithmCmd:
		w.arithmetic(n.X)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			w.arithmetic(x)
		}
	}
}

// rename gives another name to the variables that the interpreter would answer from the host.
func rename(name string) string {
	switch name {
	case "RANDOM", "SRANDOM", "PPID":
		return renamed + name
	case "$":
		return renamed + "PID"
	case "!":
		return renamed + "BANG"
	}
	return name
}

// counts makes of ${#name[@]} the number of words that its elements are, since the interpreter takes it for 1
// where an array has keys: $(set -- "${name[@]}"; echo $#).
func (w *rewriter) counts(parts []syntax.WordPart) {
	if !w.keyed {
		return
	}
	for i, part := range parts {
		p, ok := part.(*syntax.ParamExp)
		if !ok || !p.Length || p.Index == nil {
			continue
		}
		index, ok := p.Index.(*syntax.Word)
		if !ok || index.Lit() != "@" && index.Lit() != "*" {
			continue
		}
		all := &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: p.Param, Index: literal("@")}}}
		set := &syntax.CallExpr{Args: []*syntax.Word{literal("set"), literal("--"), {Parts: []syntax.WordPart{all}}}}
		echo := &syntax.CallExpr{Args: []*syntax.Word{literal("echo"), {Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "#"}}}}}}
		parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: set}, {Cmd: echo}}}
	}
}

func (w *rewriter) parameter(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	if p.Param.Value == "LINENO" {
		p.Param.Value = renamed + "LINE_" + strconv.Itoa(int(p.Pos().Line()))
	}
	p.Param.Value = rename(p.Param.Value)
	if strings.HasPrefix(p.Param.Value, renamed) {
		p.Short = false
	}
}

// arithmetic renames plain names in an arithmetic expression, where they need no dollar.
func (w *rewriter) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			if lit := word.Lit(); lit != "" && rename(lit) != lit {
				word.Parts[0].(*syntax.Lit).Value = rename(lit)
			}
		}
		return true
	})
}

func (w *rewriter) statement(st *syntax.Stmt) {
	for _, rd := range st.Redirs {
		w.redirect(rd)
	}
	measured(st)
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if piped(cmd) && !(w.stage[st] && len(st.Redirs) == 0) {
			st.Cmd = w.pipeline(stages(st))
		}
	case *syntax.TimeClause:
		w.timed(st, cmd)
	}
	if st.Background {
		w.background(st)
	}
}
