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

// MaxEntries bounds a log: a case whose log is longer does not come to an end.
const MaxEntries = 1 << 16

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
		if len(e.log.Entries) > MaxEntries {
			return nil, fmt.Errorf("the case does not end: %d entries", len(e.log.Entries))
		}
		w := e.queue.pop()
		e.now = w.at
		if err := e.wake(w); err != nil {
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

// wake lets one waiter go: whatever follows from it, follows in this instant.
func (e *Engine) wake(w waiter) error {
	switch w.actor {
	case reader:
		if w.gen == e.s.gen {
			e.streamEvent()
		}
	case watcher:
		if w.gen == e.s.watching {
			e.watch()
		}
	case user:
		e.interrupt()
	case aborter:
		e.abort()
	default:
		k := &e.calls[w.index]
		if w.gen != k.gen {
			return nil // it waits no longer
		}
		e.advance(int(w.index), w.actor)
	}
	return e.proceed()
}

func (e *Engine) wait(w waiter) { e.queue.push(w) }

func (e *Engine) note(what Kind, call int, code uint8) {
	e.log.Entries = append(e.log.Entries, Entry{At: e.now, Kind: what, Code: code, Turn: int16(e.s.turn), Call: int16(call)})
}

// rank is the gate's rank of an actor, its name given in parts.
func (e *Engine) rank(parts ...string) uint64 { return e.ranks.Of(parts...) }

func (e *Engine) rankN(name string, n int) uint64 { return e.ranks.Of(name, strconv.Itoa(n)) }
