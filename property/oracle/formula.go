package oracle

import (
	"slices"
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// Span is when a call starts and ends, from the request.
type Span struct{ Start, End time.Duration }

// Undisturbed reports whether nothing in a case stops anything: then the formula holds for each of its messages.
// Calls may fail, as long as none stops its siblings; nothing is rewritten, and the user sends no message.
func Undisturbed(c *des.Case) bool {
	if len(c.Interrupts)+len(c.Faults) > 0 || c.AbortAt > 0 || c.Policy == schedule.Effects.String() {
		return false
	}
	for n := range c.Calls() {
		if k := c.Call(n); k.StopsSiblings || len(k.Hooks) > 0 {
			return false
		}
	}
	return true
}

// Spans is the definition of the policies, for one undisturbed message. A call may start
//
//   - when it is complete, and not before the stream's end under serial and batch;
//   - not before the calls in front of it;
//   - when all in front of it have ended, if it is exclusive; else when all exclusive
//     ones in front of it have;
//   - when fewer than limit run.
//
// It starts at the first instant at which all four hold, and runs its time. Under
// serial every call counts as exclusive.
func Spans(policy schedule.Policy, limit int, t *des.Turn) []Span {
	spans := make([]Span, len(t.Calls))
	for i := range t.Calls {
		k := &t.Calls[i]
		start := k.At
		if policy != schedule.Streaming {
			start = max(start, t.End, t.Calls[len(t.Calls)-1].At)
		}
		for j := range i {
			start = max(start, spans[j].Start)
			if exclusive(policy, k) || exclusive(policy, &t.Calls[j]) {
				start = max(start, spans[j].End)
			}
		}
		start = max(start, roomAt(limit, spans[:i]))
		spans[i] = Span{start, start + duration(k)}
	}
	return spans
}

// roomAt is when fewer than limit of the calls in front still run.
func roomAt(limit int, before []Span) time.Duration {
	if len(before) < limit {
		return 0
	}
	ends := each(before, func(s Span) time.Duration { return s.End })
	slices.Sort(ends)
	return ends[len(ends)-limit]
}

func exclusive(policy schedule.Policy, k *des.Call) bool {
	return policy == schedule.Serial || !k.Safe || k.CannotRun()
}

// duration is how long a call takes by itself: the question to the person, then its run, up to its limit.
func duration(k *des.Call) time.Duration {
	asked, run := time.Duration(0), k.Takes()
	if k.Limit > 0 && !k.IgnoresCancel {
		run = min(run, k.Limit)
	}
	if k.Ask != nil {
		asked = k.Ask.Takes()
		if !k.Ask.Allow {
			run = 0
		}
	}
	if k.CannotRun() {
		return 0
	}
	return asked + run
}

// CheckSpans reports whether an undisturbed case's log follows from the formula; the call that
// does not is named, with what it should have done.
func CheckSpans(c *des.Case, log *des.Log) (call string, want Span, ok bool) {
	policy, err := schedule.ParsePolicy(c.Policy)
	if err != nil {
		return "", Span{}, false
	}
	var request time.Duration
	var spans []Span
	first, turn := 0, -1
	for _, e := range log.Entries {
		switch {
		case e.Kind == des.Request:
			if turn >= 0 {
				first += len(c.Turns[turn].Calls)
			}
			if turn++; turn == len(c.Turns) {
				return "", Span{}, true
			}
			request, spans = e.At, Spans(policy, c.Limit, &c.Turns[turn])
		case e.Kind == des.Started && e.At-request != spans[int(e.Call)-first].Start,
			e.Kind == des.Ended && e.At-request != spans[int(e.Call)-first].End:
			return c.Call(int(e.Call)).ID, spans[int(e.Call)-first], false
		}
	}
	return "", Span{}, true
}
