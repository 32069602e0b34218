package des

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolbench/sim/clock"
	"toolbench/sim/stream"
	"toolbench/toolsys/schedule"
)

// Stepper decides: the scheduler's core, or what it is compared with.
type Stepper interface {
	Step(ev schedule.Event, out []schedule.Action) []schedule.Action
}

// Forever is longer than any case: how long something takes that does not end by
// itself.
const Forever = 1000 * time.Hour

// maxEntries bounds a log: a case whose log is longer does not come to an end.
const maxEntries = 1 << 16

// Engine plays cases, one after the other. It keeps its buffers from case to case;
// one goroutine may use it at a time. The zero value plays the scheduler's core.
type Engine struct {
	// New makes what decides for one message; nil means the scheduler's core. What it
	// made before is not used any more by then.
	New func(policy schedule.Policy, limit int) (Stepper, error)

	c      *Case
	policy schedule.Policy
	ranks  clock.Ranks
	now    time.Duration
	queue  queue
	log    Log

	// calls run over all turns; the message at work has those from first to first+n.
	calls []call
	s     session

	core    schedule.Core
	actions []schedule.Action
	blocks  []stream.Block
	outline []stream.Event
}

// Run plays a case and gives its log, which holds until the next Run. An error
// means that the case makes no sense or does not come to an end.
func (e *Engine) Run(c *Case) (*Log, error) {
	if err := e.reset(c); err != nil {
		return nil, err
	}
	for i, at := range c.Interrupts {
		e.wait(waiter{at: at, rank: e.rankN("user/say/", i), index: int16(i), actor: user})
	}
	if c.AbortAt > 0 {
		e.wait(waiter{at: c.AbortAt, rank: e.rankN("user/leave", 0), actor: aborter})
	}
	if err := errors.Join(e.turn(), e.proceed()); err != nil {
		return nil, err
	}
	for !e.s.over {
		if len(e.queue) == 0 {
			return nil, fmt.Errorf("everything waits and nothing can happen any more, after\n%s", &e.log)
		}
		if len(e.log.Entries) > maxEntries {
			return nil, fmt.Errorf("the case does not end: %d entries", len(e.log.Entries))
		}
		last := len(e.queue) - 1
		w := &e.queue[last]
		e.queue, e.now = e.queue[:last], w.at
		if err := e.wake(w.actor, int(w.index), w.gen); err != nil {
			return nil, err
		}
	}
	return &e.log, nil
}

func (e *Engine) reset(c *Case) error {
	policy, err := schedule.ParsePolicy(c.Policy)
	if err != nil {
		return err
	}
	n := c.Calls()
	if cap(e.calls) < n {
		e.calls = make([]call, 0, 2*n)
	}
	e.calls = e.calls[:0]
	for t := range c.Turns {
		for i := range c.Turns[t].Calls {
			e.calls = append(e.calls, call{Call: &c.Turns[t].Calls[i]})
		}
	}
	e.c, e.policy, e.ranks, e.now, e.queue = c, policy, clock.RanksOf(c.Seed), 0, e.queue[:0]
	e.s = session{events: e.s.events[:0]}
	e.log.Entries, e.log.State, e.log.FaultsHit = e.log.Entries[:0], e.log.State[:0], e.log.FaultsHit[:0]
	return nil
}

// wake wakes one waiter: whatever follows from it, follows in this instant.
func (e *Engine) wake(who actor, index int, gen uint32) error {
	switch who {
	case reader:
		if gen == e.s.gen {
			e.streamEvent()
		}
	case watcher:
		if gen == e.s.watching {
			e.watch()
		}
	case user:
		e.interrupt()
	case aborter:
		e.abort()
	case grace:
		if gen == e.s.message {
			e.step(schedule.Event{Kind: schedule.GraceOver, Index: index})
		}
	default:
		if e.calls[index].gen != gen {
			return nil // it waits no longer
		}
		e.advance(index, who)
	}
	return e.proceed()
}

func (e *Engine) wait(w waiter) { e.queue.push(w) }

func (e *Engine) note(what Kind, call int, code uint8) {
	e.log.Entries = append(e.log.Entries, Entry{})
	n := &e.log.Entries[len(e.log.Entries)-1] // written where it stays: put together elsewhere, its copy waits for each of the parts
	n.At, n.Kind, n.Code, n.Turn, n.Call = e.now, what, code, int16(e.s.turn), int16(call)
}

// rank is the gate's rank of an actor, its name given in parts.
func (e *Engine) rank(parts ...string) uint64 { return e.ranks.Of(parts...) }

func (e *Engine) rankN(name string, n int) uint64 { return e.ranks.Of(name, strconv.Itoa(n)) }

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
		e.note(Started, i, 0)
		e.await(i, begin, e.now, e.rank("call//", e.calls[i].ID))
	case schedule.Resume:
		e.resume(i)
	case schedule.Cancel:
		e.note(Cancelled, i, uint8(a.Cause))
		e.cancel(i, a.Cause)
	case schedule.Answer, schedule.Leave:
		e.calls[i].left = a.Kind == schedule.Leave
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

// stoppedStatus is the status of a call that was stopped.
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

// actor is who waits.
type actor uint8

const (
	timer   actor = iota // a call's time limit: no actor of the gate, it comes first
	reader               // the model's stream
	watcher              // who abandons a stream that stalls
	user                 // the user's new message
	aborter              // who stops the conversation
	grace                // who leaves calls that do not stop
	begin                // a call's goroutine
	hooked               // a hook's goroutine
	hookRun              // the hook at its work
	hookEnd              // who waits for the hook
	turns                // who asked to run alone, and may or was stopped
	permit               // the person who decides
	tool                 // the tool at its work
	toolEnd              // its return
)

// waiter is one that waits until at. It is stale when gen is no longer that of its
// actor.
type waiter struct {
	at    time.Duration
	rank  uint64
	gen   uint32
	index int16 // of the call, or of the message; for streams the attempt, for a grace the stop
	actor actor
}

// before reports whether a goes before b, as the gate orders: by time, then by rank. A time limit is a timer of
// its own that has fired before the gate lets anybody go.
func (a *waiter) before(b *waiter) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.rank < b.rank
}

// queue holds waiters, the first to wake at its end. It is short: a call waits once.
type queue []waiter

func (q *queue) push(w waiter) {
	h := append(*q, waiter{})
	i := len(h) - 1
	for ; i > 0 && h[i-1].before(&w); i-- {
		h[i] = h[i-1]
	}
	p := &h[i]
	p.at, p.rank, p.gen, p.index, p.actor = w.at, w.rank, w.gen, w.index, w.actor // as in note
	*q = h
}
