package shellcmd

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds brackets in brackets, and compound commands in others: the parser recurses. maxChain bounds
// what && and its like join, of which each is within the next; maxSource bounds the whole text.
const (
	maxNesting = 1000
	maxChain   = 50_000
	maxSource  = 1 << 20
)

// nested reports whether more brackets or compound commands may be open at once than the parser is to hold.
func nested(script string) bool {
	if strings.Count(script, "|")+strings.Count(script, "&&") > maxChain {
		return true
	}
	depth, deepest := 0, 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		deepest = max(deepest, depth)
	}
	depth = 0
	for word := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}", r) }) {
		switch word {
		case "if", "case", "while", "until", "for", "select", "!", "time", "coproc":
			depth++
		case "fi", "esac", "done":
			depth = max(0, depth-1)
		}
		deepest = max(deepest, depth)
	}
	return deepest > maxNesting
}

var (
	errLength     = errors.New("too long to read")
	errNesting    = errors.New("nested too deeply")
	errControl    = errors.New("it holds a character that shells and people read differently")
	errComment    = errors.New("parsers differ in where a comment begins, or in what follows its backslash")
	errText       = errors.New("a here-document or a comment begins where another part is open, and parsers differ in which of them goes on")
	errBackquotes = errors.New("parsers differ in what a substitution in backquotes runs")
	errBroken     = errors.New("a line goes on within what may be an operator, which parsers read differently")
)

// Parse reads a Bash script. One that is too long, or nested too deeply, is an error, since the parser recurses.
func Parse(script string) (*syntax.File, error) { return parseAs(script, syntax.LangBash) }

func parseAs(script string, lang syntax.LangVariant) (*syntax.File, error) {
	if len(script) > maxSource {
		return nil, errLength
	}
	if nested(script) {
		return nil, errNesting
	}
	return syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(script), "")
}

// parseStrict is Parse for texts that hold nothing on which this parser, a shell and
// a reader's eye may differ: no control characters, no blanks beside space, tab and
// line feed, no invisible characters, no broken UTF-8.
func parseStrict(script string, lang syntax.LangVariant) (*syntax.File, error) {
	if !utf8.ValidString(script) {
		return nil, errControl
	}
	for _, r := range script {
		odd := r != ' ' && r != '\t' && r != '\n' && (unicode.IsSpace(r) || unicode.IsControl(r))
		if odd || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return nil, errControl
		}
	}
	if brokenOperator.MatchString(script) {
		return nil, errBroken
	}
	file, err := parseAs(script, lang)
	switch {
	case err != nil:
	case oddComment.MatchString(script) && misread(script, lang):
		return nil, errComment
	case (strings.Contains(script, "<<") || strings.Contains(script, "=(")) && !beginsAsBash(file, script):
		return nil, errText
	case strings.Contains(script, "`") && !backquoted(file, script, lang):
		return nil, errBackquotes
	}
	return file, err
}

// brokenOperator matches signs that are one operator for Bash, which joins the lines first, and two for this parser.
var brokenOperator = regexp.MustCompile(`\$\\\n|[<>(&|;[{=!](?:\\\n)+[^\s\w./]`)

// oddComment matches the end of what may be a comment, with a backslash before the line feed, and what may be its beginning where
// nothing separates it from a word.
var oddComment = regexp.MustCompile(`#[^\n]*\\\n|[^\s;&|(]#|\\\n#`)

// misread reports whether there is a comment that ends in a backslash, or that begins in the middle of a word. For Bash the line
// ends with the one, and with it the command; for this parser the next line belongs to the same command. To Bash the other is none,
// while this parser has one begin behind a part of a word in a substitution. Of a coprocess it keeps no comments.
func misread(script string, lang syntax.LangVariant) bool {
	file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(script), "")
	odd, begin, ends := err != nil, []uint(nil), map[uint]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CoprocClause:
			odd = true
		case *syntax.Subshell:
			ends[n.End().Offset()] = true
		case *syntax.Comment:
			odd = odd || strings.HasSuffix(n.Text, "\\\n")
			before := script[:n.Hash.Offset()]
			for strings.HasSuffix(before, "\\\n") {
				before = strings.TrimSuffix(before, "\\\n")
			}
			if before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n;&|(") {
				begin = append(begin, uint(len(before)))
			}
		}
		return !odd
	})
	return odd || slices.ContainsFunc(begin, func(at uint) bool { return !ends[at] })
}

// printers are used again: a new one is a buffer of four kilobytes, and a command is printed word by word.
var printers = sync.Pool{New: func() any { return syntax.NewPrinter(syntax.SingleLine(true)) }}

// printed gives a node's source in the printer's normal form, on one line.
func printed(n syntax.Node) string {
	if cmd, ok := n.(syntax.Command); ok {
		n = &syntax.Stmt{Cmd: cmd, Position: cmd.Pos()}
	}
	var b strings.Builder
	printer := printers.Get().(*syntax.Printer)
	defer printers.Put(printer)
	if err := printer.Print(&b, n); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// allDigits reports whether s is a number without a sign.
func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
