package promise

import (
	"fmt"

	"toolbench/sim/des"
	"toolbench/toolsys/schedule"
)

func (v *View) nothingAfterAStop() error {
	return v.each(func(m *message, r *run) error {
		if m.spoken != none && r.start > m.spoken {
			return fmt.Errorf("it started at %s, and the user spoke at %s", v.at(r.start), v.at(m.spoken))
		}
		if v.Case.Leaves > 0 && r.start != none && v.at(r.start) > v.Case.Leaves {
			return fmt.Errorf("it started after the conversation was stopped")
		}
		return nil
	})
}

// failed: the call's own run failed in a way that stops its siblings.
func (r *run) failed() bool {
	own := r.status == des.RunFailed || r.status == des.Panicked || r.status == des.TimedOut
	return own && r.call.Stops && r.told == none
}

// counts: at that place the message was not given up yet.
func (r *run) counts() bool { return r.discarded == none || r.ended < r.discarded }

func (v *View) siblingsStop() error {
	return v.each(func(m *message, failing *run) error {
		if !failing.failed() || !failing.counts() {
			return nil
		}
		for _, r := range v.of(m) {
			if r.number == failing.number || r.ready > failing.ended || r.ended < failing.ended {
				continue
			}
			switch begun := r.start != none && r.start < failing.ended; {
			case begun && r.told == none:
				return fmt.Errorf("it failed, and %s was not asked to stop", r.call.ID)
			case !begun && (r.start != none || r.status != des.SiblingFailed):
				return fmt.Errorf("it failed, and the queued %s was not answered for it", r.call.ID)
			}
		}
		return nil
	})
}

func (v *View) othersGoOn() error {
	return v.each(func(m *message, r *run) error {
		if r.cause != schedule.SiblingFailed && r.status != des.SiblingFailed {
			return nil
		}
		place := r.ended
		if r.told != none {
			place = r.told
		}
		for _, other := range v.of(m) {
			if other.failed() && other.ended < place && v.at(other.ended) == v.at(place) {
				return nil
			}
		}
		return fmt.Errorf("it was stopped for a sibling, and none failed at %s", v.at(place))
	})
}

func (v *View) interruptSpares() error {
	return v.each(func(m *message, r *run) error {
		// A call that was not let go yet only waits, and waiting may always be cancelled.
		cancellable := func(at int) bool {
			return r.call.Cancel && r.call.Goes != des.Unknown || !r.allowed || r.decided > at
		}
		switch {
		case r.cause == schedule.UserInterrupt && !cancellable(r.told):
			return fmt.Errorf("it may not be cancelled, and was")
		case m.spoken != none && cancellable(m.spoken) && r.start != none && r.start < m.spoken && r.ended > m.spoken && r.told == none:
			return fmt.Errorf("it may be cancelled, and was not when the user spoke")
		}
		return nil
	})
}

// causes are the statuses of calls that were stopped, by their cause.
var causes = map[schedule.Cause]des.Status{
	schedule.SiblingFailed: des.SiblingFailed, schedule.UserInterrupt: des.Interrupted,
	schedule.SessionAborted: des.Aborted, schedule.StreamAbandoned: des.Abandoned,
}

func (v *View) causesApart() error {
	return v.each(func(m *message, r *run) error {
		if r.status < des.SiblingFailed {
			return nil
		}
		why := map[des.Status]bool{
			des.Interrupted: m.spoken != none, des.Aborted: v.Case.Leaves > 0, des.SiblingFailed: true, des.Abandoned: m.abandoned,
		}
		switch {
		case r.told != none && causes[r.cause] != r.status:
			return fmt.Errorf("it was asked to stop because %s, and ended as %s", r.cause, r.status)
		case r.told == none && r.start != none:
			return fmt.Errorf("it ran and ended as %s, and nobody asked it to stop", r.status)
		case !why[r.status]:
			return fmt.Errorf("it ended as %s for no reason", r.status)
		}
		return nil
	})
}
