package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendText adds the value of a string, given what stands between its quotes as
// [Cursor.Text] gave it. As in encoding/json, a byte that is not UTF-8 and half of
// a surrogate pair become U+FFFD.
func AppendText(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		if b := body[i]; b != '\\' && b < utf8.RuneSelf {
			dst = append(dst, b)
			i++
			continue
		}
		r, size := character(body[i:])
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}

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
