package shellcmd

//lint:file-ignore ST1005 errors are worded as GNU words them

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// ErrBackref is returned for a pattern that refers back to one of its own groups.
var ErrBackref = errors.New("back-references in a pattern are not supported")

// Errors for patterns that do not parse, worded as GNU words them.
var (
	errBracket      = errors.New("Unmatched [, [^, [:, [., or [=")
	errTrailing     = errors.New("Trailing backslash")
	errOpenInterval = errors.New("Unmatched \\{")
	errInterval     = errors.New("Invalid content of \\{\\}")
	errOpenGroup    = errors.New("Unmatched ( or \\(")
	errEndGroup     = errors.New("Unmatched ) or \\)")
	errClass        = errors.New("Invalid character class name")
)

// CompileSedRegexp translates a POSIX expression and compiles it for leftmost-longest matching. A dot matches
// any character, newline included, as in sed's pattern space; but with multiline, ^ and $ match at each
// line's ends and a dot none of them. The error is worded for the user of the tool.
func CompileSedRegexp(pattern string, extended, ignoreCase, multiline bool) (*regexp.Regexp, error) {
	text, err := translated(translator{in: pattern, extended: extended, sed: true})
	if err != nil {
		return nil, err
	}
	flags := "s"
	if multiline {
		flags = "m"
	}
	if ignoreCase {
		flags += "i"
	}
	re, err := regexp.Compile("(?" + flags + ")" + text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	re.Longest()
	return re, nil
}

// TranslateRegexp gives grep's POSIX expression, basic or extended, with GNU's additions in Go's syntax. The two
// differ in what needs a backslash and in how bracket expressions quote. Back-references inside a pattern
// have no translation: they are refused with [ErrBackref], never quietly ignored.
func TranslateRegexp(pattern string, extended bool) (string, error) {
	return translated(translator{in: pattern, extended: extended})
}

func translated(t translator) (string, error) {
	for t.at < len(t.in) {
		if err := t.step(); err != nil {
			return "", err
		}
	}
	if t.depth > 0 {
		return "", errOpenGroup
	}
	return t.out.String(), nil
}

// translator walks a pattern once. atom reports whether something repeatable came last: an operator
// without one is a literal character in POSIX, where Go reports an error.
type translator struct {
	in       string
	at       int
	extended bool
	sed      bool // which, unlike grep, knows \n and \t, and not a ) that ends nothing
	out      strings.Builder
	depth    int
	atom     bool
}

func (t *translator) step() error {
	c := t.in[t.at]
	t.at++
	switch {
	case c == '\\':
		return t.escape()
	case c == '[':
		return t.bracket()
	case c == '.':
		t.put(".")
	case c == '*':
		t.repeat("*")
	case c == '^' && t.starts(), c == '$' && t.ends():
		t.mark(c)
	case t.extended && strings.IndexByte("+?(){|", c) >= 0 && (c != ')' || t.depth > 0 || t.sed):
		return t.operator(c)
	default:
		t.literal(c)
	}
	return nil
}

func (t *translator) put(s string)   { t.out.WriteString(s); t.atom = true }
func (t *translator) literal(c byte) { t.out.WriteString(quote(c)); t.atom = true }
func (t *translator) mark(c byte)    { t.out.WriteByte(c); t.atom = false }

// quote leaves the bytes of a multi-byte character alone.
func quote(c byte) string {
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

// repeat writes an operator after an atom, or the character itself where there is none.
func (t *translator) repeat(op string) {
	if !t.atom {
		if t.extended && op[0] != '{' {
			return // a leading * + ? in an extended expression matches nothing in particular
		}
		t.put(regexp.QuoteMeta(op))
		return
	}
	switch s := t.out.String(); {
	case op[0] == '{' || !doubled(s):
		t.out.WriteString(op)
	case !strings.HasSuffix(s, op): // the same twice is itself, any other pair matches what * matches
		t.out.Reset()
		t.out.WriteString(s[:len(s)-1] + "*")
	}
}

// doubled reports whether text ends in an operator: x** is a repeated repetition in POSIX, an error or a
// lazy operator in Go.
func doubled(text string) bool {
	n := len(text)
	return strings.IndexByte("*+?", text[n-1]) >= 0 && (n < 2 || text[n-2] != '\\')
}

// starts reports whether POSIX anchors here: everywhere in an extended expression, only first in a basic one.
func (t *translator) starts() bool {
	before := t.in[:t.at-1]
	return t.extended || before == "" || strings.HasSuffix(before, `\(`) || strings.HasSuffix(before, `\|`) || strings.HasSuffix(before, "\n")
}

func (t *translator) ends() bool {
	rest := t.in[t.at:]
	return t.extended || rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`)
}

// operator takes ( ) { | + or ?, which a basic expression writes with a backslash.
func (t *translator) operator(c byte) error {
	switch c {
	case '(':
		t.depth++
		t.mark(c)
	case ')':
		if t.depth == 0 {
			return errEndGroup
		}
		t.depth--
		t.put(")")
	case '|':
		t.mark(c)
	case '{':
		return t.interval()
	default:
		t.repeat(string(c))
	}
	return nil
}

// interval reads {n,m} up to its end mark. An extended expression takes a brace that opens none literally.
func (t *translator) interval() error {
	end := `\}`
	if t.extended {
		end = "}"
	}
	body, _, closed := strings.Cut(t.in[t.at:], end)
	switch {
	case closed && t.atom && validInterval(body):
	case t.extended:
		t.literal('{')
		return nil
	case !closed:
		return errOpenInterval
	default:
		return errInterval
	}
	t.at += len(body) + len(end)
	t.repeat(strings.Replace("{"+body+"}", "{,", "{0,", 1))
	return nil
}

func validInterval(s string) bool {
	low, high, both := strings.Cut(s, ",")
	least, _ := strconv.Atoi(low)
	most, err := strconv.Atoi(high)
	return digits(low) && digits(high) && (low != "" || (both && high != "")) && (err != nil || least <= most)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// escape handles what follows a backslash.
func (t *translator) escape() error {
	if t.at >= len(t.in) {
		return errTrailing
	}
	c := t.in[t.at]
	t.at++
	if !t.extended && strings.IndexByte("(){|+?", c) >= 0 {
		return t.operator(c)
	}
	if c >= '1' && c <= '9' {
		return ErrBackref
	}
	if class, ok := gnuEscapes[c]; ok && (t.sed || strings.IndexByte("ntrfv", c) < 0) {
		t.put(class)
		return nil
	}
	t.literal(c)
	return nil
}

// gnuEscapes are GNU's letters. Go has no mark for one side of a word alone; \b is its nearest.
var gnuEscapes = map[byte]string{
	'w': `[0-9A-Za-z_]`, 'W': `[^0-9A-Za-z_]`, 's': `\s`, 'S': `\S`, 'b': `\b`, '<': `\b`, '>': `\b`, 'B': `\B`,
	'`': `\A`, '\'': `\z`, 'n': `\n`, 't': `\t`, 'r': `\r`, 'f': `\f`, 'v': `\v`,
}

// bracket reads a bracket expression, in which a backslash is an ordinary character and ] may come first.
func (t *translator) bracket() error {
	body, next, err := bracketEnd(t.in, t.at)
	if err != nil {
		return err
	}
	t.at = next
	text, err := bracketBody(body)
	if err != nil {
		return err
	}
	t.put(text)
	return nil
}

// bracketEnd gives what stands between the brackets and where the pattern goes on.
func bracketEnd(in string, at int) (body string, next int, err error) {
	i := len(in) - len(strings.TrimPrefix(strings.TrimPrefix(in[at:], "^"), "]")) // a ] that comes first ends nothing
	for i < len(in) {
		switch {
		case in[i] == ']':
			return in[at:i], i + 1, nil
		case in[i] == '[' && i+1 < len(in) && strings.IndexByte(":.=", in[i+1]) >= 0:
			end := strings.Index(in[i+2:], in[i+1:i+2]+"]")
			if end < 0 {
				return "", 0, errBracket
			}
			i += end + 4
		default:
			i++
		}
	}
	return "", 0, errBracket
}

func bracketBody(body string) (string, error) {
	var out strings.Builder
	out.WriteByte('[')
	if strings.HasPrefix(body, "^") {
		out.WriteByte('^')
		body = body[1:]
	}
	for i := 0; i < len(body); {
		n, text, err := 1, bracketByte(body, i), error(nil)
		if body[i] == '[' && i+1 < len(body) && strings.IndexByte(":.=", body[i+1]) >= 0 {
			n, text, err = bracketClass(body[i:])
		}
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		i += n
	}
	out.WriteByte(']')
	return out.String(), nil
}

// bracketByte quotes what Go would read as syntax. A dash keeps its meaning, except at either end.
func bracketByte(body string, i int) string {
	c := body[i]
	if c == '-' && i > 0 && i < len(body)-1 {
		return "-"
	}
	if strings.IndexByte(`\[]^-&~`, c) >= 0 {
		return `\` + string(rune(c))
	}
	return body[i : i+1]
}

func bracketClass(s string) (n int, text string, err error) {
	end := strings.Index(s[2:], s[1:2]+"]")
	if end < 0 {
		return 0, "", errBracket
	}
	name := s[2 : 2+end]
	if s[1] != ':' {
		return end + 4, bracketByte(name, 0), nil
	}
	if !strings.Contains(" alnum alpha blank cntrl digit graph lower print punct space upper xdigit ", " "+name+" ") {
		return 0, "", errClass
	}
	return end + 4, "[:" + name + ":]", nil
}
