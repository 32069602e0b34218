package search

// distance is Damerau and Levenshtein's, with neighbours swapped as one step
// and no letter touched twice. What exceeds the bound is bound+1: it is not
// looked at to the end.
func distance(a, b []rune, bound int) int {
	if abs(len(a)-len(b)) > bound {
		return bound + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j]+cost(a[i], b[j]), last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], bound+1)
}

// cost is that of putting one letter for another.
func cost(x, y rune) int {
	if x == y {
		return 0
	}
	return 1
}

// abs is a number without its sign.
func abs(n int) int { return max(n, -n) }
