package secret

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Blanked stands wherever a secret stood. It is valid inside a JSON string.
const Blanked = "[redacted]"

// Finder finds secrets. It is read only once made, and may be used by many.
type Finder struct {
	known   *index // nil where no value is known
	vendors *index
}

// vendorIndex is the same for all finders.
var vendorIndex = sync.OnceValue(func() *index { return newIndex(vendorPatterns()) })

// New makes a finder that looks for these values beside what all finders look for.
func New(known ...Known) *Finder {
	f := &Finder{vendors: vendorIndex()}
	if patterns := patternsOf(known); len(patterns) > 0 {
		f.known = newIndex(patterns)
	}
	return f
}

const (
	// layers is how many escapes lie upon each other at most, as for JSON in JSON in
	// a URL, maxEncodings how often base64 lies within base64.
	layers       = 5
	maxEncodings = 2
)

// spans are the secrets' places, in order, that do not overlap.
func (f *Finder) spans(s string, layers int) []span {
	return merged(f.layer(s, layers, maxEncodings, nil))
}

// layer searches a text and what it is without its outermost escapes. Also is what
// was found around it: it is returned with the rest, and grown where it would cut an
// escape in two.
func (f *Finder) layer(s string, layers, depth int, also []span) []span {
	found := merged(append(also, f.plain(s, depth)...))
	if layers == 0 {
		return found
	}
	if strings.Contains(s, "+") && strings.ContainsAny(s, "%?&") && !strings.ContainsAny(s, " \n\"") { // a form, in which a plus is a blank
		found = merged(append(found, f.layer(strings.ReplaceAll(s, "+", " "), layers-1, depth, nil)...))
	}
	v := unescaped(s)
	if v == nil {
		return found
	}
	for i, sp := range found {
		found[i] = span{v.place(sp.from, false), v.place(sp.to, true), sp.kind} // no escape is cut in two
	}
	found = f.layer(v.text, layers-1, depth, found)
	for i, sp := range found {
		found[i] = v.down(sp)
	}
	return merged(found)
}

// plain searches a text as it stands, its lines joined, and what is in base64 in it.
func (f *Finder) plain(s string, depth int) []span {
	var found []span
	add := func(sp span) {
		if sp.to > sp.from {
			found = append(found, sp)
		}
	}
	looks := func(sp span) {
		value := s[sp.from:sp.to] // AWS marks its examples by their end
		if !data().examples[value] && !strings.HasSuffix(value, "EXAMPLEKEY") && (len(value) != 20 || !strings.HasSuffix(value, "EXAMPLE")) {
			add(sp)
		}
	}
	f.vendors.search(s, looks)
	labelled(s, looks)
	alone(s, looks)
	f.knowns(s, add)
	if depth > 0 {
		f.encoded(s, depth-1, add)
	}
	return found
}

// knowns looks for known values, which lines may break.
func (f *Finder) knowns(s string, add func(span)) {
	if f.known == nil {
		return
	}
	f.known.search(s, add)
	f.broken(s, joined, add)
	if strings.Contains(s, "=") {
		f.broken(s, mailed, add)
	}
}

func (f *Finder) broken(s, by string, add func(span)) {
	if v := flat(s, by); v != nil {
		f.known.search(v.text, func(sp span) { add(v.down(sp)) })
	}
}

// span is a piece of a text that is to be blanked, and why.
type span struct {
	from, to int
	kind     string
}

// merged sorts spans and joins those that overlap; the first of them names the
// kind, unless another is surer.
func merged(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			if out[n-1].kind == randomKind {
				out[n-1].kind = s.kind
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// pattern is a text to look for, and what to do where it stands.
type pattern struct {
	text string
	// found gives the piece to blank, if this is a secret indeed: at is where the
	// pattern begins.
	found func(text string, at int) (from, to int, ok bool)
	kind  string
}

// headBytes is how much of a pattern the index holds; no pattern is shorter.
const headBytes = 3

// index looks for many patterns in one pass. Most places of a text are the head of
// none, and one look at a table shows it.
type index struct {
	maybe [1 << 16 / 64]uint64
	heads map[uint32][]pattern
}

func newIndex(all []pattern) *index {
	x := &index{heads: map[uint32][]pattern{}}
	for _, n := range all {
		h := head(n.text, 0)
		x.heads[h] = append(x.heads[h], n)
		slot := hashed(h)
		x.maybe[slot/64] |= 1 << (slot % 64)
	}
	return x
}

func head(s string, i int) uint32 { return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 }

func hashed(h uint32) uint32 { return h * 0x9E3779B1 >> 16 }

// search gives the pieces to blank, in the order of their beginning patterns. A piece
// is not searched again, so that long runs of the same cost no more than others.
func (x *index) search(text string, add func(span)) {
	for i := 0; i+headBytes <= len(text); i++ {
		h := head(text, i)
		if slot := hashed(h); x.maybe[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		if to := x.at(text, i, h, add); to > i {
			i = to - 1
		}
	}
}

// at tries the patterns of one head, and gives where what was found ends, or 0.
func (x *index) at(text string, i int, h uint32, add func(span)) int {
	end := 0
	for _, n := range x.heads[h] {
		if len(text)-i < len(n.text) || text[i:i+len(n.text)] != n.text {
			continue
		}
		if from, to, ok := n.found(text, i); ok {
			add(span{from, to, n.kind})
			end = max(end, to)
		}
	}
	return end
}

// minEncoded is how long base64 must be to be read, in digits.
const minEncoded = 20

var digits64 = signsOf(lowers + uppers + digits + "+/_-")

// encoded searches the texts that are in base64 in a text.
func (f *Finder) encoded(s string, depth int, add func(span)) {
	for i := 0; i < len(s); {
		if !digits64[s[i]] {
			i++
			continue
		}
		to := runOf(&digits64, s, i, 0)
		if to-i >= minEncoded {
			f.run(s[i:to], depth, func(sp span) { add(span{i + sp.from, i + sp.to, sp.kind}) })
		}
		i = to
	}
}

const (
	// aligned is up to which length a run is read at every alignment: words and paths
	// may stand before what is encoded. A longer one begins where it begins.
	aligned = 4 << 10
	// probe is how many of its digits decide whether the rest is worth decoding.
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
	if len(text)-from < minEncoded/2 {
		return
	}
	for _, sp := range f.layer(text[from:], layers-2, depth, nil) {
		if sp.kind != randomKind { // of what is hidden, only what is sure
			add(span{skip + (from+sp.from)*4/3, min(end, skip+((from+sp.to)*4+2)/3), sp.kind})
		}
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
