package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedNames(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// edit replaces lines a[a0:a1] by b[b0:b1].
type edit struct{ a0, a1, b0, b1 int }

// diffLines finds a shortest set of edits (Myers, with the equal ends cut off first).
func diffLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	keep := common(a[head:len(a)-tail], b[head:len(b)-tail])
	var out []edit
	i, j := head, head
	for _, k := range append(keep, [2]int{len(a) - tail - head, len(b) - tail - head}) {
		x, y := k[0]+head, k[1]+head
		if x > i || y > j {
			out = append(out, edit{i, x, j, y})
		}
		i, j = x+1, y+1
	}
	return slide(out, a, b)
}

// common gives a longest common subsequence as pairs of indexes. Memory is bounded: where the two sides
// differ by more than maxTrace edits, the rest counts as replaced.
func common(a, b []string) [][2]int {
	const maxTrace = 2000
	limit := min(len(a)+len(b), maxTrace)
	offset := limit + 1
	v := make([]int, 2*limit+3)
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[offset-d-1:offset+d+2]))
		for k := -d; k <= d; k += 2 {
			x := v[offset+k-1] + 1
			if k == -d || k != d && v[offset+k-1] < v[offset+k+1] {
				x = v[offset+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[offset+k] = x
			if x >= len(a) && y >= len(b) {
				return backtrack(trace, len(a), len(b))
			}
		}
	}
	return nil
}

func backtrack(trace [][]int, x, y int) [][2]int {
	var out [][2]int
	for d := len(trace) - 1; d >= 0; d-- {
		v := func(k int) int { return trace[d][k+d+1] }
		k := x - y
		prev := k - 1
		if k == -d || k != d && v(k-1) < v(k+1) {
			prev = k + 1
		}
		px, start := 0, 0 // where the edit began, and where the equal lines behind it begin
		if d > 0 {
			px = v(prev)
			start = px + max(k-prev, 0)
		}
		for x > start {
			x, y = x-1, y-1
			out = append(out, [2]int{x, y})
		}
		x, y = px, px-prev
	}
	slices.Reverse(out)
	return out
}

// slide moves pure insertions and deletions down as far as they go, as GNU does, and joins neighbours.
func slide(edits []edit, a, b []string) []edit {
	for i := range edits {
		e := &edits[i]
		endA, endB := len(a), len(b)
		if i+1 < len(edits) {
			endA, endB = edits[i+1].a0, edits[i+1].b0
		}
		for e.b0 == e.b1 && e.a1 < endA && a[e.a0] == a[e.a1] && e.b1 < endB {
			e.a0, e.a1, e.b0, e.b1 = e.a0+1, e.a1+1, e.b0+1, e.b1+1
		}
		for e.a0 == e.a1 && e.b1 < endB && b[e.b0] == b[e.b1] && e.a1 < endA {
			e.a0, e.a1, e.b0, e.b1 = e.a0+1, e.a1+1, e.b0+1, e.b1+1
		}
	}
	var out []edit
	for _, e := range edits {
		if n := len(out) - 1; n >= 0 && out[n].a1 == e.a0 && out[n].b1 == e.b0 {
			out[n].a1, out[n].b1 = e.a1, e.b1
			continue
		}
		out = append(out, e)
	}
	return out
}

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
