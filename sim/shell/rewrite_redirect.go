package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect turns every redirection of input into one of standard error that passes everything through:
// opening it sets standard input, closing it puts the old one back. Redirections of output keep what
// they are; their file names learn the line they stand in, for messages.
func (w *rewriter) redirect(rd *syntax.Redirect) {
	line := strconv.Itoa(int(rd.Pos().Line()))
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		w.input(rd, "text", line, w.heredoc(rd))
	case syntax.WordHdoc:
		w.input(rd, "string", line, rd.Word.Parts)
	case syntax.RdrIn, syntax.RdrInOut:
		w.input(rd, "open", line, tilde(rd.Word.Parts))
	case syntax.DplIn:
		switch rd.Word.Lit() {
		case "-":
			w.input(rd, "null", line, nil)
		case "0":
			w.input(rd, "nop", line, nil)
		default:
			w.unsupported(rd, "redirection of a file descriptor other than 0, 1 and 2")
		}
	case syntax.RdrClob:
		rd.Op = syntax.RdrOut
		w.output(rd, line)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		w.output(rd, line)
	case syntax.DplOut:
		if lit := rd.Word.Lit(); rd.N == nil && lit != "-" && strings.Trim(lit, "0123456789") != "" {
			rd.Op = syntax.RdrAll // >&file
			w.output(rd, line)
		}
	}
}

func (w *rewriter) input(rd *syntax.Redirect, kind, line string, parts []syntax.WordPart) {
	head := quoted(internalMark + kind + ":" + line + ":")
	*rd = syntax.Redirect{OpPos: rd.OpPos, Op: syntax.RdrOut, N: &syntax.Lit{Value: "2"}, Word: &syntax.Word{Parts: append([]syntax.WordPart{head}, parts...)}}
}

func (w *rewriter) output(rd *syntax.Redirect, line string) {
	head := quoted(internalMark + "write:" + line + ":")
	rd.Word = &syntax.Word{Parts: append([]syntax.WordPart{head}, tilde(rd.Word.Parts)...)}
}

// tilde replaces a leading ~ by $HOME: it would not be the first thing in its word any more.
func tilde(parts []syntax.WordPart) []syntax.WordPart {
	if len(parts) == 0 {
		return parts
	}
	lit, ok := parts[0].(*syntax.Lit)
	if !ok || lit.Value != "~" && !strings.HasPrefix(lit.Value, "~/") {
		return parts
	}
	home := &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "HOME"}}}}
	return append([]syntax.WordPart{home, &syntax.Lit{Value: lit.Value[1:]}}, parts[1:]...)
}

// heredoc makes one double-quoted string of a here-document's body: the two expand alike, but for the
// double quote itself.
func (w *rewriter) heredoc(rd *syntax.Redirect) []syntax.WordPart {
	if rd.Hdoc == nil {
		return nil
	}
	plain := slices.ContainsFunc(rd.Word.Parts, func(part syntax.WordPart) bool { // its delimiter is quoted
		lit, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	out := &syntax.DblQuoted{}
	atLineStart := true
	for _, part := range rd.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			out.Parts = append(out.Parts, part)
			atLineStart = false
			continue
		}
		value := lit.Value
		if rd.Op == syntax.DashHdoc {
			value = untab(value, atLineStart)
		}
		atLineStart = strings.HasSuffix(value, "\n")
		out.Parts = append(out.Parts, &syntax.Lit{Value: requote(value, plain)})
	}
	return []syntax.WordPart{out}
}

// untab strips the tabs that lines begin with.
func untab(s string, atLineStart bool) string {
	lines := strings.SplitAfter(s, "\n")
	for i := range lines {
		if i > 0 || atLineStart {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
	}
	return strings.Join(lines, "")
}

// requote makes a body's text safe between double quotes. In a plain body nothing has a meaning; in the
// other kind the escapes of $, ` and \ stay.
func requote(s string, plain bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || plain && (c == '$' || c == '`' || c == '\\'):
			b.WriteByte('\\')
		case c == '\\' && i+1 < len(s) && strings.IndexByte("$`\\\n", s[i+1]) >= 0:
			b.WriteByte(c)
			i++
			c = s[i]
		case c == '\\':
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// stage is one command of a pipeline; both is set where |& follows it.
type stage struct {
	stmt *syntax.Stmt
	both bool
}

// stages flattens a | b | c.
func stages(st *syntax.Stmt) []stage {
	cmd, ok := st.Cmd.(*syntax.BinaryCmd)
	if !ok || !piped(cmd) || len(st.Redirs) > 0 {
		return []stage{{stmt: st}}
	}
	left := stages(cmd.X)
	left[len(left)-1].both = cmd.Op == syntax.PipeAll
	return append(left, stages(cmd.Y)...)
}

// pipeline makes of a | b | c
//
//	{ if (a) >out; (b) 2>in >out; 2>end; then 2>nop; fi; (c) 2>in; }
//
// The condition keeps errexit away from all but the last command. Each `in` finds the status of the
// stage before it in $?. With pipefail and PIPESTATUS in the script, what needs them is added.
func (w *rewriter) pipeline(list []stage) syntax.Command {
	var cond []*syntax.Stmt
	for i, s := range list[:len(list)-1] {
		st := subshell(s.stmt)
		if i > 0 {
			st.Redirs = append(st.Redirs, doorway("2", "in"))
		}
		kind := "out"
		if i == 0 {
			kind = "first"
		}
		st.Redirs = append(st.Redirs, doorway("", kind))
		if s.both {
			st.Redirs = append(st.Redirs, &syntax.Redirect{N: &syntax.Lit{Value: "2"}, Op: syntax.DplOut, Word: literal("1")})
		}
		cond = append(cond, st)
	}
	cond = append(cond, empty("end"))
	last := subshell(list[len(list)-1].stmt)
	last.Redirs = append(last.Redirs, doorway("2", "last"))
	if w.pipestatus {
		last = binary(syntax.OrStmt, last, call(internalRecord, "$?"))
	}
	if w.pipefail {
		isOff := &syntax.Stmt{Cmd: &syntax.TestClause{X: &syntax.UnaryTest{Op: syntax.TsNot, X: &syntax.UnaryTest{Op: syntax.TsOptSet, X: literal("pipefail")}}}}
		last = binary(syntax.AndStmt, last, &syntax.Stmt{Cmd: &syntax.Block{Stmts: []*syntax.Stmt{binary(syntax.OrStmt, isOff, call(internalPipefail, ""))}}})
	}
	return &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: &syntax.IfClause{Cond: cond, Then: []*syntax.Stmt{empty("nop")}}}, last}}
}

// subshell puts a stage into a subshell, as Bash does with every stage.
func subshell(st *syntax.Stmt) *syntax.Stmt {
	if _, ok := st.Cmd.(*syntax.Subshell); ok && len(st.Redirs) == 0 && !st.Negated {
		return st
	}
	return &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{st}}}
}

// background makes of a & : { if (a) 2>null; then 2>job; else 2>job; fi; }
func (w *rewriter) background(st *syntax.Stmt) {
	inner := *st
	inner.Background, inner.Semicolon = false, syntax.Pos{}
	job := subshell(&inner)
	job.Redirs = append([]*syntax.Redirect{doorway("2", "null")}, job.Redirs...)
	clause := &syntax.IfClause{Cond: []*syntax.Stmt{job}, Then: []*syntax.Stmt{empty("job")}, Else: &syntax.IfClause{Then: []*syntax.Stmt{empty("job")}}}
	*st = syntax.Stmt{Position: st.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: clause}}}}
}

// timed makes of time a : { a; } 2>time
func (w *rewriter) timed(st *syntax.Stmt, clause *syntax.TimeClause) {
	inner := cmp.Or(clause.Stmt, empty("nop"))
	kind := "time"
	if clause.PosixFormat {
		kind = "timep"
	}
	st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{inner}}
	st.Redirs = append(st.Redirs, doorway("2", kind))
}

// substitution bounds what $(...) may give: $( { ...; } >cap ).
func (w *rewriter) substitution(cs *syntax.CmdSubst) {
	if len(cs.Stmts) > 0 {
		cs.Stmts = []*syntax.Stmt{{Cmd: &syntax.Block{Stmts: cs.Stmts}, Redirs: []*syntax.Redirect{doorway("", "cap")}}}
	}
}

// nesting makes a statement that counts how deep it lies in itself: a function's body, an eval. One with
// exec in it stays as it is: its redirections are meant to outlive the statement.
func nesting(st *syntax.Stmt) *syntax.Stmt {
	if !mentions(st, "exec") {
		st.Redirs = append([]*syntax.Redirect{doorway("2", "nest")}, st.Redirs...)
	}
	return st
}

// mentions reports whether some command in n has that literal name.
func mentions(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			found = true
		}
		return !found
	})
	return found
}

// process makes of <(...) the name of a file in memory: "$( { ...; } >file )".
func (w *rewriter) process(ps *syntax.ProcSubst) syntax.WordPart {
	body := &syntax.Stmt{Cmd: block(ps.Stmts), Redirs: []*syntax.Redirect{doorway("", "file")}}
	return &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{body}}}}
}

// block is a block of statements, or of one that does nothing: the grammar allows no empty block.
func block(stmts []*syntax.Stmt) *syntax.Block {
	if len(stmts) == 0 {
		stmts = []*syntax.Stmt{empty("nop")}
	}
	return &syntax.Block{Stmts: stmts}
}

// doorway is a redirection to one of the handler's marks.
func doorway(fd, kind string) *syntax.Redirect {
	rd := &syntax.Redirect{Op: syntax.RdrOut, Word: &syntax.Word{Parts: []syntax.WordPart{quoted(internalMark + kind + ":")}}}
	if fd != "" {
		rd.N = &syntax.Lit{Value: fd}
	}
	return rd
}

func quoted(s string) *syntax.DblQuoted {
	return &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

func literal(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

// empty is a statement that does nothing but open a mark.
func empty(kind string) *syntax.Stmt {
	return &syntax.Stmt{Redirs: []*syntax.Redirect{doorway("2", kind)}}
}

func binary(op syntax.BinCmdOperator, x, y *syntax.Stmt) *syntax.Stmt {
	return &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: op, X: x, Y: y}}
}

// call is a call of an internal command, with "$?" or nothing as its argument.
func call(name, arg string) *syntax.Stmt {
	c := &syntax.CallExpr{Args: []*syntax.Word{literal(name)}}
	if arg != "" {
		status := &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "?"}}
		c.Args = append(c.Args, &syntax.Word{Parts: []syntax.WordPart{status}})
	}
	return &syntax.Stmt{Cmd: c}
}
