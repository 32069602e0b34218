package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unevenQuotes doubts single quotes in an expansion that stands within double quotes or in a
// here-document, such as "${x:-'$(ls)'}": there they quote for the parser, and for Bash, by the kind of
// the expansion and its version, they are characters like any other.
func (w *walker) unevenQuotes(parts []syntax.WordPart) {
	for _, part := range parts {
		p, ok := part.(*syntax.ParamExp)
		if !ok {
			continue
		}
		uneven := false
		syntax.Walk(p, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false // whose quotes are their own
			case *syntax.SglQuoted:
				uneven = uneven || strings.ContainsAny(n.Value, "$`\\\"}")
			}
			return !uneven
		})
		if uneven {
			w.construct(p, "quotes in an expansion that shells read differently")
		}
	}
}

// endsAsBash reports whether a here-document surely ends where the parser has it end: its delimiter
// is quoted plainly or not at all, and no line that goes on behind a backslash becomes the delimiter, which
// Bash looks for in the lines as they are joined.
func endsAsBash(rd *syntax.Redirect) bool {
	delimiter, quoted, ok := delimiterOf(rd.Word)
	if !ok || quoted || rd.Hdoc == nil {
		return ok
	}
	var body strings.Builder
	for _, part := range rd.Hdoc.Parts {
		if lit, is := part.(*syntax.Lit); is {
			body.WriteString(lit.Value)
		} else {
			body.WriteByte(0) // no delimiter has one
		}
	}
	for line := range strings.SplitSeq(joined(body.String()), "\n") {
		if strings.ReplaceAll(line, "\t", "") == delimiter {
			return false
		}
	}
	return true
}

// joined puts lines together that a backslash at their end continues.
func joined(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			b.WriteByte(text[i])
		case text[i+1] == '\n':
			i++
		default:
			b.WriteString(text[i : i+2])
			i++
		}
	}
	return b.String()
}

// delimiterOf is the text of a here-document's delimiter; ok is false where it holds more than plain
// characters within plain quotes.
func delimiterOf(x *syntax.Word) (text string, quoted, ok bool) {
	for _, part := range x.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.HasPrefix(part.Value, "\\")
			text += strings.TrimPrefix(part.Value, "\\")
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", true, false
			}
			text, quoted = text+part.Value, true
		case *syntax.DblQuoted:
			lit, is := soleLiteral(part)
			if !is {
				return "", true, false
			}
			text, quoted = text+lit, true
		default:
			return "", true, false
		}
	}
	return text, quoted, !strings.ContainsAny(text, "\\\n$`")
}

// soleLiteral is the text of double quotes that hold nothing else.
func soleLiteral(q *syntax.DblQuoted) (text string, ok bool) {
	if q.Dollar || len(q.Parts) > 1 {
		return "", false
	}
	if len(q.Parts) == 0 {
		return "", true
	}
	lit, ok := q.Parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	return lit.Value, true
}
