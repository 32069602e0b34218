package oracle

import (
	"fmt"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

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

// counts reports whether the call ended before its message was given up, if it was.
func (r *callRun) counts() bool { return r.discarded == none || r.ended < r.discarded }

func (v *View) siblingsStop(m *message, failing *callRun) error {
	if !failing.failed() || !failing.counts() {
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
