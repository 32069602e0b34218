package check

import (
	"slices"

	"toolbench/toolsys/trace"
)

// results are the results that left and stayed, in the order in which they left.
// One that left while its stream was still going, and was discarded with the
// stream, is none (J5).
func results(events []trace.Event) []trace.Event {
	var kept []trace.Event
	for _, e := range events {
		switch e.Kind {
		case trace.Emitted:
			kept = append(kept, e)
		case trace.Discarded:
			kept = slices.DeleteFunc(kept, func(k trace.Event) bool { return key(k) == key(e) })
		}
	}
	return kept
}
