package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaped reads a text with one layer of escapes taken off, be they JSON's or a
// shell's, a URL's or HTML's: a secret may stand under any of them, and what is
// mistaken for an escape harms nothing, since views are only searched. It gives nil
// when there is none.
func unescaped(s string) *view { return replaced(s, `\%&`, escape) }

// escape reads one escape: what it stands for, and its length, 0 for none.
func escape(s string, i int) (string, int) {
	s = s[i:]
	switch s[0] {
	case '%':
		if c, ok := hexByte(s, 1); ok {
			return string([]byte{c}), 3
		}
	case '&':
		return entity(s)
	case '\\':
		return backslash(s)
	}
	return "", 0
}

var backslashes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '\'': "'", '/': "/", '\\': `\`, '`': "`", '$': "$", ' ': " ", '\n': "",
}

func backslash(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case 'u':
		return unicodeEscape(s)
	case 'x':
		if c, ok := hexByte(s, 2); ok {
			return string([]byte{c}), 4
		}
		return "", 0
	}
	text, ok := backslashes[s[1]]
	if !ok {
		return "", 0
	}
	return text, 2
}

func unicodeEscape(s string) (string, int) {
	r, ok := hexRune(s)
	if !ok {
		return "", 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return string(utf16.DecodeRune(r, low)), 12
		}
	}
	return string(r), 6
}

// hexRune reads \u and four hexadecimal digits at the beginning.
func hexRune(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	high, ok1 := hexByte(s, 2)
	low, ok2 := hexByte(s, 4)
	return rune(high)<<8 | rune(low), ok1 && ok2
}

func hexByte(s string, at int) (byte, bool) {
	if at+2 > len(s) {
		return 0, false
	}
	high, low := hexDigits[s[at]], hexDigits[s[at+1]]
	return (high-1)<<4 | (low - 1), high > 0 && low > 0
}

// hexDigits gives a digit's value plus one; 0 is none.
var hexDigits = func() (t [256]byte) {
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i) + 1
	}
	for i, c := range []byte("ABCDEF") {
		t[c] = byte(i) + 11
	}
	return t
}()

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "nbsp": " ", "plus": "+", "equals": "=", "sol": "/", "lowbar": "_", "dash": "-", "hyphen": "-"}

const longestEntity = 10

func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] != '#' {
		text, ok := entities[name]
		if !ok {
			return "", 0
		}
		return text, end + 1
	}
	base, digits := 10, name[1:]
	if hex := strings.TrimLeft(digits, "xX"); hex != digits {
		base, digits = 16, hex
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil {
		return "", 0
	}
	return string(rune(n)), end + 1
}
