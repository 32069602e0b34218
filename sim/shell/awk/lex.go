package awk

import (
	"fmt"
	"strings"
)

type tokenKind int

const (
	tEOF tokenKind = iota
	tNewline
	tNumber
	tString
	tRegex
	tName
	tCallName // a name with its parenthesis directly behind
	tBuiltin
	tKeyword
	tOp
)

type token struct {
	kind tokenKind
	text string
	line int
}

type lexer struct {
	in   string
	at   int
	line int
	last token
}

const keywords = " BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print printf "

const builtins = " length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper system close fflush systime "

// operators, longest first.
var operators = [...]string{"**=", "**", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "!~", "++", "--", "&&", "||", ">>",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "="}

func (l *lexer) errorf(format string, a ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{l.line}, a...)...)
}

func (l *lexer) next() (token, error) {
	t, err := l.scan()
	t.line = l.line
	l.last = t
	return t, err
}

func (l *lexer) scan() (token, error) {
	l.blanks()
	if l.at >= len(l.in) {
		return token{kind: tEOF}, nil
	}
	c := l.in[l.at]
	switch {
	case c == '\n':
		l.at++
		l.line++
		return token{kind: tNewline, text: "newline"}, nil
	case c == '"':
		return l.str()
	case digit(c) || c == '.' && l.at+1 < len(l.in) && digit(l.in[l.at+1]):
		return l.number(), nil
	case letter(c):
		return l.name(), nil
	case c == '/' && l.regexAllowed():
		return l.regex()
	}
	for _, op := range operators {
		if strings.HasPrefix(l.in[l.at:], op) {
			l.at += len(op)
			return token{kind: tOp, text: strings.Replace(op, "**", "^", 1)}, nil
		}
	}
	return token{}, l.errorf("syntax error at or near %q", string(rune(c)))
}

// blanks skips white space, comments and escaped newlines.
func (l *lexer) blanks() {
	for l.at < len(l.in) {
		switch c := l.in[l.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case c == '\\' && strings.HasPrefix(l.in[l.at:], "\\\n"):
			l.at += 2
			l.line++
		case c == '#':
			for l.at < len(l.in) && l.in[l.at] != '\n' {
				l.at++
			}
		default:
			return
		}
	}
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// regexAllowed tells a regular expression from a division by what came before the slash.
func (l *lexer) regexAllowed() bool {
	switch l.last.kind {
	case tName, tNumber, tString, tBuiltin, tRegex:
		return false
	case tOp:
		return !strings.Contains(" ) ] $ ++ -- ", " "+l.last.text+" ")
	}
	return true
}

func (l *lexer) number() token {
	begin := l.at
	n := numberPrefix(l.in[l.at:])
	l.at += n
	return token{kind: tNumber, text: l.in[begin:l.at]}
}

func (l *lexer) name() token {
	begin := l.at
	for l.at < len(l.in) && (letter(l.in[l.at]) || digit(l.in[l.at])) {
		l.at++
	}
	text := l.in[begin:l.at]
	padded := " " + text + " "
	switch {
	case strings.Contains(keywords, padded):
		return token{kind: tKeyword, text: text}
	case strings.Contains(builtins, padded):
		return token{kind: tBuiltin, text: text}
	case l.at < len(l.in) && l.in[l.at] == '(':
		return token{kind: tCallName, text: text}
	}
	return token{kind: tName, text: text}
}

func (l *lexer) str() (token, error) {
	begin := l.at + 1
	for i := begin; i < len(l.in); i++ {
		switch l.in[i] {
		case '\\':
			i++
		case '\n':
			return token{}, l.errorf("unterminated string")
		case '"':
			l.at = i + 1
			return token{kind: tString, text: unescape(l.in[begin:i])}, nil
		}
	}
	return token{}, l.errorf("unterminated string")
}

// regex reads up to the closing slash; one inside brackets does not close.
func (l *lexer) regex() (token, error) {
	begin := l.at + 1
	bracket := false
	for i := begin; i < len(l.in) && l.in[i] != '\n'; i++ {
		switch c := l.in[i]; {
		case c == '\\':
			i++
		case c == '[' && !bracket:
			bracket = true
			if i+1 < len(l.in) && l.in[i+1] == '^' {
				i++
			}
			if i+1 < len(l.in) && l.in[i+1] == ']' {
				i++
			}
		case c == ']':
			bracket = false
		case c == '/' && !bracket:
			l.at = i + 1
			return token{kind: tRegex, text: strings.ReplaceAll(l.in[begin:i], `\/`, "/")}, nil
		}
	}
	return token{}, l.errorf("unterminated regular expression")
}

// unescape resolves the escapes of a string literal; an unknown one keeps its backslash, so that "\." is
// still a dot when the string is used as a regular expression.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if k := strings.IndexByte(`abfnrtv"\/`, s[i]); k >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\"\\/"[k])
			continue
		}
		if s[i] == '\n' {
			continue
		}
		n, value := octal(s[i:])
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(value)
		i += n - 1
	}
	return b.String()
}

func octal(s string) (n int, value byte) {
	for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		value = value*8 + s[n] - '0'
		n++
	}
	return n, value
}
