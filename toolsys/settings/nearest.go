package settings

import "strings"

// suggestion words the nearest known variable as a remedy, or says nothing
// where even that one would be a guess (more than half of it differs).
func suggestion(variable string) string {
	best, least := "", len(variable)
	for _, key := range Keys() {
		if d := distance(trimmed(variable), trimmed(key.Name)); d < least {
			best, least = key.Name, d
		}
	}
	if best == "" || least > len(trimmed(best))/2 {
		return ""
	}
	return "; did you mean " + best + "?"
}

// trimmed takes the prefix off, which all flags share and so says nothing about nearness.
func trimmed(variable string) string { return strings.TrimPrefix(variable, FlagPrefix) }

// distance is Levenshtein's, by byte: variables are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
