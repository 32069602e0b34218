package settings

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// suggestion words the nearest known variable as a remedy, or says nothing
// where even that one would be a guess (more than half of it differs).
func suggestion(variable string) string {
	best, least := "", len(variable)
	for _, key := range Keys() {
		if d := levenshtein.ComputeDistance(trimmed(variable), trimmed(key.Name)); d < least {
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
