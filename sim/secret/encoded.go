package secret

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

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
