package des

import (
	"time"

	"toolbench/toolsys/schedule"
)

// say is the user's new message (J4).
func (e *Engine) interrupt() {
	s := &e.s
	s.pending++
	e.note(Interrupt, -1, 0)
	if s.waiting { // nothing is at work that could be stopped
		return
	}
	e.step(schedule.Event{Kind: schedule.Interrupted})
	if s.reading && !s.interrupted && !s.idle && !s.aborted {
		s.interrupted = true
		e.cut()
	}
}

// leave stops the whole conversation.
func (e *Engine) abort() {
	s := &e.s
	if s.aborted {
		return
	}
	s.aborted = true
	switch {
	case s.waiting:
	case s.reading:
		e.cut()
	default:
		e.step(schedule.Event{Kind: schedule.Aborted})
	}
}

// watchFor makes the watcher look again.
func (e *Engine) watchFor(d time.Duration) {
	e.wait(waiter{at: e.now + d, rank: e.rank("watch/"), gen: e.s.watching, actor: watcher})
}

// watch gives up a stream that says nothing for too long (J5).
func (e *Engine) watch() {
	s := &e.s
	if left := e.c.Idle - (e.now - s.lastEvent); left > 0 {
		e.watchFor(left)
		return
	}
	s.watching++
	if s.reading && !s.interrupted && !s.aborted {
		s.idle = true
		e.cut()
	}
}
