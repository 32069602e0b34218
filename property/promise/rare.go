package promise

import (
	"slices"

	"toolbench/sim/des"
	"toolbench/toolsys/schedule"
)

// Situation is something rare worth having seen: a campaign that never did has not
// looked there.
type Situation struct {
	Name string
	// Policy is the only one under which it can come up; "" for any.
	Policy string
	// In counts how often it came up.
	In func(v *View) int
}

// Situations are all of them.
func Situations() []Situation { return situations }

var situations = slices.Concat(orders[:], faults[:])

// orders are rare orders of events; faults are what went wrong.
var orders = [...]Situation{
	{"an interrupt stopped a running call", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.cause == schedule.UserInterrupt
	})},
	{"an interrupt spared a running call", "", runs(func(_ *View, m *message, r *run) bool {
		return m.spoken != none && r.start != none && r.start < m.spoken && r.ended > m.spoken && r.told == none
	})},
	{"an interrupt hit a waiting exclusive call", "", runs(func(v *View, _ *message, r *run) bool {
		return r.start == none && r.status == des.Interrupted && !r.call.Safe
	})},
	{"an interrupt hit a waiting safe call", "", runs(func(v *View, _ *message, r *run) bool {
		return r.start == none && r.status == des.Interrupted && r.call.Safe
	})},
	{"a call ended in the instant of an interrupt, by itself", "", runs(func(v *View, m *message, r *run) bool {
		return m.spoken != none && r.ran() && v.at(r.ended) == v.at(m.spoken)
	})},
	{"an interrupt hit a question to the person", "", runs(func(v *View, m *message, r *run) bool {
		return r.cause == schedule.UserInterrupt && r.asked != none && r.decided == none
	})},
	{"the user spoke twice within a message", "", twice(des.Interrupt)},
	{"a failure stopped a running sibling", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.cause == schedule.SiblingFailed
	})},
	{"a failure stopped a queued sibling", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.start == none && r.status == des.SiblingFailed
	})},
	{"two failures in one instant, the first stopped the second", "", runs(func(v *View, m *message, r *run) bool {
		return r.cause == schedule.SiblingFailed && r.call.Stops && r.ran() && r.status != des.OK
	})},
	{"a call that came after a failure ran", "", runs(func(_ *View, m *message, r *run) bool { return r.start != none }, after)},
	{"a deaf call outlasted what stopped it", "", runs(func(v *View, _ *message, r *run) bool {
		return r.told != none && r.ended != none && r.ran() && v.at(r.ended) > v.at(r.told)
	})},
	{"a stream was abandoned with calls running", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.cause == schedule.StreamAbandoned
	})},
	{"a stream was abandoned after results had left", schedule.Streaming.String(), runs(func(_ *View, m *message, r *run) bool {
		return r.discarded != none && r.emitted != none
	})},
	{"a modifier was undone with its stream", schedule.Streaming.String(), runs(func(_ *View, m *message, r *run) bool {
		return m.abandoned && r.applied != none
	})},
	{"a retried answer brought a call again", "", (*View).repeated},
	{"a call waited to run alone", "", runs(func(v *View, _ *message, r *run) bool {
		return r.exclusive(v.Case) && r.start != none && v.at(r.start) > v.at(r.ready)
	})},
	{"the limit was reached", "", func(v *View) int { return bit(v.peak() == v.Case.Limit && v.Case.Limit > 1) }},
	{"a rewritten call waited for the floor", "", runs(func(v *View, _ *message, r *run) bool {
		return r.escalated != none && r.resumed() != none && v.at(r.resumed()) > v.at(r.escalated)
	})},
	{"a rewritten call was stopped while it waited", "", runs(func(v *View, _ *message, r *run) bool {
		return r.escalated != none && r.resumed() == none && r.told != none
	})},
	{"a time limit ended a run", "", runs(func(_ *View, _ *message, r *run) bool { return r.status == des.TimedOut })},
	{"a time limit ended in the instant of the run's own end", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.status == des.TimedOut && r.call.Limit == r.call.For
	})},
	{"a person denied", "", runs(func(_ *View, _ *message, r *run) bool { return r.asked != none && r.status == des.Denied })},
	{"a person never answered", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.asked != none && r.call.Ask != nil && r.call.Ask.Never
	})},
	{"a hook denied or stopped", "", runs(func(_ *View, _ *message, r *run) bool {
		return r.status == des.Stopped || r.status == des.Denied && r.asked == none
	})},
	{"a safe call's modifier acted after its batch", schedule.Batch.String(), runs(func(v *View, _ *message, r *run) bool {
		return r.applied > r.emitted && r.emitted != none
	})},
	{"a safe call's modifier was dropped", schedule.Streaming.String(), runs(func(_ *View, _ *message, r *run) bool { return r.dropped != none })},
	{"a call overtook another", schedule.Effects.String(), func(v *View) int { return v.overtakings() }},
	{"a call waited for one it conflicts with, others did not", schedule.Effects.String(), runs(overtaken)},
	{"retries were used up", "", func(v *View) int { return bit(v.Case.Leaves == 0 && v.Log.Entries[len(v.Log.Entries)-1].Code != 0) }},
	{"the conversation was stopped with calls running", "", runs(func(_ *View, _ *message, r *run) bool { return r.cause == schedule.SessionAborted })},
	{"a conversation had no calls", "", func(v *View) int { return bit(len(v.runs) == 0) }},
}

type filter func(v *View, m *message, r *run) bool

// runs counts the runs that all filters let through.
func runs(filters ...filter) func(*View) int {
	return func(v *View) int {
		n := 0
		for i := range v.messages {
			m := &v.messages[i]
			for j := range v.of(m) {
				n += bit(pass(v, m, &v.of(m)[j], filters))
			}
		}
		return n
	}
}

func pass(v *View, m *message, r *run, filters []filter) bool {
	for _, f := range filters {
		if !f(v, m, r) {
			return false
		}
	}
	return true
}

// after: a sibling had failed before the call was there.
func after(v *View, m *message, r *run) bool {
	for i := range v.of(m) {
		if other := &v.of(m)[i]; other.ended != none && other.ended < r.ready && other.failed() {
			return true
		}
	}
	return false
}

// overtaken: a later call started while it waited.
func overtaken(v *View, m *message, r *run) bool {
	if !v.byEffects() || r.start == none {
		return false
	}
	for i := range v.of(m) {
		if other := &v.of(m)[i]; other.number > r.number && other.start != none && other.start < r.start {
			return true
		}
	}
	return false
}

func (v *View) overtakings() int {
	n := 0
	for i := range v.messages {
		last := none
		for _, r := range v.of(&v.messages[i]) {
			if r.start != none {
				n += bit(r.start < last)
				last = max(last, r.start)
			}
		}
	}
	return n
}

func twice(what des.What) func(*View) int {
	return func(v *View) int {
		n, seen := 0, 0
		for _, e := range v.Log.Entries {
			switch e.What {
			case des.Request:
				seen = 0
			case what:
				if seen++; seen == 2 {
					n++
				}
			}
		}
		return n
	}
}

// repeated counts the runs of calls that ran again later.
func (v *View) repeated() int {
	n := len(v.runs)
	for _, at := range v.latest {
		n -= bit(at != none)
	}
	return n
}

func (v *View) peak() int {
	most := 0
	_ = v.sweep(func(s *swept) error { most = max(most, s.running); return nil }, nil) // it only counts
	return most
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
