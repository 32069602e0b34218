package invariant

import (
	"slices"
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// schedulerGoal is a goal of scheduler cases.
type schedulerGoal struct {
	Name string
	// Policy is the only one under which it can come up; "" for any.
	Policy string
	// In counts how often it came up.
	Count func(v *View) int
}

var schedulerGoals = slices.Concat(orderGoals[:], faultGoals[:])

// orderGoals are rare orders of events.
var orderGoals = [...]schedulerGoal{
	{"an interrupt stopped a running call", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.cause == schedule.UserInterrupt
	})},
	{"an interrupt spared a running call", "", countRuns(func(_ *View, m *message, r *callRun) bool {
		return m.interrupted != none && r.start != none && r.start < m.interrupted && r.ended > m.interrupted && r.cancelled == none
	})},
	{"an interrupt hit a waiting exclusive call", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.start == none && r.status == des.Interrupted && !r.call.Safe
	})},
	{"an interrupt hit a waiting safe call", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.start == none && r.status == des.Interrupted && r.call.Safe
	})},
	{"a call ended in the instant of an interrupt, by itself", "", countRuns(func(v *View, m *message, r *callRun) bool {
		return m.interrupted != none && r.ranToEnd() && v.at(r.ended) == v.at(m.interrupted)
	})},
	{"an interrupt hit a question to the person", "", countRuns(func(v *View, m *message, r *callRun) bool {
		return r.cause == schedule.UserInterrupt && r.asked != none && r.decided == none
	})},
	{"the user interrupted twice within a message", "", countDoubles(des.Interrupt)},
	{"a failure stopped a running sibling", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.cause == schedule.SiblingFailed
	})},
	{"a failure stopped a queued sibling", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.start == none && r.status == des.SiblingFailed
	})},
	{"two failures in one instant, the first stopped the second", "", countRuns(func(v *View, m *message, r *callRun) bool {
		return r.cause == schedule.SiblingFailed && r.call.StopsSiblings && r.ranToEnd() && r.status != des.OK
	})},
	{"a call that came after a failure ran", "", countRuns(func(_ *View, m *message, r *callRun) bool { return r.start != none }, afterFailure)},
	{"a call that ignores cancelling outlasted what stopped it", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.cancelled != none && r.ended != none && r.ranToEnd() && v.at(r.ended) > v.at(r.cancelled)
	})},
	{"a stream was abandoned with calls running", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.cause == schedule.StreamAbandoned
	})},
	{"a stream was abandoned after results had left", schedule.Streaming.String(), countRuns(func(_ *View, m *message, r *callRun) bool {
		return r.discarded != none && r.emitted != none
	})},
	{"a modifier was undone with its stream", schedule.Streaming.String(), countRuns(func(_ *View, m *message, r *callRun) bool {
		return m.abandoned && r.applied != none
	})},
	{"a retried answer brought a call again", "", (*View).repeated},
	{"a call waited to run alone", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.exclusive(v.Case) && r.start != none && v.at(r.start) > v.at(r.ready)
	})},
	{"the limit was reached", "", func(v *View) int { return count(v.peak() == v.Case.Limit && v.Case.Limit > 1) }},
	{"a rewritten call waited to run alone", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.escalated != none && r.resumed() != none && v.at(r.resumed()) > v.at(r.escalated)
	})},
	{"a rewritten call was stopped while it waited", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.escalated != none && r.resumed() == none && r.cancelled != none
	})},
	{"a time limit ended a run", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.status == des.TimedOut })},
	{"a time limit ended in the instant of the run's own end", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.status == des.TimedOut && r.call.Limit == r.call.For
	})},
	{"a person denied", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.asked != none && r.status == des.Denied })},
	{"a person never answered", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.asked != none && r.call.Ask != nil && r.call.Ask.Never
	})},
	{"a hook denied or stopped", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.status == des.Stopped || r.status == des.Denied && r.asked == none
	})},
	{"a safe call's modifier acted after its batch", schedule.Batch.String(), countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.applied > r.emitted && r.emitted != none
	})},
	{"a safe call's modifier was dropped", schedule.Streaming.String(), countRuns(func(_ *View, _ *message, r *callRun) bool { return r.dropped != none })},
	{"a call overtook another", schedule.Effects.String(), func(v *View) int { return v.overtakings() }},
	{"a call waited for one it conflicts with, others did not", schedule.Effects.String(), countRuns(overtaken)},
	{"retries were used up", "", func(v *View) int { return count(v.Case.AbortAt == 0 && v.Log.Entries[len(v.Log.Entries)-1].Code != 0) }},
	{"the conversation was stopped with calls running", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.cause == schedule.SessionAborted })},
	{"a conversation had no calls", "", func(v *View) int { return count(len(v.runs) == 0) }},
}

type filter func(v *View, m *message, r *callRun) bool

// countRuns counts the runs that pass all filters.
func countRuns(filters ...filter) func(*View) int {
	return func(v *View) int {
		n := 0
		for i := range v.messages {
			m := &v.messages[i]
			for j := range v.of(m) {
				n += count(pass(v, m, &v.of(m)[j], filters))
			}
		}
		return n
	}
}

func pass(v *View, m *message, r *callRun, filters []filter) bool {
	for _, f := range filters {
		if !f(v, m, r) {
			return false
		}
	}
	return true
}

// afterFailure reports whether a sibling had failed before the call was there.
func afterFailure(v *View, m *message, r *callRun) bool {
	for i := range v.of(m) {
		if other := &v.of(m)[i]; other.ended != none && other.ended < r.ready && other.failed() {
			return true
		}
	}
	return false
}

// overtaken reports whether a later call started while it waited.
func overtaken(v *View, m *message, r *callRun) bool {
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
				n += count(r.start < last)
				last = max(last, r.start)
			}
		}
	}
	return n
}

func countDoubles(what des.Kind) func(*View) int {
	return func(v *View) int {
		n, seen := 0, 0
		for _, e := range v.Log.Entries {
			switch e.Kind {
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
		n -= count(at != none)
	}
	return n
}

func (v *View) peak() int {
	most := 0
	_ = v.sweep(func(s *sweepState) error { most = max(most, s.running); return nil }, nil) // it only counts
	return most
}

var faultGoals = [...]schedulerGoal{
	{"a stream was cut off", "", faultsHit(func(f *des.Fault) bool { return f.Cut > 0 && f.Error == "" })},
	{"a stream sent an error event", "", faultsHit(func(f *des.Fault) bool { return f.Error != "" })},
	{"an event was malformed", "", faultsHit(func(f *des.Fault) bool { return f.Malformed > 0 })},
	{"a stream stalled and went on", "", faultsHit(func(f *des.Fault) bool { return f.Stall > 0 && f.For > 0 })},
	{"a stream stalled for ever", "", faultsHit(func(f *des.Fault) bool { return f.Stall > 0 && f.For == 0 })},
	{"a request was refused with 429", "", faultsHit(func(f *des.Fault) bool { return f.Status == 429 })},
	{"a request was refused with 500 or 529", "", faultsHit(func(f *des.Fault) bool { return f.Status >= 500 })},
	{"a tool panicked", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.status == des.Panicked && r.ended != none })},
	{"a tool that hangs was stopped from outside", "", countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.call.Failure == des.Hang && r.allowed && r.cancelled != none && r.ended > r.cancelled
	})},
	{"a hook crashed", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.hooks(des.Error) || r.hooks(des.Panic) })},
	{"a hook hung", "", countRuns(func(_ *View, _ *message, r *callRun) bool { return r.hooks(des.Hang) })},
	{"a person answered about a call that was stopped meanwhile", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.asked != none && r.decided == none && r.call.Ask != nil && r.call.Ask.IgnoresCancel && r.cancelled > r.asked && v.at(r.ended) > v.at(r.cancelled)
	})},
	{"the user interrupted twice in one instant", "", func(v *View) int { return v.together(des.Interrupt, des.Interrupt) }},
	{"the user interrupted in the instant in which a stream was given up", "", func(v *View) int { return v.together(des.Interrupt, des.Fallback) }},
	{"the user interrupted in the instant in which a call began", "", func(v *View) int { return v.together(des.Interrupt, des.Started) }},
	{"a result was huge", "", countResults(func(k *des.Call) bool { return k.Chars > 50_000 })},
	{"a result was empty", "", countResults(func(k *des.Call) bool { return k.Empty })},
	{"a result was too large for a disk that takes nothing", "", func(v *View) int {
		if v.Case.Disk == "" {
			return 0
		}
		return countResults(func(k *des.Call) bool { return k.Chars > 50_000 })(v)
	}},
	{"progress came after the end of its call", "", countRuns(func(v *View, _ *message, r *callRun) bool {
		return r.call.LateProgress > 0 && r.allowed && r.ended != none && v.at(r.ended)+r.call.LateProgress < v.at(len(v.Log.Entries)-1)
	})},
}

// faultsHit counts the faults that hit a request.
func faultsHit(is func(*des.Fault) bool) func(*View) int {
	return func(v *View) int {
		n := 0
		for _, i := range v.Log.FaultsHit {
			n += count(is(&v.Case.Faults[i]))
		}
		return n
	}
}

// countResults counts the results of calls that came to their own end.
func countResults(is func(*des.Call) bool) func(*View) int {
	return countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.status == des.OK && r.emitted != none && is(r.call)
	})
}

// hooks reports whether a hook of the call does so, and the call got as far.
func (r *callRun) hooks(does string) bool {
	if r.start == none || r.cause != schedule.NoCause {
		return false
	}
	for i := range r.call.Hooks {
		if r.call.Hooks[i].Action == does {
			return true
		}
	}
	return false
}

// together counts the instants in which both happened, or, of the same, two.
func (v *View) together(one, other des.Kind) int {
	n := 0
	var at time.Duration
	var seen [2]int
	for _, e := range v.Log.Entries {
		if e.At != at {
			at, seen = e.At, [2]int{}
		}
		before := seen[0] > 0 && seen[1] > 0
		switch {
		case e.Kind == one && one == other && seen[0] > 0:
			seen[1]++
		case e.Kind == one:
			seen[0]++
		case e.Kind == other:
			seen[1]++
		}
		n += count(!before && seen[0] > 0 && seen[1] > 0)
	}
	return n
}
