package scenario

import (
	"cmp"
	"slices"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// StreamFaults gives what goes wrong with the answer to the n-th request, counted from 1.
func (sc *Scenario) StreamFaults() func(request int) cassette.Fault {
	return func(request int) cassette.Fault {
		f := cassette.Fault{}
		if sc.Stream.Chunk > 0 {
			f.Chunk = func(int) int { return sc.Stream.Chunk }
		}
		for _, s := range sc.Faults {
			if request > 0 && s.Request == request {
				s.inject(&f)
			}
		}
		return f
	}
}

// inject makes the answer of a request go wrong as the fault demands; what happens to
// calls and servers is no business of the answer.
func (s Fault) inject(f *cassette.Fault) {
	f.Status, f.Body = s.Status, s.Body
	switch {
	case s.StreamError != "":
		f.Error, f.ErrorAfter = &stream.Error{Type: s.StreamError, Message: "injected"}, s.CutAfter
	case s.CutAfter > 0:
		f.CutAfter = s.CutAfter
	}
	if s.StallAfter > 0 {
		f.Stall = &cassette.Stall{After: s.StallAfter, For: s.Stall.D()}
	}
	switch {
	case s.Malformed > 0:
		f.Rewrite = malform(s.Malformed)
	case s.Twice > 0:
		f.Rewrite = repeat(s.Twice)
	case s.Late > 0:
		f.Rewrite = delay(s.Late, s.LateFor)
	}
	f.AgainIf = refused
}

// refused reports whether a client cannot take an answer: then it is left for the retry.
func refused(events []stream.Event) bool {
	var a message.Assembler
	for _, e := range events {
		if _, err := a.Add(e.Data); err != nil {
			return true
		}
	}
	return false // what breaks off is another fault
}

// malform breaks the JSON of the n-th event.
func malform(n int) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n <= len(events) {
			e := events[n-1].Clone()
			e.Data = e.Data[:len(e.Data)/2]
			events[n-1] = e
		}
		return events
	}
}

// repeat brings the n-th event twice.
func repeat(n int) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n > len(events) {
			return events
		}
		return slices.Insert(slices.Clone(events), n, events[n-1].Clone())
	}
}

// delay brings the n-th event so much later, behind those that arrive meanwhile.
func delay(n int, by time.Duration) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n > len(events) {
			return events
		}
		out := slices.Clone(events)
		out[n-1].At += by
		slices.SortStableFunc(out, func(a, b stream.Event) int { return cmp.Compare(a.At, b.At) })
		return out
	}
}
