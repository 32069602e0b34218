package cli

import (
	"fmt"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// compare holds the n-th run of a scenario against the first: with the same seed
// it must be the same run (O4). The failure shows where the traces part.
func compare(first, other scenario.Outcome, n int) (scenario.Failure, bool) {
	if other.Status == first.Status && other.Digest == first.Digest {
		return scenario.Failure{}, false
	}
	if other.Status == scenario.Errored && other.Err != nil {
		return scenario.Failure{Expectation: "repeat", Expected: "the same run each time",
			Found: fmt.Sprintf("run %d: %s", n, other.Err)}, true
	}
	return scenario.Failure{
		Expectation: "repeat",
		Expected:    fmt.Sprintf("trace %s of run 1\n%s", first.Digest, around(first.Trace, parting(first.Trace, other.Trace))),
		Found:       fmt.Sprintf("trace %s of run %d\n%s", other.Digest, n, around(other.Trace, parting(first.Trace, other.Trace))),
	}, true
}

func line(e trace.Event) string { return string(e.AppendLine(nil)) }

// parting is the index of the first event that is not the same.
func parting(a, b []trace.Event) int {
	for i := range min(len(a), len(b)) {
		if line(a[i]) != line(b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// around are the lines of a trace from a little before to a little after an event.
func around(events []trace.Event, at int) string {
	const before, after = 2, 3
	var b strings.Builder
	for i := max(0, at-before); i < min(len(events), at+after); i++ {
		fmt.Fprintf(&b, "%d: %s\n", i+1, line(events[i]))
	}
	return b.String()
}
