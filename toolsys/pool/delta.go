//go:build !no_delta_discovery

package pool

import (
	"slices"
	"strings"
)

func init() { deltaText = changes }

// changes lists the names that were added and those that are gone.
func changes(before, now []string) string {
	var lines []string
	for _, n := range now {
		if !slices.Contains(before, n) {
			lines = append(lines, "+ "+n)
		}
	}
	for _, n := range before {
		if !slices.Contains(now, n) {
			lines = append(lines, "- "+n)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "<system-reminder>\nDeferred tools that can be loaded with ToolSearch have changed (+ added, - gone):\n" +
		strings.Join(lines, "\n") + "\n</system-reminder>"
}
