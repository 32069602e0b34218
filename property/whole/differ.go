package whole

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/sim/des"
)

// Differ says how the logs of the two engines differ; "" when they do not. Calls that
// wait for the floor and are stopped together have no order among them: with two of
// those, only what happens in each instant is compared, not its order.
func Differ(c *des.Case, model, whole *des.Log) string {
	if Loose(c) {
		model, whole = settled(model), settled(whole)
	}
	want, got := model.String(), whole.String()
	if want == got {
		return ""
	}
	return udiff.Unified("model", "system", want, got)
}

// Loose says whether a case may have calls without an order among them.
func Loose(c *des.Case) bool {
	if c == nil {
		return false
	}
	rewritten := 0
	for n := range c.Calls() {
		for _, h := range c.Call(n).Hooks {
			if h.Does == des.Alone {
				rewritten++
				break
			}
		}
	}
	return rewritten > 1
}

// settled puts the entries of each instant into a fixed order.
func settled(l *des.Log) *des.Log {
	sorted := &des.Log{Entries: slices.Clone(l.Entries), State: l.State}
	slices.SortStableFunc(sorted.Entries, func(a, b des.Entry) int {
		if a.At != b.At {
			return int(min(1, max(-1, a.At-b.At)))
		}
		return strings.Compare(a.String(), b.String())
	})
	return sorted
}
