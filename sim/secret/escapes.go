package secret

import (
	"encoding/base64"
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

// leastEncoded is how long base64 must be to be read, in digits.
const leastEncoded = 20

var digits64 = signsOf(lowers + uppers + digits + "+/_-")

// encoded searches the texts that are in base64 in a text.
func (f *Finder) encoded(s string, depth int, add func(span)) {
	for i := 0; i < len(s); {
		if !digits64[s[i]] {
			i++
			continue
		}
		to := runOf(&digits64, s, i, 0)
		if to-i >= leastEncoded {
			f.run(s[i:to], depth, func(sp span) { add(span{i + sp.from, i + sp.to, sp.kind}) })
		}
		i = to
	}
}

const (
	// aligned is up to which length a run is read at every alignment: words and paths
	// may stand before what is encoded. A longer one begins where it begins.
	aligned = 4 << 10
	// probe is how many of its digits tell whether the rest is worth decoding.
	probe = 64
)

// run searches one run of base64's digits.
func (f *Finder) run(run string, depth int, add func(span)) {
	if len(run) > aligned {
		if head := decode64(run[:probe]); len(head)-legible(head) < len(head)/2 {
			return
		}
		f.decoded(decode64(run), 0, len(run), depth, add)
		return
	}
	for skip := range min(4, len(run)) {
		f.decoded(decode64(run[skip:]), skip, len(run), depth, add)
	}
}

// decoded searches what the digits from a place on stand for.
func (f *Finder) decoded(text string, skip, end, depth int, add func(span)) {
	from := legible(text)
	if len(text)-from < leastEncoded/2 {
		return
	}
	for _, sp := range f.layer(text[from:], layers-2, depth, nil) {
		if sp.kind == randomKind { // of what is hidden, only what is sure
			continue
		}
		add(span{skip + (from+sp.from)*4/3, min(end, skip+((from+sp.to)*4+2)/3), sp.kind})
	}
}

var oneAlphabet = strings.NewReplacer("-", "+", "_", "/")

func decode64(run string) string {
	run = run[:len(run)/4*4+[4]int{0, 0, 2, 3}[len(run)%4]]
	out, err := base64.RawStdEncoding.DecodeString(oneAlphabet.Replace(run))
	if err != nil {
		return "" // cannot be: digits only
	}
	return string(out)
}

// legible gives from where on a text is one to its end, which may be in the middle of
// a character.
func legible(s string) int {
	at := len(s)
	for at > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:at])
		cut := r == utf8.RuneError && n == 1
		if cut && len(s)-at > utf8.UTFMax || !cut && r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			break
		}
		at -= n
	}
	return at
}
