package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// ranToEnd reports whether the tool's own code ended the call.
func (r *callRun) ranToEnd() bool {
	return r.ended != none && slices.Contains([]des.Status{des.OK, des.RunFailed, des.Panicked, des.TimedOut}, r.status)
}

// took is how long the tool ran: from the decision that let it.
func (v *View) took(r *callRun) time.Duration { return v.at(r.ended) - v.at(r.decided) }

func (v *View) deadlines(_ *message, r *callRun) error {
	if r.decided == none || !r.allowed {
		return nil
	}
	took, limit := v.took(r), r.call.Limit
	switch {
	case r.status == des.TimedOut && limit == 0:
		return fmt.Errorf("it has no time limit, and ran into it")
	case r.status == des.TimedOut && took != limit && !r.call.IgnoresCancel:
		return fmt.Errorf("it ran into its limit of %s after %s", limit, took)
	case limit > 0 && took > limit && !r.call.IgnoresCancel:
		return fmt.Errorf("it ran for %s, and its limit is %s", took, limit)
	}
	return nil
}

func (v *View) runTime(_ *message, r *callRun) error {
	want := r.call.Takes()
	if r.ranToEnd() && (r.status == des.OK || r.status == des.RunFailed) && r.decided != none && v.took(r) != want {
		return fmt.Errorf("it takes %s, and took %s", want, v.took(r))
	}
	return nil
}

func (v *View) allowedFirst(_ *message, r *callRun) error {
	switch {
	case r.ranToEnd() && (r.decided == none || !r.allowed || r.decided > r.ended):
		return fmt.Errorf("it ran (%s) without being allowed", r.status)
	case r.status == des.Denied && (r.decided == none || r.allowed):
		return fmt.Errorf("it was denied, and nobody decided so")
	case r.start == none && (r.decided != none || r.ranToEnd()):
		return fmt.Errorf("it never started, and ended as %s", r.status)
	}
	return nil
}

func (v *View) denyWins(_ *message, r *callRun) error {
	for _, h := range r.call.Hooks {
		limit := cmp.Or(h.Timeout, time.Minute)
		if (h.Action == des.Deny || h.Action == des.Stop) && h.After < limit && r.ranToEnd() {
			return fmt.Errorf("a hook decides %s, and it ended as %s", h.Action, r.status)
		}
	}
	return nil
}

func (v *View) modifiersInOrder() error {
	for i := range v.messages {
		m := &v.messages[i]
		last := none
		for j := range v.of(m) {
			r := &v.of(m)[j]
			if err := v.modifier(m, r); err != nil {
				return fmt.Errorf("call %s: %w", r.call.ID, err)
			}
			if r.applied != none {
				if r.applied < last {
					return fmt.Errorf("the modifier of %s acted before that of an earlier call", r.call.ID)
				}
				last = r.applied
			}
		}
	}
	return nil
}

// modifier checks that of one call.
func (v *View) modifier(m *message, r *callRun) error {
	returned := r.call.Modifies && (r.status == des.OK || r.status == des.RunFailed && r.call.Failure == des.Failed)
	safe := !r.exclusive(v.Case) && r.escalated == none && !v.byEffects()
	drops := safe && v.Case.Policy == schedule.Streaming.String()
	switch {
	case !returned && (r.applied != none || r.dropped != none):
		return fmt.Errorf("it returned no modifier (%s), and one acted", r.status)
	case !returned || m.abandoned:
		return nil
	case drops && (r.dropped == none || r.applied != none):
		return fmt.Errorf("a safe call's modifier was not dropped while streaming")
	case !drops && r.applied == none:
		return fmt.Errorf("its modifier never acted")
	}
	if safe || v.byEffects() && !r.exclusive(v.Case) {
		return nil
	}
	for p := r.ended; p < r.applied; p++ {
		if v.Log.Entries[p].Kind == des.Started {
			return fmt.Errorf("%s before its modifier acted", v.Log.Entries[p])
		}
	}
	return nil
}

func (v *View) timeGoesOn() error {
	last := len(v.Log.Entries) - 1
	for i, e := range v.Log.Entries {
		switch {
		case i > 0 && e.At < v.at(i-1):
			return fmt.Errorf("%s comes after %s", e, v.Log.Entries[i-1])
		case (e.Kind == des.Over) != (i == last):
			return fmt.Errorf("entry %d of %d is %s", i, last, e)
		}
	}
	return nil
}

// ofEach checks every run with its message; the first error counts.
func ofEach(check func(v *View, m *message, r *callRun) error) func(*View) error {
	return func(v *View) error {
		for i := range v.messages {
			m := &v.messages[i]
			for j := range v.of(m) {
				r := &v.of(m)[j]
				if err := check(v, m, r); err != nil {
					return fmt.Errorf("call %s: %w", r.call.ID, err)
				}
			}
		}
		return nil
	}
}

func (v *View) oneResult(m *message, r *callRun) error {
	switch {
	case r.ends > 1, r.ends == 0 && !(m.abandoned && r.start == none):
		return fmt.Errorf("it ended %d times", r.ends)
	case m.abandoned && r.results > 1, !m.abandoned && r.results != 1:
		return fmt.Errorf("it has %d results", r.results)
	case !m.abandoned && r.discarded != none:
		return fmt.Errorf("it was discarded, and the message was not")
	case m.abandoned && r.discarded == none:
		return fmt.Errorf("it was not discarded with its message")
	}
	return nil
}

func (v *View) callOrder() error {
	for i := range v.messages {
		before, missing := -1, ""
		for j := range v.of(&v.messages[i]) {
			r := &v.of(&v.messages[i])[j]
			switch {
			case r.emitted == none:
				missing = r.call.ID
			case missing != "":
				return fmt.Errorf("the result of %s left, that of %s before it did not", r.call.ID, missing)
			case r.emitted < before:
				return fmt.Errorf("the result of %s left before one of an earlier call", r.call.ID)
			}
			before = max(before, r.emitted)
		}
	}
	return nil
}

func (v *View) resultAfterEnd(_ *message, r *callRun) error {
	if r.emitted == none {
		return nil
	}
	if r.emitted < r.ended || r.emittedStatus != r.status {
		return fmt.Errorf("it left as %s, and ended as %s", r.emittedStatus, r.status)
	}
	return nil
}

func (v *View) askedOnce(_ *message, r *callRun) error {
	if r.cancels > 1 {
		return fmt.Errorf("it was asked to stop %d times", r.cancels)
	}
	return nil
}

func (v *View) discardedIsGone() error {
	gone := ofEach(func(_ *View, _ *message, r *callRun) error {
		if r.discarded != none && r.emitted > r.discarded {
			return fmt.Errorf("its result left after it was discarded")
		}
		return nil
	})
	return cmp.Or(gone(v), v.stateIsCommitted())
}

// stateIsCommitted checks that the state at the end is made of the modifiers of committed
// messages, in the order in which they acted.
func (v *View) stateIsCommitted() error {
	if v.Log.Entries[len(v.Log.Entries)-1].Code != 0 {
		return nil
	}
	var want []int16
	acted := map[int]int16{}
	for i := range v.messages {
		for _, r := range v.of(&v.messages[i]) {
			if r.applied != none && !v.messages[i].abandoned {
				acted[r.applied] = r.number
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(acted)) {
		want = append(want, acted[place])
	}
	if !slices.Equal(want, v.Log.State) {
		return fmt.Errorf("the state is made of calls %v; committed were %v", v.Log.State, want)
	}
	return nil
}

func (v *View) nothingAfterAStop(m *message, r *callRun) error {
	if m.interrupted != none && r.start > m.interrupted {
		return fmt.Errorf("it started at %s, and the user interrupted at %s", v.at(r.start), v.at(m.interrupted))
	}
	if v.Case.AbortAt > 0 && r.start != none && v.at(r.start) > v.Case.AbortAt {
		return fmt.Errorf("it started after the conversation was stopped")
	}
	return nil
}

// failed reports whether the call's own run failed in a way that stops its siblings.
func (r *callRun) failed() bool {
	own := r.status == des.RunFailed || r.status == des.Panicked || r.status == des.TimedOut
	return own && r.call.StopsSiblings && r.cancelled == none
}

func (v *View) siblingsStop(m *message, failing *callRun) error {
	if !failing.failed() || failing.discarded != none && failing.ended >= failing.discarded { // its message was given up before
		return nil
	}
	for _, r := range v.of(m) {
		if r.number == failing.number || r.ready > failing.ended || r.ended < failing.ended {
			continue
		}
		switch begun := r.start != none && r.start < failing.ended; {
		case begun && r.cancelled == none:
			return fmt.Errorf("it failed, and %s was not asked to stop", r.call.ID)
		case !begun && (r.start != none || r.status != des.SiblingFailed):
			return fmt.Errorf("it failed, and the queued %s was not answered for it", r.call.ID)
		}
	}
	return nil
}

func (v *View) othersGoOn(m *message, r *callRun) error {
	if r.cause != schedule.SiblingFailed && r.status != des.SiblingFailed {
		return nil
	}
	place := r.ended
	if r.cancelled != none {
		place = r.cancelled
	}
	for _, other := range v.of(m) {
		if other.failed() && other.ended < place && v.at(other.ended) == v.at(place) {
			return nil
		}
	}
	return fmt.Errorf("it was stopped for a sibling, and none failed at %s", v.at(place))
}

func (v *View) interruptSpares(m *message, r *callRun) error {
	// A call that was not let go yet only waits, and waiting may always be cancelled.
	cancellable := func(at int) bool {
		return r.call.Cancel && r.call.Failure != des.Unknown || !r.allowed || r.decided > at
	}
	switch {
	case r.cause == schedule.UserInterrupt && !cancellable(r.cancelled):
		return fmt.Errorf("it may not be cancelled, and was")
	case m.interrupted != none && cancellable(m.interrupted) && r.start != none && r.start < m.interrupted && r.ended > m.interrupted && r.cancelled == none:
		return fmt.Errorf("it may be cancelled, and was not when the user interrupted")
	}
	return nil
}

// causes are the statuses of calls that were stopped, by their cause.
var causes = map[schedule.Cause]des.Status{
	schedule.SiblingFailed: des.SiblingFailed, schedule.UserInterrupt: des.Interrupted,
	schedule.SessionAborted: des.Aborted, schedule.StreamAbandoned: des.Abandoned,
}

func (v *View) causesApart(m *message, r *callRun) error {
	if r.status < des.SiblingFailed {
		return nil
	}
	why := map[des.Status]bool{
		des.Interrupted: m.interrupted != none, des.Aborted: v.Case.AbortAt > 0, des.SiblingFailed: true, des.Abandoned: m.abandoned,
	}
	switch {
	case r.cancelled != none && causes[r.cause] != r.status:
		return fmt.Errorf("it was asked to stop because %s, and ended as %s", r.cause, r.status)
	case r.cancelled == none && r.start != none:
		return fmt.Errorf("it ran and ended as %s, and nobody asked it to stop", r.status)
	case !why[r.status]:
		return fmt.Errorf("it ended as %s for no reason", r.status)
	}
	return nil
}
