package des

import (
	"time"

	"toolbench/toolsys/schedule"
)

// session is the conversation: which turn it is in, which stream it reads.
type session struct {
	turn    int // as the log counts: from 1
	script  int // the next answer of the model
	try     int // how often that answer was asked for
	request int // how many requests got an answer

	core    Stepper
	message uint32 // counts attempts over all turns
	first   int    // the first call of the message at work
	ready   int    // how many of its calls are complete
	stops   int16  // how often they were asked to stop
	// reading: the stream is read; gen is the number of its latest wait.
	reading   bool
	gen       uint32
	from      time.Duration // when the request left
	events    []event
	next      int
	rank      uint64
	lastEvent time.Duration
	// watching is the number of the latest watch for a stream that stalls.
	watching uint32
	// interrupted: the user's message ended the stream; idle: it was given up; aborted:
	// the conversation was stopped.
	interrupted, idle, aborted bool

	pending int // messages of the user that were not sent yet
	emitted int
	tries   int
	before  int // the state's length when the attempt began
	done    bool
	over    bool
	waiting bool // for the calls in flight, the stream being abandoned
}

// event is one moment of a stream that matters.
type event struct {
	at   time.Duration
	what eventKind
}

type eventKind uint8

const (
	nothing eventKind = iota
	block             // a call is complete
	ends              // the message is complete
	breaks            // what comes here breaks the stream
	gone              // there is no more, right behind what came before
	stalls            // nothing ever comes
)

// turn begins one; each of its attempts sends the request.
func (e *Engine) turn() error {
	s := &e.s
	s.turn++
	s.tries = 0
	return e.attempt()
}

func (e *Engine) attempt() error {
	s := &e.s
	for {
		core, err := e.decider()
		if err != nil {
			return err
		}
		s.core, s.ready, s.done, s.next, s.emitted, s.stops = core, 0, false, 0, 0, 0
		s.message++
		s.before = len(e.log.State)
		s.interrupted, s.idle, s.waiting = false, false, false
		s.reading = true
		s.gen++
		s.watching++
		e.note(Request, -1, 0)
		if s.pending > 0 { // it is ended before it begins
			e.endStream()
			return nil
		}
		if refused := e.open(); !refused {
			return nil
		}
		if again := e.abandon(); !again {
			return nil
		}
	}
}

func (e *Engine) decider() (Stepper, error) {
	if e.New != nil {
		return e.New(e.policy, e.c.Limit)
	}
	return &e.core, e.core.Reset(e.policy, e.c.Limit)
}

// open asks the model: it gives its next answer, or refuses.
func (e *Engine) open() (refused bool) {
	s := &e.s
	s.request++
	s.try++
	s.from, s.lastEvent = e.now, e.now
	s.rank = e.streamRank(s.script+1, s.try)
	fault := e.fault(s.request)
	s.first = e.firstOf(s.script)
	var count int
	s.events, count = e.events(s.events[:0], s.script, fault)
	if !CutsShort(fault, count) {
		s.script++
		s.try = 0
	}
	if fault != nil && fault.What == "status" {
		return true
	}
	e.next()
	if e.c.Idle > 0 {
		e.watchFor(0)
	}
	return false
}

// next waits for the stream's next event.
func (e *Engine) next() {
	s := &e.s
	ev := s.events[s.next]
	switch ev.what {
	case stalls:
		return
	case gone:
		e.streamOver()
		return
	}
	s.gen++
	e.wait(waiter{at: max(e.now, s.from+ev.at), rank: s.rank, gen: s.gen, actor: reader})
}

// streamEvent takes the stream's next event, or that it was ended.
func (e *Engine) streamEvent() {
	s := &e.s
	if s.interrupted || s.idle || s.aborted {
		e.streamOver()
		return
	}
	s.lastEvent = e.now
	what := s.events[s.next].what
	s.next++
	switch what {
	case ends:
		e.endStream()
		return
	case breaks:
		e.streamOver()
		return
	case block:
		e.ready()
	}
	e.next()
}

// ready queues the call whose block is complete.
func (e *Engine) ready() {
	s := &e.s
	i := s.first + s.ready
	s.ready++
	k := &e.calls[i]
	*k = call{Call: k.Call, gen: k.gen + 1}
	e.note(Ready, i, 0)
	known := k.Failure != Unknown
	ev := schedule.Event{Kind: schedule.Added, Safe: k.Safe && known && k.Failure != NotJSON, Cancellable: k.Cancel && known}
	if e.policy == schedule.Effects {
		ev.Touches = k.Footprint()
	}
	e.step(ev)
}

func (e *Engine) endStream() {
	e.close()
	e.step(schedule.Event{Kind: schedule.StreamEnded})
}

// cut ends the stream that is read: its reader notices in its own turn.
func (e *Engine) cut() {
	s := &e.s
	s.gen++
	e.wait(waiter{at: e.now, rank: s.rank, gen: s.gen, actor: reader})
}

// streamOver is the reader noticing that there is no more to read. What the user
// cut off counts as far as it came; anything else is abandoned (J4, J5).
func (e *Engine) streamOver() {
	s := &e.s
	if s.interrupted {
		e.endStream()
		if s.aborted {
			e.stop(schedule.Aborted)
		}
		return
	}
	e.close()
	s.waiting = true
	e.stop(schedule.Abandoned)
}

// stop asks calls to stop; those that have not when the grace is over are left (J4).
func (e *Engine) stop(kind schedule.EventKind) {
	e.s.stops++
	e.step(schedule.Event{Kind: kind})
	if !e.s.done {
		e.wait(waiter{at: e.now + schedule.DefaultGrace, rank: e.rank("grace/"), gen: e.s.message, index: e.s.stops, actor: grace})
	}
}

// close ends the reading.
func (e *Engine) close() {
	e.s.reading = false
	e.s.gen++
	e.s.watching++
}

// abandon ends an attempt that failed and reports whether there is another.
func (e *Engine) abandon() (again bool) {
	s := &e.s
	if !s.waiting {
		e.close()
		e.stop(schedule.Abandoned)
	}
	s.waiting = false
	if s.aborted {
		e.end(1)
		return false
	}
	e.log.State = e.log.State[:s.before]
	if s.tries == e.c.Retries {
		e.end(1)
		return false
	}
	s.tries++
	e.note(Fallback, -1, 0)
	return true
}

// proceed goes on with the conversation when the message's calls are done.
func (e *Engine) proceed() error {
	s := &e.s
	if !s.done || s.reading || s.over {
		return nil
	}
	if s.waiting {
		if !e.abandon() {
			return nil
		}
		if err := e.attempt(); err != nil {
			return err
		}
		return e.proceed()
	}
	again := s.emitted > 0 || s.pending > 0
	s.pending = 0
	e.note(Committed, -1, 0)
	switch {
	case s.aborted:
		e.end(1)
		return nil
	case !again:
		e.end(0)
		return nil
	}
	if err := e.turn(); err != nil {
		return err
	}
	return e.proceed()
}

func (e *Engine) end(code uint8) {
	e.s.over = true
	e.note(Over, -1, code)
}

// interrupt is the user's new message (J4).
func (e *Engine) interrupt() {
	s := &e.s
	s.pending++
	e.note(Interrupt, -1, 0)
	if s.waiting { // nothing is at work that could be stopped
		return
	}
	e.stop(schedule.Interrupted)
	if s.reading && !s.interrupted && !s.idle && !s.aborted {
		s.interrupted = true
		e.cut()
	}
}

// abort stops the conversation.
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
		e.stop(schedule.Aborted)
	}
}

// watchFor makes the watcher look again.
func (e *Engine) watchFor(d time.Duration) {
	e.wait(waiter{at: e.now + d, rank: e.rank("watch/"), gen: e.s.watching, actor: watcher})
}

// watch gives up a stream that sends nothing for too long (J5).
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
