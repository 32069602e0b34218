package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Kind is how much is known of a word.
type Kind uint8

// The kinds of words.
const (
	Literal Kind = iota // the word is exactly its text
	Pattern             // names of files that match its text, or the text itself
	Unknown             // one word, that begins with its text
	Many                // any number of words of unknown text
)

// Word is one argument of a command, as far as it is known without running anything.
type Word struct {
	Kind   Kind
	Text   string
	Source string
	// Bound is a glob for the paths that a word that is not literal can be; empty
	// where nothing bounds it. Below reports whether paths below a match count too.
	Bound string
	Below bool
	// Regular reports whether no match below is a link; Split, whether a match with blanks
	// or quotes in its name gives other words.
	Regular, Split bool
	// Given reports whether the script itself makes no pattern in it: what is not literal is
	// quoted, a number, or from the environment.
	Given bool
	// Undashed reports whether a word that is not literal cannot begin with a dash.
	Undashed bool
}

// isLiteral reports whether the word is literal and has this text.
func (w Word) isLiteral(text string) bool { return w.Kind == Literal && w.Text == text }

// wild reports whether the word may turn out to be an option.
func (w Word) wild() bool {
	switch {
	case w.Kind == Literal || w.Undashed:
		return false
	case w.Kind == Many || w.Text == "":
		return true
	}
	return strings.IndexByte("-*?[", w.Text[0]) >= 0
}

// wordBuilder puts one word together from its parts.
type wordBuilder struct {
	w       *walker
	source  *syntax.Word
	text    strings.Builder
	known   bool // all parts so far
	sole    bool // the word has but one part: a ~ with a quote behind it is no home, and a [ begins a pattern
	glob    bool // an unquoted pattern
	many    bool
	quoted  bool            // some part is quoted, so that the word exists even if it is empty
	numeric bool            // what is not known are digits
	made    bool            // some of what is not known is not from the environment
	bound   strings.Builder // a glob for the whole word, once a part has one
	loose   bool            // nothing bounds some part
	dots    bool            // a part with a bound may begin a name with a dot, as .. does
	pieces  int
}

// word expands one word of the source into the fields that a command will see.
func (w *walker) word(x *syntax.Word) []Word {
	if x == nil {
		return nil
	}
	if w.full {
		return []Word{{Kind: Many}}
	}
	if list, ok := braces(x); ok && !w.posix {
		w.spend(96 * len(list)) // making a word of braces costs more than reading one
		return slices.Concat(each(list, func(one *syntax.Word) []Word { return w.field(one, sourceOf(x)) })...)
	}
	return w.field(x, sourceOf(x))
}

// words expands words in order.
func (w *walker) words(list []*syntax.Word) []Word { return slices.Concat(each(list, w.word)...) }

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, f(one))
	}
	return out
}

func (w *walker) field(x *syntax.Word, source string) []Word {
	if !w.spend(32) {
		return []Word{{Kind: Many, Source: source}}
	}
	brace := mayBrace(x) && !(w.posix && bareBraces(x.Lit()))
	b := &wordBuilder{w: w, source: x, known: true, many: brace, made: brace, sole: len(x.Parts) == 1}
	for i, part := range x.Parts {
		b.part(part, i == 0)
	}
	out := Word{Text: b.text.String(), Source: source}
	switch {
	case b.many || !b.known && b.glob:
		out.Kind, out.Text = Many, ""
	case !b.known:
		out.Kind = Unknown
		out.Undashed = b.numeric && out.Text == ""
	case b.glob:
		out.Kind = Pattern
		if x.Lit() == out.Text || !strings.ContainsAny(out.Text, `[\`) { // a sign that is quoted matches nothing but itself
			out.Bound = out.Text
		}
	case out.Text == "" && !b.quoted:
		return nil
	}
	out.Given = out.Kind != Literal && !b.glob && !b.made
	bound := b.bound.String()
	alone := !b.dots || b.pieces == 1
	if bound != "" && !b.loose && alone && !(b.many && (!b.sole || strings.ContainsAny(bound, " \t\n"))) { // without quotes, blanks split it
		out.Bound, out.Split = bound, b.many
		out.Undashed = out.Undashed || out.Kind == Unknown && plainStart(bound)
		if b.glob {
			out.Kind, out.Text = Pattern, bound
		}
	}
	return []Word{out}
}

func (b *wordBuilder) part(part syntax.WordPart, first bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		b.literal(part.Value, first)
	case *syntax.SglQuoted:
		b.quoted = true
		if !part.Dollar {
			b.add(part.Value)
		} else if text, plain := ansi(part); plain {
			b.add(text)
		} else {
			b.known, b.numeric, b.made, b.loose = false, false, true, true
		}
	case *syntax.DblQuoted:
		b.quoted = true
		if part.Dollar {
			b.w.construct(part, "a translated string")
			b.known, b.loose = false, true
		}
		b.w.unevenQuotes(part.Parts)
		for _, inner := range part.Parts {
			b.inner(inner)
		}
	default:
		b.expansion(part, false)
	}
}

// literal takes an unquoted part: backslashes quote, patterns and ~ mean something. A backslash at the very end is one
// that Bash drops behind a quoted line feed.
func (b *wordBuilder) literal(value string, first bool) {
	if rest, tilde := strings.CutPrefix(value, "~"); first && tilde {
		name := "HOME"
		if sign := strings.TrimLeft(rest, "+-"); len(sign) == len(rest)-1 && !b.w.posix {
			name = map[byte]string{'+': "PWD", '-': "OLDPWD"}[rest[0]]
			rest = sign
		}
		if v := b.w.folder(name); v.known && (rest == "" && b.sole || strings.HasPrefix(rest, "/")) {
			value = rest
			b.add(v.text)
		} else {
			value = value[1:]
			b.known, b.numeric, b.loose = false, false, true
			b.text.WriteString("~")
		}
	}
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value):
			i++
			if value[i] != '\n' {
				b.quoted = true
				b.add(value[i : i+1])
			}
			continue
		case strings.IndexByte("*?[", c) >= 0:
			b.glob = b.glob || value != "[" || !b.sole
			b.put(value[i:i+1], value[i:i+1])
			continue
		case c == '\\' || c == '~' && (i == 0 || value[i-1] == '=' || value[i-1] == ':') && b.assigns():
			b.known, b.numeric, b.loose = false, false, true
		case (c == '<' || c == '>') && strings.HasPrefix(strings.ReplaceAll(value[i+1:], "\\\n", ""), "("):
			b.w.construct(&syntax.Lit{Value: value}, "a process substitution where the parser sees none")
		}
		b.add(value[i : i+1])
	}
}

// assigns reports whether the word has the form of an assignment, in which Bash expands ~ behind = and : as well.
func (b *wordBuilder) assigns() bool {
	if b.source == nil || b.w.posix {
		return false
	}
	begins := ""
	for _, part := range b.source.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			break
		}
		begins += lit.Value
	}
	return assignment(begins)
}

// inner takes a part of a double-quoted string.
func (b *wordBuilder) inner(part syntax.WordPart) {
	if lit, ok := part.(*syntax.Lit); ok {
		b.add(unbackslash(lit.Value))
		return
	}
	b.expansion(part, true)
}

// expansion takes a part whose text is made when the script runs.
func (b *wordBuilder) expansion(part syntax.WordPart, quoted bool) {
	v := b.w.expand(part, quoted)
	b.made = b.made || !quoted && !v.given && !v.number
	switch {
	case v.known && !b.w.spend(len(v.text)): // looking at a value takes time, kept or not
		b.many, b.loose = true, true
	case v.known && (quoted || plainValue(v.text)):
		b.add(v.text)
	case v.known && !quoted && globValue(v.text):
		b.glob = true
		b.put(v.text, v.text)
	case v.many || !quoted && !v.number:
		b.many = true
		b.within(v.bound)
	default:
		b.within(v.bound)
		if b.known && b.text.Len() == 0 {
			b.numeric = v.number && !v.signed
		}
		b.known = false
	}
}

// within adds what the value of a part can be.
func (b *wordBuilder) within(bound string) {
	b.loose = b.loose || b.glob || bound == "" || !b.known && b.bound.Len() == 0
	b.dots = b.dots || dotted(bound)
	if b.pieces++; b.bound.Len() == 0 {
		b.bound.WriteString(signs.Replace(b.text.String()))
	}
	b.bounded(bound)
}

// bounded goes on with the glob for the word.
func (b *wordBuilder) bounded(glob string) {
	if b.loose = b.loose || b.bound.Len()+len(glob) > maxText || !b.w.spend(len(glob)); !b.loose {
		b.bound.WriteString(glob)
	}
}

var (
	// dotted matches a glob in which a name may begin with a dot.
	dotted = regexp.MustCompile(`^\.[^/]|^\.$|/\.`).MatchString
	// plainStart reports whether what a glob matches begins neither an option nor a command of a pager.
	plainStart = regexp.MustCompile(`^[\w./]`).MatchString
	// signs takes the meaning from what means something in a glob.
	signs = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
)

func (b *wordBuilder) add(s string) { b.put(s, signs.Replace(s)) }

// put adds a text, and the glob that matches it.
func (b *wordBuilder) put(s, glob string) {
	if b.pieces++; b.bound.Len() > 0 {
		b.bounded(glob)
	}
	if b.known = b.known && b.text.Len()+len(s) <= maxText && b.w.spend(len(s)); b.known {
		b.text.WriteString(s)
	}
}

// assignment reports whether a word begins as an assignment does.
var assignment = regexp.MustCompile(`^[A-Za-z_]\w*(?:\[.*|\+?=)`).MatchString

// plainValue reports whether an unquoted value is neither split nor matched.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`).MatchString

// globValue reports whether an unquoted value is a pattern and is not split.
var globValue = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+*?-]+$`).MatchString

var (
	braceList = regexp.MustCompile(`^[\w./:@%+=*?-]*(?:\{[\w./:@%+=*?-]*(?:,[\w./:@%+=*?-]*)+\}[\w./:@%+=*?-]*)+$`)
	// bareBraces matches braces in a word without signs of a pattern.
	bareBraces = regexp.MustCompile(`^[\w./:@%+={},-]+$`).MatchString

	braceRun = regexp.MustCompile(`^[\w./:@%+=-]*\{\d{1,3}\.\.\d{1,3}\}[\w./:@%+=-]*$`)
)

// maxBraces bounds how many words one brace expansion gives.
const maxBraces = 128

// braces expands a word that is nothing but a simple, unquoted brace expansion.
func braces(x *syntax.Word) ([]*syntax.Word, bool) {
	text := x.Lit()
	if n := strings.Count(text, "{"); n == 0 || n > maxBraces || !braceList.MatchString(text) && !braceRun.MatchString(text) {
		return nil, false
	}
	copied := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
	if !syntax.SplitBraces(copied) {
		return nil, false
	}
	var list []*syntax.Word
	for one, err := range expand.BracesSeq(nil, copied) {
		if err != nil || len(list) == maxBraces {
			return nil, false
		}
		list = append(list, one)
	}
	return list, true
}

// mayBrace reports whether a word may be a brace expansion that braces did not take on. To {} belongs what follows
// it, up to the next closing brace, unless a word begins with it.
func mayBrace(x *syntax.Word) bool {
	var bare strings.Builder
	for _, part := range x.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			bare.WriteString(lit.Value)
		}
	}
	text := bare.String()
	return braced.MatchString(text) || len(x.Parts) > 1 && strings.Contains(strings.ReplaceAll(text, "{}", ""), "{")
}

// braced matches what may be several words where it is not quoted.
var braced = regexp.MustCompile(`(?s)\{.*(?:,|\.\.).*\}`)

// unbackslash takes off the backslashes that quote within double quotes.
func unbackslash(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi gives the text of $'...'; plain is false where it has an escape that shells read
// differently, such as one that ends the text.
func ansi(q *syntax.SglQuoted) (text string, plain bool) {
	if !plainEscapes(q.Value) {
		return "", false
	}
	text, err := expand.Literal(&expand.Config{}, &syntax.Word{Parts: []syntax.WordPart{q}})
	return text, err == nil
}

// plainEscapes reports whether a text has no escapes but those by one letter, and of characters
// below 0x80 by all their digits.
var plainEscapes = regexp.MustCompile(`^(?:[^\\]|\\[abefnrtv\\'"]|\\x(?:0[1-9A-Fa-f]|[1-7][0-9A-Fa-f])|\\(?:00[1-7]|0[1-7][0-7]|1[0-7]{2}))*$`).MatchString

// sourceOf gives a word's source.
func sourceOf(x *syntax.Word) string {
	if x == nil {
		return ""
	}
	if lit := x.Lit(); lit != "" && !strings.Contains(lit, "\n") {
		return lit
	}
	return printed(x)
}
