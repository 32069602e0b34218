package secret

import (
	"strings"
	"sync"
)

// Blanked stands wherever a secret stood. It is valid inside a JSON string.
const Blanked = "[redacted]"

// Finder finds secrets. It is read only once made, and may be used by many.
type Finder struct {
	known   *index
	vendors *index
	none    bool // no value is known
}

// vendorIndex is the same for all finders.
var vendorIndex = sync.OnceValue(func() *index { return newIndex(vendorNeedles()) })

// New makes a finder that knows these values beside what all finders look for.
func New(known ...Known) *Finder {
	needles := needlesOf(known)
	return &Finder{known: newIndex(needles), vendors: vendorIndex(), none: len(needles) == 0}
}

const (
	// layers is how many escapes lie upon each other at most, as for JSON in JSON in
	// a URL, deepest how often base64 lies within base64.
	layers  = 5
	deepest = 2
)

// spans are the secrets' places, in order, that do not overlap.
func (f *Finder) spans(s string, layers int) []span {
	return merged(f.layer(s, layers, deepest, nil))
}

// layer searches a text and what it is without its outermost escapes. Also is what
// was found around it: it is returned with the rest, and grown where it would cut an
// escape in two.
func (f *Finder) layer(s string, layers, depth int, also []span) []span {
	found := merged(append(also, f.plain(s, depth)...))
	if layers == 0 {
		return found
	}
	v := unescaped(s)
	if v == nil {
		return found
	}
	if isForm(s) {
		found = merged(append(found, f.layer(strings.ReplaceAll(s, "+", " "), layers-1, depth, nil)...))
	}
	for i, sp := range found {
		found[i] = v.up(sp)
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
	f.vendors.search(s, add)
	labelled(s, add)
	alone(s, add)
	f.knowns(s, add)
	if depth > 0 {
		f.encoded(s, depth-1, add)
	}
	return found
}

// knowns looks for known values, which lines may break.
func (f *Finder) knowns(s string, add func(span)) {
	if f.none {
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

// isForm reports a form's encoding, in which a plus is a blank.
func isForm(s string) bool {
	return strings.Contains(s, "+") && strings.Contains(s, "%") && !strings.ContainsAny(s, " \n\"")
}
