package secret

import (
	"cmp"
	"encoding/hex"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text read in another way - unescaped, its lines joined - and where each
// part of it stands in the text it was read from.
type view struct {
	text  string
	parts []part
	// of is the length of the text it was read from.
	of int
}

// part begins at a place of the view and stands for what begins at from. An atomic
// one stands for an escape, and is never split.
type part struct {
	at, from int
	atomic   bool
}

// builder makes a view.
type builder struct {
	text  []byte
	parts []part
}

// next notes that what is written from now on stands at from.
func (b *builder) next(from int, atomic bool) {
	if n := len(b.parts); n > 0 && b.parts[n-1].at == len(b.text) {
		b.parts[n-1] = part{len(b.text), from, atomic}
		return
	}
	b.parts = append(b.parts, part{len(b.text), from, atomic})
}

func (b *builder) view(of int) *view { return &view{string(b.text), b.parts, of} }

// end is where a part ends in the text that was read.
func (v *view) end(i int) int {
	if i+1 < len(v.parts) {
		return v.parts[i+1].from
	}
	return v.of
}

// partAt finds the part that holds a place of the view.
func (v *view) partAt(at int) int {
	i, found := slices.BinarySearchFunc(v.parts, at, func(p part, at int) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	return i
}

// down gives the place, in the text that was read, of a piece of the view.
func (v *view) down(s span) span {
	first, last := v.partAt(s.from), v.partAt(s.to-1)
	from, to := v.parts[first].from, v.end(last)
	if !v.parts[first].atomic {
		from += s.from - v.parts[first].at
	}
	if !v.parts[last].atomic {
		to = v.parts[last].from + s.to - v.parts[last].at
	}
	return span{from, to, s.kind}
}

// place gives where a place of the text stands in the view; within an escape that is
// its beginning or, for the end of a piece, its end.
func (v *view) place(from int, end bool) int {
	i, found := slices.BinarySearchFunc(v.parts, from, func(p part, from int) int { return cmp.Compare(p.from, from) })
	if found {
		return v.parts[i].at
	}
	if i--; i < 0 {
		return 0
	}
	next := len(v.text)
	if i+1 < len(v.parts) {
		next = v.parts[i+1].at
	}
	switch p := v.parts[i]; {
	case !p.atomic:
		return min(p.at+from-p.from, next)
	case end:
		return next
	default:
		return p.at
	}
}

// replaced reads a text with what read takes replaced by what it stands for: hot names
// the bytes it may begin with, and a length of 0 means that nothing begins there. It
// gives nil when nothing was taken.
func replaced(s string, hot string, read func(s string, i int) (string, int)) *view {
	if !strings.ContainsAny(s, hot) {
		return nil
	}
	var begins [256]bool
	for i := range len(hot) {
		begins[hot[i]] = true
	}
	b := builder{text: make([]byte, 0, len(s))}
	b.next(0, false)
	done, any := 0, false
	for i := 0; i < len(s); {
		if !begins[s[i]] {
			i++
			continue
		}
		text, n := read(s, i)
		if n == 0 {
			i++
			continue
		}
		b.text = append(b.text, s[done:i]...)
		b.next(i, true)
		b.text = append(b.text, text...)
		i += n
		b.next(i, false)
		done, any = i, true
	}
	if !any {
		return nil
	}
	b.text = append(b.text, s[done:]...)
	return b.view(len(s))
}

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
	var b [1]byte
	_, err := hex.Decode(b[:], []byte(s[at:at+2]))
	return b[0], err == nil
}

const longestEntity = 10

func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';') + 1
	text := html.UnescapeString(s[:end])
	if text == s[:end] {
		return "", 0
	}
	return strings.ReplaceAll(text, "\u00a0", " "), end
}

// joined and mailed are what flat takes out.
const (
	joined = "\r\n"
	mailed = "\r\n="
)

// flat reads a text with its lines joined, as of a value that YAML or a shell has
// broken over several, or mailed: with mail's own escapes (=41) taken off as well.
// It gives nil where there is neither.
func flat(s, out string) *view { return replaced(s, out, folded) }

// folded reads a line's end with the next one's indentation, or an escape of mail:
// what it stands for, and its length, 0 for none.
func folded(s string, i int) (string, int) {
	switch s[i] {
	case '\r', '\n':
		n := i
		for n < len(s) && (s[n] == '\r' || s[n] == '\n' || s[n] == ' ' || s[n] == '\t') {
			n++
		}
		return "", n - i
	case '=':
		if rest := s[i+1:]; strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n") {
			return "", 1 + strings.IndexByte(rest, '\n') + 1
		}
		if c, ok := hexByte(s, i+1); ok {
			return string([]byte{c}), 3
		}
	}
	return "", 0
}
