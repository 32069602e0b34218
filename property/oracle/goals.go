package oracle

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
	{"an interrupt stopped a running call", "", countRuns(func(r *callRun) bool { return r.cause == schedule.UserInterrupt })},
	{"an interrupt spared a running call", "", countRuns(func(r *callRun) bool {
		return r.attempt().interrupted != none && r.start != none && r.start < r.attempt().interrupted && r.ended > r.attempt().interrupted && r.cancelled == none
	})},
	{"an interrupt hit a waiting exclusive call", "", countRuns(func(r *callRun) bool { return r.start == none && r.status == des.Interrupted && !r.call.Safe })},
	{"an interrupt hit a waiting safe call", "", countRuns(func(r *callRun) bool { return r.start == none && r.status == des.Interrupted && r.call.Safe })},
	{"a call ended in the instant of an interrupt, by itself", "", countRuns(func(r *callRun) bool {
		return r.attempt().interrupted != none && r.ranToEnd() && r.v.at(r.ended) == r.v.at(r.attempt().interrupted)
	})},
	{"an interrupt hit a question to the person", "", countRuns(func(r *callRun) bool {
		return r.cause == schedule.UserInterrupt && r.asked != none && r.decided == none
	})},
	{"the user interrupted twice within a message", "", countDoubles(des.Interrupt)},
	{"a failure stopped a running sibling", "", countRuns(func(r *callRun) bool { return r.cause == schedule.SiblingFailed })},
	{"a failure stopped a queued sibling", "", countRuns(func(r *callRun) bool { return r.start == none && r.status == des.SiblingFailed })},
	{"two failures in one instant, the first stopped the second", "", countRuns(func(r *callRun) bool {
		return r.cause == schedule.SiblingFailed && r.call.StopsSiblings && r.ranToEnd() && r.status != des.OK
	})},
	{"a call that came after a failure ran", "", countRuns(func(r *callRun) bool {
		return r.start != none && slices.ContainsFunc(r.siblings(), func(other callRun) bool {
			return other.ended != none && other.ended < r.ready && other.failed()
		})
	})},
	{"a call that ignores cancelling outlasted what stopped it", "", countRuns(func(r *callRun) bool {
		return r.cancelled != none && r.ended != none && r.ranToEnd() && r.v.at(r.ended) > r.v.at(r.cancelled)
	})},
	{"a stream was abandoned with calls running", "", countRuns(func(r *callRun) bool { return r.cause == schedule.StreamAbandoned })},
	{"a stream was abandoned after results had left", schedule.Streaming.String(), countRuns(func(r *callRun) bool {
		return r.discarded != none && r.emitted != none
	})},
	{"a modifier was undone with its stream", schedule.Streaming.String(), countRuns(func(r *callRun) bool { return r.attempt().abandoned && r.applied != none })},
	{"a retried answer brought a call again", "", (*View).repeated},
	{"a call waited to run alone", "", countRuns(func(r *callRun) bool {
		return r.exclusive(r.v.Case) && r.start != none && r.v.at(r.start) > r.v.at(r.ready)
	})},
	{"the limit was reached", "", func(v *View) int { return count(v.peak() == v.Case.Limit && v.Case.Limit > 1) }},
	{"a rewritten call waited to run alone", "", countRuns(func(r *callRun) bool {
		return r.escalated != none && r.resumed() != none && r.v.at(r.resumed()) > r.v.at(r.escalated)
	})},
	{"a rewritten call was stopped while it waited", "", countRuns(func(r *callRun) bool {
		return r.escalated != none && r.resumed() == none && r.cancelled != none
	})},
	{"a time limit ended a run", "", countRuns(func(r *callRun) bool { return r.status == des.TimedOut })},
	{"a time limit ended in the instant of the run's own end", "", countRuns(func(r *callRun) bool {
		return r.status == des.TimedOut && r.call.Limit == r.call.For
	})},
	{"a person denied", "", countRuns(func(r *callRun) bool { return r.asked != none && r.status == des.Denied })},
	{"a person never answered", "", countRuns(func(r *callRun) bool { return r.asked != none && r.call.Ask != nil && r.call.Ask.Never })},
	{"a hook denied or stopped", "", countRuns(func(r *callRun) bool { return r.status == des.Stopped || r.status == des.Denied && r.asked == none })},
	{"a safe call's modifier acted after its batch", schedule.Batch.String(), countRuns(func(r *callRun) bool {
		return r.applied > r.emitted && r.emitted != none
	})},
	{"a safe call's modifier was dropped", schedule.Streaming.String(), countRuns(func(r *callRun) bool { return r.dropped != none })},
	{"a call overtook another", schedule.Effects.String(), (*View).overtakings},
	{"a call waited for one it conflicts with, others did not", schedule.Effects.String(), countRuns(func(r *callRun) bool {
		return r.v.byEffects() && r.start != none && slices.ContainsFunc(r.siblings(), func(other callRun) bool {
			return other.number > r.number && other.start != none && other.start < r.start
		})
	})},
	{"retries were used up", "", func(v *View) int { return count(v.Case.AbortAt == 0 && v.Log.Entries[len(v.Log.Entries)-1].Code != 0) }},
	{"the conversation was stopped with calls running", "", countRuns(func(r *callRun) bool { return r.cause == schedule.SessionAborted })},
	{"a conversation had no calls", "", func(v *View) int { return count(len(v.runs) == 0) }},
}

// countRuns counts the runs that are so.
func countRuns(is func(*callRun) bool) func(*View) int {
	return func(v *View) int {
		n := 0
		for i := range v.runs {
			n += count(is(&v.runs[i]))
		}
		return n
	}
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
	{"a stream was cut off", "", faultsHit("cut", nil)},
	{"a stream sent an error event", "", faultsHit("say", nil)},
	{"an event was malformed", "", faultsHit("malformed", nil)},
	{"a stream stalled and went on", "", faultsHit("stall", func(f *des.Fault) bool { return f.For > 0 })},
	{"a stream stalled for ever", "", faultsHit("stall", func(f *des.Fault) bool { return f.For == 0 })},
	{"a request was refused with 429", "", faultsHit("status", func(f *des.Fault) bool { return f.Arg == "429" })},
	{"a request was refused with 500 or 529", "", faultsHit("status", func(f *des.Fault) bool { return f.Arg >= "500" })},
	{"a tool panicked", "", countRuns(func(r *callRun) bool { return r.status == des.Panicked && r.ended != none })},
	{"a tool that hangs was stopped from outside", "", countRuns(func(r *callRun) bool {
		return r.call.Failure == des.Hang && r.allowed && r.cancelled != none && r.ended > r.cancelled
	})},
	{"a hook crashed", "", countRuns(func(r *callRun) bool { return r.hooks(des.Error) || r.hooks(des.Panic) })},
	{"a hook hung", "", countRuns(func(r *callRun) bool { return r.hooks(des.Hang) })},
	{"a person answered about a call that was stopped meanwhile", "", countRuns(func(r *callRun) bool {
		return r.asked != none && r.decided == none && r.call.Ask != nil && r.call.Ask.IgnoresCancel && r.cancelled > r.asked && r.v.at(r.ended) > r.v.at(r.cancelled)
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
	{"progress came after the end of its call", "", countRuns(func(r *callRun) bool {
		return r.call.LateProgress > 0 && r.allowed && r.ended != none && r.v.at(r.ended)+r.call.LateProgress < r.v.at(len(r.v.Log.Entries)-1)
	})},
}

// faultsHit counts the faults of a kind that hit a request; a nil is takes all.
func faultsHit(what string, is func(*des.Fault) bool) func(*View) int {
	return func(v *View) int {
		return howMany(v.Log.FaultsHit, func(i int16) bool {
			f := &v.Case.Faults[i]
			return f.What == what && (is == nil || is(f))
		})
	}
}

// countResults counts the results of calls that came to their own end.
func countResults(is func(*des.Call) bool) func(*View) int {
	return countRuns(func(r *callRun) bool { return r.status == des.OK && r.emitted != none && is(r.call) })
}

// hooks reports whether a hook of the call does so, and the call got as far.
func (r *callRun) hooks(does string) bool {
	return r.start != none && r.cause == schedule.NoCause && slices.ContainsFunc(r.call.Hooks, func(h des.Hook) bool { return h.Action == does })
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
