package shell

import (
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
		body := w.heredoc(rd)
		w.input(rd, "text", line, body)
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
	head := quoted(mark + kind + ":" + line + ":")
	*rd = syntax.Redirect{OpPos: rd.OpPos, Op: syntax.RdrOut, N: &syntax.Lit{Value: "2"}, Word: &syntax.Word{Parts: append([]syntax.WordPart{head}, parts...)}}
}

func (w *rewriter) output(rd *syntax.Redirect, line string) {
	head := quoted(mark + "write:" + line + ":")
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
	rest := &syntax.Lit{Value: lit.Value[1:]}
	return append([]syntax.WordPart{home, rest}, parts[1:]...)
}

// heredoc makes one double-quoted string of a here-document's body: the two expand alike, but for the
// double quote itself.
func (w *rewriter) heredoc(rd *syntax.Redirect) []syntax.WordPart {
	if rd.Hdoc == nil {
		return nil
	}
	plain := quotedDelimiter(rd.Word)
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

func quotedDelimiter(word *syntax.Word) bool {
	for _, part := range word.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
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
