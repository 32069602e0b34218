package posixre

//lint:file-ignore ST1005 errors are worded as GNU words them

import (
	"errors"
	"regexp"
	"strings"
)

// Syntax is the one of the two POSIX grammars a pattern is written in.
type Syntax int

// The grammars: Basic is what grep and sed take by default, Extended what -E and awk take.
const (
	Basic Syntax = iota
	Extended
)

// ErrBackref is returned for a pattern that refers back to one of its own groups.
var ErrBackref = errors.New("back-references in a pattern are not supported")

// Errors for patterns that do not parse, worded as GNU words them.
var (
	errBracket   = errors.New("Unmatched [, [^, [:, [., or [=")
	errTrailing  = errors.New("Trailing backslash")
	errInterval  = errors.New("Invalid content of \\{\\}")
	errOpenGroup = errors.New("Unmatched ( or \\(")
	errEndGroup  = errors.New("Unmatched ) or \\)")
	errClass     = errors.New("Invalid character class name")
)

// Compile translates pattern and compiles it for leftmost-longest matching. A dot matches any
// character, newline included, as in sed's pattern space. The error is worded for the user of the tool.
func Compile(pattern string, syntax Syntax, ignoreCase bool) (*regexp.Regexp, error) {
	text, err := Translate(pattern, syntax)
	if err != nil {
		return nil, err
	}
	return compileRE2(text, ignoreCase, false)
}

// CompileMultiline is Compile with ^ and $ also matching at each line's ends (sed's M flag).
func CompileMultiline(pattern string, syntax Syntax, ignoreCase bool) (*regexp.Regexp, error) {
	text, err := Translate(pattern, syntax)
	if err != nil {
		return nil, err
	}
	return compileRE2(text, ignoreCase, true)
}

func compileRE2(text string, ignoreCase, multiline bool) (*regexp.Regexp, error) {
	flags := "s"
	if ignoreCase {
		flags += "i"
	}
	if multiline {
		flags += "m"
	}
	re, err := regexp.Compile("(?" + flags + ")" + text)
	if err != nil {
		return nil, wordError(err)
	}
	re.Longest()
	return re, nil
}

// wordError drops Go's prefix: the tool's own name comes before the message.
func wordError(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// Translate gives pattern in Go's syntax.
func Translate(pattern string, syntax Syntax) (string, error) {
	t := translator{in: pattern, syntax: syntax}
	if err := t.run(); err != nil {
		return "", err
	}
	return t.out.String(), nil
}

// translator walks a pattern once. atom reports whether something repeatable came last: an operator
// without one is a literal character in POSIX, where Go reports an error.
type translator struct {
	in     string
	at     int
	syntax Syntax
	out    strings.Builder
	depth  int
	atom   bool
}

func (t *translator) run() error {
	for t.at < len(t.in) {
		if err := t.step(); err != nil {
			return err
		}
	}
	if t.depth > 0 {
		return errOpenGroup
	}
	return nil
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
	case c == '^':
		t.start()
	case c == '$':
		t.end()
	case t.syntax == Extended && strings.IndexByte("+?(){|", c) >= 0:
		return t.operator(c)
	default:
		t.literal(c)
	}
	return nil
}

func (t *translator) put(s string)   { t.out.WriteString(s); t.atom = true }
func (t *translator) literal(c byte) { t.out.WriteString(quote(c)); t.atom = true }

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
		if t.syntax == Extended && op[0] != '{' {
			return // a leading * + ? in an extended expression matches nothing in particular
		}
		t.put(regexp.QuoteMeta(op))
		return
	}
	if s := t.out.String(); op[0] != '{' && doubled(s) {
		t.redouble(s, op)
		return
	}
	t.out.WriteString(op)
}

// doubled reports whether text ends in an operator: x** is a repeated repetition in POSIX, an error or a
// lazy operator in Go.
func doubled(text string) bool {
	n := len(text)
	return strings.IndexByte("*+?", text[n-1]) >= 0 && (n < 2 || text[n-2] != '\\')
}

// redouble puts one operator for two: the same twice is itself, any other pair matches what * matches.
func (t *translator) redouble(text, op string) {
	if text[len(text)-1:] == op {
		return
	}
	t.out.Reset()
	t.out.WriteString(text[:len(text)-1] + "*")
}

// start anchors where POSIX anchors: everywhere in an extended expression, only first in a basic one.
func (t *translator) start() {
	if t.syntax == Extended || t.beginsBranch() {
		t.out.WriteByte('^')
		t.atom = false
		return
	}
	t.literal('^')
}

func (t *translator) beginsBranch() bool {
	s := t.in[:t.at-1]
	return s == "" || strings.HasSuffix(s, `\(`) || strings.HasSuffix(s, `\|`) || strings.HasSuffix(s, "\n")
}

func (t *translator) end() {
	rest := t.in[t.at:]
	if t.syntax == Extended || rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`) {
		t.out.WriteByte('$')
		t.atom = false
		return
	}
	t.literal('$')
}

func (t *translator) operator(c byte) error {
	switch c {
	case '(':
		t.open()
	case ')':
		if t.depth == 0 {
			return errEndGroup
		}
		t.close()
	case '|':
		t.alternate()
	case '{':
		return t.interval("}")
	default:
		t.repeat(string(c))
	}
	return nil
}

func (t *translator) open()      { t.depth++; t.out.WriteByte('('); t.atom = false }
func (t *translator) close()     { t.depth--; t.put(")") }
func (t *translator) alternate() { t.out.WriteByte('|'); t.atom = false }

// interval reads {n,m} up to its end mark. An extended expression takes a brace that opens none literally.
func (t *translator) interval(end string) error {
	rest := t.in[t.at:]
	stop := strings.Index(rest, end)
	if stop < 0 || !t.atom || !validInterval(rest[:stop]) {
		if t.syntax == Basic {
			return errInterval
		}
		t.literal('{')
		return nil
	}
	t.at += stop + len(end)
	body := rest[:stop]
	if strings.HasPrefix(body, ",") {
		body = "0" + body
	}
	t.repeat("{" + body + "}")
	return nil
}

func validInterval(s string) bool {
	low, high, both := strings.Cut(s, ",")
	return digits(low) && digits(high) && (low != "" || (both && high != ""))
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// escape handles what follows a backslash.
func (t *translator) escape() error {
	if t.at >= len(t.in) {
		return errTrailing
	}
	c := t.in[t.at]
	t.at++
	if t.syntax == Basic && strings.IndexByte("(){|+?", c) >= 0 {
		return t.basicOperator(c)
	}
	if c >= '1' && c <= '9' {
		return ErrBackref
	}
	if class, ok := gnuEscape(c); ok {
		t.put(class)
		return nil
	}
	t.literal(c)
	return nil
}

func (t *translator) basicOperator(c byte) error {
	switch c {
	case '(':
		t.open()
	case ')':
		if t.depth == 0 {
			return errEndGroup
		}
		t.close()
	case '{':
		return t.interval(`\}`)
	case '|':
		t.alternate()
	default:
		t.repeat(string(c))
	}
	return nil
}

// gnuEscape gives GNU's letters. Go has no mark for one side of a word alone; \b is its nearest.
func gnuEscape(c byte) (string, bool) {
	switch c {
	case 'w':
		return `[0-9A-Za-z_]`, true
	case 'W':
		return `[^0-9A-Za-z_]`, true
	case 's':
		return `\s`, true
	case 'S':
		return `\S`, true
	case 'b', '<', '>':
		return `\b`, true
	case 'B':
		return `\B`, true
	case '`':
		return `\A`, true
	case '\'':
		return `\z`, true
	case 'n':
		return `\n`, true
	case 't':
		return `\t`, true
	case 'r':
		return `\r`, true
	case 'f':
		return `\f`, true
	case 'v':
		return `\v`, true
	}
	return "", false
}
