package awk

import (
	"fmt"
	"strconv"
	"strings"
)

// token is one word of a program. Its kind is an operator or keyword itself, or one of: number, string,
// regex, name, call (a name with its parenthesis directly behind), builtin, newline, end.
type token struct {
	kind, text string
	line       int
}

const keywords = " BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print printf "

// operators, longest first.
var operators = strings.Fields("**= ** += -= *= /= %= ^= == <= >= != !~ ++ -- && || >> { } ( ) [ ] ; , + - * / % ^ ! > < | ? : ~ $ =")

// syntaxError leaves the lexer and the parser; Parse turns it into its error.
type syntaxError struct{ error }

func fail(line int, format string, a ...any) {
	panic(syntaxError{fmt.Errorf("line %d: "+format, append([]any{line}, a...)...)})
}

// tokenize splits a program. It fails by panic.
func tokenize(s string) (tokens []token) {
	line, last := 1, ""
	add := func(kind, text string, length int) {
		tokens = append(tokens, token{kind, text, line})
		s, last = s[length:], kind
	}
	for len(s) > 0 {
		switch c := s[0]; {
		case strings.HasPrefix(s, "\\\n"):
			s = s[2:]
			line++
		case c == ' ' || c == '\t' || c == '\r':
			s = s[1:]
		case c == '#':
			s = s[max(0, indexOr(s, "\n")):]
		case c == '\n':
			add("newline", "newline", 1)
			line++
		case c == '"':
			text, n := quoted(s, line, "string")
			add("string", unescape(text), n)
		case c == '/' && !strings.Contains(" name number string regex ) ] $ builtin ++ -- ", " "+last+" "):
			text, n := quoted(s, line, "regular expression")
			add("regex", strings.ReplaceAll(text, `\/`, "/"), n)
		case digit(c) || c == '.' && len(s) > 1 && digit(s[1]):
			n := numberLength(s)
			add("number", s[:n], n)
		case letter(c):
			n := 1
			for n < len(s) && (letter(s[n]) || digit(s[n])) {
				n++
			}
			add(kindOf(s[:n], s[n:]), s[:n], n)
		default:
			op := operator(s)
			if op == "" {
				fail(line, "syntax error at or near %q", string(rune(c)))
			}
			add(strings.Replace(op, "**", "^", 1), op, len(op))
		}
	}
	return append(tokens, token{"end", "end", line})
}

func indexOr(s, sub string) int {
	if i := strings.Index(s, sub); i >= 0 {
		return i
	}
	return len(s)
}

func operator(s string) string {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

func kindOf(word, rest string) string {
	switch {
	case word == "func":
		return "function"
	case strings.Contains(keywords, " "+word+" "):
		return word
	case builtins[word] != nil:
		return "builtin"
	case strings.HasPrefix(rest, "("):
		return "call"
	}
	return "name"
}

// numberLength also takes hexadecimal numbers, as awk's own programs write them.
func numberLength(s string) int {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		n := 2
		for n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
			n++
		}
		return n
	}
	return numberPrefix(s)
}

// quoted gives what stands between two quotes or slashes, and its length with them.
func quoted(s string, line int, what string) (string, int) {
	bracket := false
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[0] == '/' && s[i] == '[':
			bracket = bracket || strings.IndexByte(s[i:], ']') > 0
		case s[i] == ']':
			bracket = false
		case s[i] == s[0] && !bracket:
			return s[1:i], i + 1
		}
	}
	fail(line, "unterminated %s", what)
	return "", 0
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// unescape resolves backslash escapes. What is none stays, backslash and all: it may be a regular
// expression's.
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
		if k := strings.IndexByte(`abfnrtv\"/`, s[i]); k >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\\\"/"[k])
			continue
		}
		n := 0
		for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
			n++
		}
		if n == 0 {
			b.WriteString(s[i-1 : i+1])
			continue
		}
		code, _ := strconv.ParseUint(s[i:i+n], 8, 32)
		b.WriteByte(byte(code))
		i += n - 1
	}
	return b.String()
}
