package secret

import (
	"cmp"
	"slices"
	"strings"
)

// view is a text read in another way - unescaped, its lines joined - and where each
// part of it stands in the text it was read from.
type view struct {
	text  string
	parts []part
	// of is the length of the text it was read from.
	of int
}

// part begins at a place of the view and stands for what begins at from. A whole one
// stands for an escape, and is never split.
type part struct {
	at, from int
	whole    bool
}

// builder makes a view.
type builder struct {
	text  []byte
	parts []part
}

// next says that what is written from now on stands at from.
func (b *builder) next(from int, whole bool) {
	if n := len(b.parts); n > 0 && b.parts[n-1].at == len(b.text) {
		b.parts[n-1] = part{len(b.text), from, whole}
		return
	}
	b.parts = append(b.parts, part{len(b.text), from, whole})
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
	if !v.parts[first].whole {
		from += s.from - v.parts[first].at
	}
	if !v.parts[last].whole {
		to = v.parts[last].from + s.to - v.parts[last].at
	}
	return span{from, to, s.kind}
}

// up gives the piece of the view that covers a piece of the text that was read, so
// that no escape is cut in two.
func (v *view) up(s span) span {
	return span{v.place(s.from, false), v.place(s.to, true), s.kind}
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
	case !p.whole:
		return min(p.at+from-p.from, next)
	case end:
		return next
	default:
		return p.at
	}
}

// replaced reads a text with what read takes replaced by what it stands for: hot names
// the bytes it may begin with, and a length of 0 says that nothing begins there. It
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
