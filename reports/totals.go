package reports

import (
	"fmt"
	"strings"
	"time"

	"toolbench/sim/scenario"
)

// Totals count the verdicts of a run.
type Totals struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	Errors int `json:"errors"`
}

// Count gives the totals of outcomes.
func Count(outcomes []scenario.Outcome) Totals {
	var t Totals
	for _, o := range outcomes {
		switch o.Status {
		case scenario.Passed:
			t.Passed++
		case scenario.Failed:
			t.Failed++
		default:
			t.Errors++
		}
	}
	return t
}

// String is the totals in words: "12 passed, 1 failed".
func (t Totals) String() string {
	parts := []string{fmt.Sprintf("%d passed", t.Passed)}
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Errors > 0 {
		parts = append(parts, plural(t.Errors, "error", "errors"))
	}
	return strings.Join(parts, ", ")
}

// sums are the virtual times of a run. Hidden is the share of all serial time
// that was saved (J7); errors, which have no times, count nothing.
type sums struct {
	makespan, serial time.Duration
	batches, calls   int
}

func sum(outcomes []scenario.Outcome) sums {
	var s sums
	for _, o := range outcomes {
		s.makespan += o.Makespan
		s.serial += o.Serial
		s.batches += len(o.Batches)
		s.calls += len(o.Calls)
	}
	return s
}

func (s sums) hidden() float64 {
	if s.serial <= 0 {
		return 0
	}
	return 100 * float64(s.serial-s.makespan) / float64(s.serial)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
