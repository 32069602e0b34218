package invariant

import (
	"fmt"
	"time"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// ran: the tool's own code ended the call.
func (r *callRun) ranToEnd() bool {
	if r.ended == none {
		return false
	}
	switch r.status {
	case des.OK, des.RunFailed, des.Panicked, des.TimedOut:
		return true
	}
	return false
}

// took is how long the tool ran: from the decision that let it.
func (v *View) took(r *callRun) time.Duration { return v.at(r.ended) - v.at(r.decided) }

func (v *View) deadlines() error {
	return v.each(func(_ *message, r *callRun) error {
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
	})
}

func (v *View) runTime() error {
	return v.each(func(_ *message, r *callRun) error {
		want := r.call.For
		if r.call.Failure == des.Hang {
			want = des.Forever
		}
		if r.ranToEnd() && (r.status == des.OK || r.status == des.RunFailed) && r.decided != none && v.took(r) != want {
			return fmt.Errorf("it takes %s, and took %s", want, v.took(r))
		}
		return nil
	})
}

func (v *View) allowedFirst() error {
	return v.each(func(_ *message, r *callRun) error {
		switch {
		case r.ranToEnd() && (r.decided == none || !r.allowed || r.decided > r.ended):
			return fmt.Errorf("it ran (%s) without being allowed", r.status)
		case r.status == des.Denied && (r.decided == none || r.allowed):
			return fmt.Errorf("it was denied, and nobody decided so")
		case r.start == none && (r.decided != none || r.ranToEnd()):
			return fmt.Errorf("it never started, and ended as %s", r.status)
		}
		return nil
	})
}

func (v *View) denyWins() error {
	return v.each(func(_ *message, r *callRun) error {
		for _, h := range r.call.Hooks {
			limit := h.Timeout
			if limit == 0 {
				limit = time.Minute
			}
			if (h.Action == des.Deny || h.Action == des.Stop) && h.After < limit && r.ranToEnd() {
				return fmt.Errorf("a hook says %s, and it ended as %s", h.Action, r.status)
			}
		}
		return nil
	})
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

// modifier looks at one call's.
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
