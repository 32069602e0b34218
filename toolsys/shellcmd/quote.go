package shellcmd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unevenQuotes doubts single quotes in an expansion that stands within double quotes or in a
// here-document, such as "${x:-'$(ls)'}": there they quote for the parser, and for Bash, by the kind of
// the expansion and its version, they are characters like any other.
func (w *walker) unevenQuotes(parts []syntax.WordPart) {
	for _, part := range parts {
		if p, ok := part.(*syntax.ParamExp); ok && unevenIn(p, false) {
			w.construct(p, "quotes in an expansion that shells read differently")
		}
	}
}

// unevenIn reports whether an expansion has text in single quotes that means something outside of them, or,
// if dollar is set, in $'...'. Bash reads such a text anew where it finds it in a substitution within double
// quotes, and so it does with what it has taken further double quotes and backslashes off.
func unevenIn(p *syntax.ParamExp, dollar bool) bool {
	uneven, quotes, signs := false, false, false
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // whose quotes are their own
		case *syntax.SglQuoted:
			uneven = uneven || (n.Dollar || !dollar) && strings.ContainsAny(n.Value, "$`\\\"}")
		case *syntax.DblQuoted:
			quotes = !dollar
		case *syntax.Lit:
			signs = signs || strings.ContainsAny(n.Value, "$\\")
		}
		return !uneven
	})
	return uneven || quotes && signs
}

// backquoted reports whether each substitution in backquotes is the script that Bash makes of its text. Bash takes off
// backslashes first, even within quotes, ends it at the next backquote, quoted or not, and within double quotes has others end
// them, so that braces are expanded; this parser goes on reading, and has a comment begin behind a quote.
func backquoted(file *syntax.File, script string, lang syntax.LangVariant) bool {
	quoted, same, texts := uint(0), true, strings.Contains(script, "<<")
	syntax.Walk(file, func(n syntax.Node) bool {
		if q, is := n.(*syntax.DblQuoted); is {
			quoted = max(quoted, q.End().Offset())
		}
		sub, is := n.(*syntax.CmdSubst)
		if !is || !sub.Backquotes {
			return same
		}
		source, own := script[sub.Left.Offset()+1:sub.Right.Offset()], bare
		if sub.Left.Offset() < quoted {
			own = within
			same = same && !(strings.Contains(source, `"`) && strings.Contains(source, "{"))
		} else if texts { // to a plain shell a here-document is quoted
			same = same && !strings.Contains(source, `\"`)
		}
		inner, err := parseStrict(own.Replace(source), lang)
		same = same && err == nil && !strings.Contains(escapes.Replace(source), "`") && printed(inner) == printed(&syntax.File{Stmts: sub.Stmts})
		return false
	})
	return same
}

var (
	escapes = strings.NewReplacer(`\\`, "", "\\`", "")
	// bare takes off the backslashes in backquotes, within those in backquotes that stand within double quotes.
	bare   = strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "")
	within = strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "", `\"`, `"`)
)

var commentBehind = regexp.MustCompile(`^(?:\\\n)*#`).MatchString

// beginsAsBash reports whether each here-document begins in the line behind its operator, or behind another's end. Where
// a list or a subshell is open in that line, the parser has it begin behind that. Nor has Bash a comment begin behind a list.
func beginsAsBash(file *syntax.File, script string) bool {
	lines, behind, as := strings.Split(script, "\n"), map[uint]uint{}, true
	syntax.Walk(file, func(n syntax.Node) bool {
		if list, is := n.(*syntax.ArrayExpr); is {
			as = as && !commentBehind(script[list.End().Offset():])
		}
		rd, is := n.(*syntax.Redirect)
		if !is || rd.Op != syntax.Hdoc && rd.Op != syntax.DashHdoc {
			return as
		}
		at := rd.Word.End().Line()
		first := cmp.Or(behind[at], at+1)
		for behind[at] == 0 && at > 0 && int(first) <= len(lines) && strings.HasSuffix(lines[first-2], `\`) {
			first++
		}
		behind[at] = first + 1
		if rd.Hdoc != nil {
			as, behind[at] = as && rd.Hdoc.Pos().Line() == first && rd.Hdoc.End().Line() > 0, rd.Hdoc.End().Line()+1
		} else {
			as = as && int(first) <= len(lines) && strings.TrimLeft(lines[first-1], "\t") == plainText(rd.Word)
		}
		return as
	})
	return as
}

// endsAsBash reports whether a here-document surely ends where the parser has it end: its delimiter
// is quoted plainly or not at all, and no line begins with the delimiter, or does where it goes on behind
// a backslash: Bash looks for it in the lines as they are joined, and within expansions as well, and in a
// substitution takes what follows it on its line for commands.
func endsAsBash(rd *syntax.Redirect) bool {
	delimiter, source := plainText(rd.Word), sourceOf(rd.Word)
	plain := delimiter != "" && !strings.ContainsAny(source[1:], "\\\n$`") && source[0] != '$' && !strings.Contains(source, `""`)
	if !plain || rd.Hdoc == nil {
		return plain
	}
	var body strings.Builder
	for _, part := range rd.Hdoc.Parts {
		switch lit, is := part.(*syntax.Lit); {
		case is:
			body.WriteString(lit.Value)
		case part.Pos().Line() != part.End().Line():
			return false
		default:
			body.WriteByte(0) // no delimiter has one
		}
	}
	ends := func(line string) bool { return strings.HasPrefix(strings.ReplaceAll(line, "\t", ""), delimiter) }
	whole := strings.HasSuffix("\n"+strings.TrimRight(body.String(), "\t"), "\n")  // the parser takes what is behind an expansion for a line
	return whole && !slices.ContainsFunc(strings.Split(body.String(), "\n"), ends) // the parser has joined the lines of what is not quoted
}
