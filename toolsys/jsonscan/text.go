package jsonscan

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendText adds the value of a string, given what stands between its quotes as
// [Cursor.Text] gave it. As in encoding/json, a byte that is not UTF-8 and half of
// a surrogate pair become U+FFFD.
func AppendText(dst, body []byte) []byte {
	for len(body) > 0 {
		n := 0
		for n < len(body) && body[n] != '\\' && body[n] < utf8.RuneSelf {
			n++
		}
		dst, body = append(dst, body[:n]...), body[n:]
		if len(body) > 0 {
			r, size := character(body)
			dst, body = utf8.AppendRune(dst, r), body[size:]
		}
	}
	return dst
}

// Marshal is json.Marshal without the escapes meant for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Equal reports whether two JSON texts mean the same. Numbers do with the same value to the last digit: those that differ
// may be one as floating-point numbers.
func Equal[T ~[]byte](a, b T) bool {
	x, errX := exactly(a)
	y, errY := exactly(b)
	return bytes.Equal(a, b) || errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func exactly(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return exact(v), err
}

// exact is a value with each number in the one form that its value has.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok { // which it is not with an exponent that is too large
			return json.Number(r.RatString())
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = exact(v[key])
		}
	}
	return v
}

// Repeated gives a member that an object, as it was read before, has more than once, as where somebody puts a text into it
// as it stands and that brings members of its own: which one was meant, nobody knows.
func Repeated(object []byte) (name string, twice bool) {
	dec, seen := json.NewDecoder(bytes.NewReader(object)), map[string]bool{}
	_, _ = dec.Token() // what opens it
	for dec.More() && !twice {
		token, _ := dec.Token()
		_ = dec.Decode(new(json.RawMessage))
		name, _ = token.(string)
		twice, seen[name] = seen[name], true
	}
	return name, twice
}

// AppendList appends a list of items, each of which one appends.
func AppendList[T any](dst []byte, items []T, one func(dst []byte, item T) []byte) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, item)
	}
	return append(dst, ']')
}

// AppendQuoted adds s as a JSON string, byte for byte as encoding/json writes it
// without the escapes meant for HTML: what a person wrote stays readable, and a byte
// that is not UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	for len(s) > 0 {
		n := 0
		for n < len(s) && verbatim[s[n]] {
			n++
		}
		dst, s = append(dst, s[:n]...), s[n:]
		if len(s) > 0 {
			size := 0
			dst, size = appendCharacter(dst, s)
			s = s[size:]
		}
	}
	return append(dst, '"')
}

// verbatim are the bytes that stand in a JSON string as they are, whatever is beside them.
var verbatim = func() (is [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		is[b] = b != '"' && b != '\\'
	}
	return is
}()

// appendCharacter adds the first character of s, which is not verbatim, and gives its size in s.
func appendCharacter(dst []byte, s string) (to []byte, size int) {
	const hex = "0123456789abcdef"
	if b := s[0]; b < utf8.RuneSelf {
		if i := strings.IndexByte(short, b); i >= 0 {
			return append(dst, '\\', letters[i]), 1
		}
		return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf]), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return append(dst, `\ufffd`...), 1
	case r == '\u2028' || r == '\u2029': // they end a line in JavaScript
		return append(dst, '\\', 'u', '2', '0', '2', hex[r&0xf]), size
	}
	return append(dst, s[:size]...), size
}

// short are the characters with an escape of one letter, letters are these.
const short, letters = "\"\\\b\f\n\r\t", `"\bfnrt`

// character reads the escape or the rune that body begins with.
func character(body []byte) (r rune, size int) {
	if body[0] != '\\' {
		return utf8.DecodeRune(body)
	}
	switch body[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unit(body)
	}
	return rune(body[1]), 2
}

// unit reads \u and its digits, with the second half of a pair.
func unit(body []byte) (r rune, size int) {
	r = digits(body[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(body) >= 12 && body[6] == '\\' && body[7] == 'u' {
		if pair := utf16.DecodeRune(r, digits(body[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// digits is the value of four hexadecimal digits, which the grammar has checked.
func digits(hex []byte) (r rune) {
	for _, b := range hex[:4] {
		digit := rune(b & 0x0f)
		if b > '9' {
			digit += 9
		}
		r = r<<4 | digit
	}
	return r
}
