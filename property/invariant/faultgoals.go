package invariant

import (
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

var faultGoals = [...]schedulerGoal{
	{"a stream was cut off", "", faultsHit(func(f *des.Fault) bool { return f.Cut > 0 && f.Error == "" })},
	{"a stream said that it failed", "", faultsHit(func(f *des.Fault) bool { return f.Error != "" })},
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
	{"the user spoke twice in one instant", "", func(v *View) int { return v.together(des.Interrupt, des.Interrupt) }},
	{"the user spoke in the instant in which a stream was given up", "", func(v *View) int { return v.together(des.Interrupt, des.Fallback) }},
	{"the user spoke in the instant in which a call began", "", func(v *View) int { return v.together(des.Interrupt, des.Started) }},
	{"a result was huge", "", countResults(func(k *des.Call) bool { return k.Chars > 50_000 })},
	{"a result was nothing", "", countResults(func(k *des.Call) bool { return k.Empty })},
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

// befell counts the faults that befell a request.
func faultsHit(is func(*des.Fault) bool) func(*View) int {
	return func(v *View) int {
		n := 0
		for _, i := range v.Log.FaultsHit {
			n += count(is(&v.Case.Faults[i]))
		}
		return n
	}
}

// results counts the results of calls that came to their own end.
func countResults(is func(*des.Call) bool) func(*View) int {
	return countRuns(func(_ *View, _ *message, r *callRun) bool {
		return r.status == des.OK && r.emitted != none && is(r.call)
	})
}

// hooks: a hook of the call does so, and the call got as far.
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
