package des

import "toolbench/toolsys/schedule"

// step gives the core an event and carries out what it asks for. Calls that it wakes
// go on in their turn.
func (e *Engine) step(ev schedule.Event) {
	for again := true; again; {
		e.actions = e.s.core.Step(ev, e.actions[:0])
		again = false
		for _, a := range e.actions {
			if a.Kind == schedule.Declare && !again { // one at a time, as the driver asks
				again, ev = true, schedule.Event{Kind: schedule.Declared, Index: a.Index, Touches: e.calls[e.s.first+a.Index].Footprint()}
			}
			e.act(a)
		}
	}
}

func (e *Engine) act(a schedule.Action) {
	i := e.s.first + a.Index
	switch a.Kind {
	case schedule.Start:
		e.start(i)
	case schedule.Resume:
		e.resume(i)
	case schedule.Cancel:
		e.note(Cancelled, i, uint8(a.Cause))
		e.cancel(i, a.Cause)
	case schedule.Answer:
		e.calls[i].status = stoppedStatus(a.Cause)
		e.note(Ended, i, uint8(e.calls[i].status))
	case schedule.Apply:
		e.note(Applied, i, 0)
		e.log.State = append(e.log.State, int16(i))
	case schedule.Drop:
		e.note(Dropped, i, 0)
	case schedule.Emit:
		e.s.emitted++
		e.note(Emitted, i, uint8(e.calls[i].status))
	case schedule.Discard:
		e.note(Discarded, i, 0)
	case schedule.Done:
		e.s.done = true
	}
}

// halt is the status of a call that was stopped.
func stoppedStatus(c schedule.Cause) Status {
	switch c {
	case schedule.SiblingFailed:
		return SiblingFailed
	case schedule.UserInterrupt:
		return Interrupted
	case schedule.StreamAbandoned:
		return Abandoned
	case schedule.Vanished:
		return Panicked
	}
	return Aborted
}
