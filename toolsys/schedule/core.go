package schedule

import "fmt"

// DefaultLimit is how many safe calls run at once (I2).
const DefaultLimit = 10

type status uint8

const (
	queued status = iota
	active
	suspended // started, but waits to run alone
	finished
)

type call struct {
	status      status
	safe        bool
	cancellable bool
	modifies    bool
	// began: its work has begun. An active call that has not begun is asked about, or
	// waits for a hook, and has had no effect yet.
	began   bool
	stopped Cause
	// stop is which of the stops asked it to end.
	stop int
}

// Core is the state of one message's calls. It is stepped by one caller at a time.
type Core struct {
	rules rules
	limit int
	calls []call
	// next is the first call that has not been let go; calls start in order.
	next int
	// emitted counts the results let out; they leave in call order.
	emitted   int
	active    int
	suspended int
	// exclusive: the active call must stay alone.
	exclusive bool
	// modified are safe calls whose modifier waits for the end of the batch.
	modified []int
	// tracks are the calls' footprints, kept under Effects only.
	tracks      []track
	streamEnded bool
	stopping    Cause
	stops       int // how often calls were asked to stop
	abandoned   bool
	done        bool
}

// roomAtFirst is for how many calls room is made at once: few messages have more.
const roomAtFirst = 8

// NewCore makes a core for one message. Limit bounds how many safe calls run at
// once; less than 1 is an error (I2).
func NewCore(p Policy, limit int) (*Core, error) {
	c := &Core{calls: make([]call, 0, roomAtFirst)}
	if err := c.Reset(p, limit); err != nil {
		return nil, err
	}
	return c, nil
}

// Reset makes c the core of a new message, as NewCore would, and keeps its room: for
// whoever steps through very many. An error leaves it as it was.
func (c *Core) Reset(p Policy, limit int) error {
	if int(p) >= len(policyRules) {
		return fmt.Errorf("schedule: unknown %s", p)
	}
	if limit < 1 {
		return fmt.Errorf("schedule: concurrency limit is %d; it must be at least 1", limit)
	}
	*c = Core{rules: policyRules[p], limit: limit, calls: c.calls[:0], modified: c.modified[:0], tracks: c.tracks[:0]}
	return nil
}

// Step takes one event and appends to out what follows from it.
func (c *Core) Step(ev Event, out []Action) []Action {
	switch ev.Kind {
	case Added:
		out = c.add(ev, out)
	case StreamEnded:
		c.streamEnded = true
	case Finished:
		out = c.finish(ev, out)
	case Declared:
		c.declare(ev)
	case Began:
		c.calls[ev.Index].began = true
		return out // nothing follows until something stops it
	case Escalated:
		out = c.escalate(ev.Index, out)
	case Interrupted:
		c.stops++
		out = c.stop(UserInterrupt, false, out)
	case Aborted:
		c.stops++
		out = c.stop(SessionAborted, true, out)
	case Abandoned:
		c.stops++
		out = c.abandon(out)
	case GraceOver:
		out = c.leave(ev.Index, out)
	}
	return c.settle(out)
}

// settle brings the core to its fixed point: what can leave leaves, what can
// start starts.
func (c *Core) settle(out []Action) []Action {
	out = c.emit(out)
	out = c.admit(out)
	if c.streamEnded && !c.done && c.active == 0 && c.suspended == 0 && c.next == len(c.calls) {
		c.done = true
		out = append(out, Action{Kind: Done})
	}
	return out
}

func (c *Core) add(ev Event, out []Action) []Action {
	i := len(c.calls)
	c.calls = append(c.calls, call{safe: ev.Safe && !c.rules.alone, cancellable: ev.Cancellable})
	if c.rules.effects {
		c.place(ev)
	}
	if c.stopping == NoCause {
		return out
	}
	c.next = len(c.calls) // nothing starts after a stop
	out = c.answer(i, c.stopping, out)
	if c.abandoned {
		out = append(out, Action{Kind: Discard, Index: i, Cause: StreamAbandoned})
	}
	return out
}

func (c *Core) finish(ev Event, out []Action) []Action {
	k := &c.calls[ev.Index]
	if !c.end(k) || c.abandoned {
		return out
	}
	if ev.Modifies {
		out = c.modify(ev.Index, out)
	}
	if ev.Fails && k.stopped == NoCause {
		out = c.stopSiblings(ev.Index, out)
	}
	return out
}

// end takes a call out of those that run. It reports whether it ran; a second end of the
// same call changes nothing.
func (c *Core) end(k *call) bool {
	switch k.status {
	case active:
		c.active--
		if !k.safe {
			c.exclusive = false
		}
	case suspended:
		c.suspended--
	default:
		return false
	}
	k.status = finished
	return true
}

// leave answers the calls that one of the first stops asked to end, and that have not: what waits
// for their results waits no longer (J4). Those that a later stop asked have time of their own.
func (c *Core) leave(stops int, out []Action) []Action {
	for i := range c.calls {
		if k := &c.calls[i]; k.stopped != NoCause && k.stop <= stops && c.end(k) {
			out = append(out, Action{Kind: Leave, Index: i, Cause: k.stopped})
		}
	}
	return out
}

// modify honours an exclusive call's modifier at once and a safe one's as the
// policy has it (B3).
func (c *Core) modify(i int, out []Action) []Action {
	switch {
	case c.rules.effects: // in call order, when its result leaves
	case !c.calls[i].safe:
		return append(out, Action{Kind: Apply, Index: i})
	case c.rules.drops:
		return append(out, Action{Kind: Drop, Index: i})
	}
	c.calls[i].modifies = true
	return out
}

// stopSiblings stops what runs or is queued at this moment, one by one in call
// order; calls that arrive later are not siblings of this failure (J3).
func (c *Core) stopSiblings(failed int, out []Action) []Action {
	for i := range c.calls {
		if i != failed {
			out = c.stopOne(i, SiblingFailed, out)
		}
	}
	c.next = len(c.calls)
	return out
}

// stop answers all that is queued and cancels what runs: under hard all of it, else
// the calls that may be cancelled and those whose work has not begun.
func (c *Core) stop(cause Cause, hard bool, out []Action) []Action {
	if c.stopping == NoCause {
		c.stopping = cause
	}
	for i := range c.calls {
		if k := &c.calls[i]; hard || k.cancellable || k.status != active || !k.began {
			out = c.stopOne(i, cause, out)
		}
	}
	c.next = len(c.calls)
	return out
}

func (c *Core) stopOne(i int, cause Cause, out []Action) []Action {
	k := &c.calls[i]
	switch k.status {
	case queued:
		return c.answer(i, cause, out)
	case active, suspended:
		if k.stopped == NoCause {
			k.stopped, k.stop = cause, c.stops
			return append(out, Action{Kind: Cancel, Index: i, Cause: cause})
		}
	}
	return out
}

func (c *Core) answer(i int, cause Cause, out []Action) []Action {
	c.calls[i].status = finished
	c.calls[i].stopped = cause
	return append(out, Action{Kind: Answer, Index: i, Cause: cause})
}

// abandon gives up everything in flight: nothing is emitted any more (J5).
func (c *Core) abandon(out []Action) []Action {
	if c.abandoned {
		return out
	}
	c.abandoned, c.streamEnded, c.stopping = true, true, StreamAbandoned
	c.modified = nil
	for i := range c.calls {
		if s := c.calls[i].status; s == active || s == suspended {
			out = c.stopOne(i, StreamAbandoned, out)
		}
	}
	for i := range c.calls {
		if c.calls[i].status == queued {
			c.calls[i].status = finished // nobody answers it any more
		}
		out = append(out, Action{Kind: Discard, Index: i, Cause: StreamAbandoned})
	}
	c.next, c.emitted = len(c.calls), len(c.calls)
	return out
}

// escalate suspends a call that turned out not to be safe. It goes
// on, alone, when all that runs beside it has ended.
func (c *Core) escalate(i int, out []Action) []Action {
	k := &c.calls[i]
	if k.status != active {
		return out
	}
	if c.hasExclusiveTurn(i) || k.stopped != NoCause {
		return append(out, Action{Kind: Resume, Index: i})
	}
	k.status, k.safe = suspended, false
	c.unsettle(i)
	c.active--
	c.suspended++
	return out
}

// hasExclusiveTurn reports whether the running call i is one that nothing runs beside.
func (c *Core) hasExclusiveTurn(i int) bool {
	if c.rules.effects {
		return c.tracks[i].touches == nil
	}
	return !c.calls[i].safe
}

func (c *Core) emit(out []Action) []Action {
	if c.abandoned {
		return out
	}
	for c.emitted < len(c.calls) && c.calls[c.emitted].status == finished {
		modifies := c.calls[c.emitted].modifies
		if modifies && c.rules.effects {
			out = append(out, Action{Kind: Apply, Index: c.emitted})
		}
		out = append(out, Action{Kind: Emit, Index: c.emitted})
		if modifies && !c.rules.effects {
			c.modified = append(c.modified, c.emitted)
		}
		c.emitted++
	}
	return out
}

// admit lets go what may run: nothing overtakes, an exclusive call is alone, at
// most limit run at once (J1, I2).
func (c *Core) admit(out []Action) []Action {
	if c.rules.effects {
		return c.admitByEffects(out)
	}
	// Under a low limit nothing may run for a moment although the batch goes on.
	if c.active == 0 && (c.suspended > 0 || c.next == len(c.calls) || !c.calls[c.next].safe) {
		out = c.endBatch(out)
	}
	if c.suspended > 0 {
		return c.resume(out)
	}
	for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {
		i := c.next
		c.next++
		c.calls[i].status = active
		c.exclusive = !c.calls[i].safe
		c.active++
		out = append(out, Action{Kind: Start, Index: i})
	}
	return out
}

func (c *Core) mayStart(k call) bool {
	if c.rules.holds && !c.streamEnded {
		return false
	}
	if c.active == 0 {
		return true
	}
	return k.safe && !c.exclusive && c.active < c.limit
}

// endBatch lets the modifiers of a batch of safe calls act, in call order.
func (c *Core) endBatch(out []Action) []Action {
	for _, i := range c.modified {
		out = append(out, Action{Kind: Apply, Index: i})
	}
	c.modified = c.modified[:0]
	return out
}

func (c *Core) resume(out []Action) []Action {
	if c.active > 0 {
		return out
	}
	for i := range c.calls {
		if c.calls[i].status == suspended {
			c.calls[i].status = active
			c.suspended--
			c.active, c.exclusive = 1, true
			return append(out, Action{Kind: Resume, Index: i})
		}
	}
	return out
}
