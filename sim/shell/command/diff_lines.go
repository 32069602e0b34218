package command

import (
	"maps"
	"slices"
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
