package command

import (
	"fmt"
	"strings"
)

const noNewline = "\\ No newline at end of file\n"

// normal is diff's own format: 2,3c2 with < and >.
func normal(a, b *side, edits []edit) string {
	var out strings.Builder
	for _, e := range edits {
		kind := "c"
		left, right := span(e.a0, e.a1), span(e.b0, e.b1)
		switch {
		case e.a0 == e.a1:
			kind, left = "a", fmt.Sprint(e.a0)
		case e.b0 == e.b1:
			kind, right = "d", fmt.Sprint(e.b0)
		}
		out.WriteString(left + kind + right + "\n")
		a.write(&out, "< ", e.a0, e.a1)
		if kind == "c" {
			out.WriteString("---\n")
		}
		b.write(&out, "> ", e.b0, e.b1)
	}
	return out.String()
}

func span(from, to int) string {
	if to-from == 1 {
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to)
}

func (s *side) write(out *strings.Builder, mark string, from, to int) {
	for i := from; i < to; i++ {
		out.WriteString(mark + s.lines[i] + "\n")
		if i == len(s.lines)-1 && !s.ended {
			out.WriteString(noNewline)
		}
	}
}

// unified is diff -u: edits closer than twice the context share a hunk.
func unified(a, b *side, edits []edit, context int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", a.label, b.label)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].a0-edits[n-1].a1 <= 2*context {
			n++
		}
		hunk(&out, a, b, edits[:n], context)
		edits = edits[n:]
	}
	return out.String()
}

func hunk(out *strings.Builder, a, b *side, edits []edit, context int) {
	first, last := edits[0], edits[len(edits)-1]
	before := min(context, first.a0)
	after := min(context, len(a.lines)-last.a1)
	a0, a1 := first.a0-before, last.a1+after
	b0, b1 := first.b0-before, last.b1+after
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkSpan(a0, a1), hunkSpan(b0, b1))
	at := a0
	for _, e := range edits {
		a.write(out, " ", at, e.a0)
		a.write(out, "-", e.a0, e.a1)
		b.write(out, "+", e.b0, e.b1)
		at = e.a1
	}
	a.write(out, " ", at, a1)
}

func hunkSpan(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
