package schedule

import (
	"context"
	"slices"
	"sync"
	"time"
)

// DefaultGrace is how long calls that were asked to stop are waited for: longer than a
// shell takes to kill a process that does not end by itself.
const DefaultGrace = 5 * time.Second

// Hooks are what a driver's owner does on the core's actions. All but Run are called one at a time, in the order of
// the core's actions, under the driver's lock: they may neither block nor call the driver. R is the owner's type of a
// call's result.
type Hooks[R any] struct {
	// Run does the work of call i and gives its result, whatever happens. It runs beside other calls and other hooks.
	Run func(ctx context.Context, i int, c Control) R
	// Verdict reads from a result what the core needs; it may be called beside other hooks.
	Verdict func(R) Verdict
	// Answer makes the result of a call that never runs, or, the cause being
	// Vanished, of one whose goroutine ended without giving one.
	Answer func(i int, cause Cause) R
	// Leave makes the result of a call that was asked to stop for cause and still runs.
	// What its Run returns later is thrown away.
	Leave func(i int, cause Cause) R
	// Apply and Drop honour or drop the modifier in r; Emit commits r's
	// observations and lets it out; Discard forgets the call.
	Apply, Drop, Emit func(i int, r R)
	Discard           func(i int)
	// Touches gives what call i reads and writes as things stand, nil being everything; asked under Effects only,
	// when the call is added and when what it declared may no longer hold (J8). nil: no call declares anything.
	Touches func(i int) *Footprint
	// Ended receives a result before anything follows from it; it may be nil.
	Ended func(i int, r R)
	// Started, Queued and Cancelled report; they may be nil.
	Started   func(i int)
	Queued    func(i int, w Wait)
	Cancelled func(i int, cause Cause)
}

// Control is how a running call reaches the core.
type Control interface {
	// Alone waits until nothing runs beside the call, for one whose input was rewritten into an exclusive one (G2).
	Alone(ctx context.Context) error
	// Begin reports that the call's work begins. Until then it only waits, for a
	// person's answer or for hooks, and the user's message stops it whatever its tool
	// wants (J4). Whoever calls it looks afterwards whether the call was stopped.
	Begin()
}

// Direct is the control of a call that no driver runs: it is alone, and begins at will.
type Direct struct{}

// Alone returns at once.
func (Direct) Alone(context.Context) error { return nil }

// Begin does nothing.
func (Direct) Begin() {}

// Verdict is what the core needs of a finished call.
type Verdict struct{ Fails, Modifies bool }

// Config makes a driver.
type Config[R any] struct {
	Policy Policy
	// Limit is how many safe calls run at once; 1 or more (I2).
	Limit int
	Hooks Hooks[R]
	// Go starts a goroutine for call i alone, as the simulator does, which makes its start an event. nil: a call that
	// starts is run at once, by a goroutine that has ended another or by a new one.
	Go func(i int, f func())
}

// Driver runs one message's calls with goroutines. Its methods may be called from any of them; the core is stepped
// under one lock that is never held while a call runs.
type Driver[R any] struct {
	cfg  Config[R]
	ctx  context.Context
	done chan struct{}

	mu      sync.Mutex
	core    *Core
	calls   []*running[R]
	spare   []running[R] // room for calls to come
	actions []Action
	// first and last are those of the calls that have started and that no goroutine has taken
	// yet; coming: one was started for them.
	first, last *running[R]
	coming      bool
}

// running is one call, and its way to the core.
type running[R any] struct {
	d      *Driver[R]
	i      int
	result R
	ctx    callContext
	next   *running[R] // behind it among those that wait for a goroutine
	// turn is closed when the call may go on alone, and made when it asks for that; alone records that it is.
	turn  chan struct{}
	alone bool
	// left: the call has its result although it still runs.
	left bool
}

// NewDriver makes a driver for one message. Calls see the values of ctx but not its end: whoever ends it calls Abort,
// which stops calls one by one in a fixed order, where context would cancel them in any.
func NewDriver[R any](ctx context.Context, cfg Config[R]) (*Driver[R], error) {
	core, err := NewCore(cfg.Policy, cfg.Limit)
	if err != nil {
		return nil, err
	}
	return &Driver[R]{
		cfg: cfg, ctx: context.WithoutCancel(ctx), core: core, done: make(chan struct{}),
		calls: make([]*running[R], 0, roomAtFirst), actions: make([]Action, 0, roomAtFirst),
	}, nil
}

// Add queues a call; it may start before Add returns.
func (d *Driver[R]) Add(safe, cancellable bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := len(d.calls)
	d.calls = append(d.calls, d.fresh(i))
	d.step(Event{Kind: Added, Safe: safe, Cancellable: cancellable, Touches: d.touches(i)})
	if d.cfg.Hooks.Queued == nil {
		return // finding out what it waits for may take long
	}
	if w, queued := d.core.Waiting(i); queued {
		d.cfg.Hooks.Queued(i, w)
	}
}

// fresh makes call i. Room is made for several at once, the more the more there are.
func (d *Driver[R]) fresh(i int) *running[R] {
	if len(d.spare) == 0 {
		d.spare = make([]running[R], min(max(1, 2*i), 16))
	}
	r := &d.spare[0]
	d.spare = d.spare[1:]
	r.d, r.i = d, i
	return r
}

// EndStream ends the stream: no more calls will be added.
func (d *Driver[R]) EndStream() { d.send(Event{Kind: StreamEnded}) }

// Interrupt stops what may be stopped, for the user's new message (J4). Like Abort and Abandon it
// gives which stop it is, for Leave.
func (d *Driver[R]) Interrupt() int { return d.send(Event{Kind: Interrupted}) }

// Abort stops everything.
func (d *Driver[R]) Abort() int { return d.send(Event{Kind: Aborted}) }

// Abandon gives up the stream: nothing more is emitted (J5).
func (d *Driver[R]) Abandon() int { return d.send(Event{Kind: Abandoned}) }

// Leave answers the calls that a stop, or one before it, asked to end and that still run, so that
// Wait returns without them (J4).
func (d *Driver[R]) Leave(stop int) { d.send(Event{Kind: GraceOver, Index: stop}) }

// Wait returns when nothing runs any more but what was left, and nothing will.
func (d *Driver[R]) Wait() { <-d.done }

// send gives how often calls were asked to stop.
func (d *Driver[R]) send(ev Event) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.step(ev)
	return d.core.stops
}

func (d *Driver[R]) touches(i int) *Footprint {
	if d.cfg.Policy != Effects || d.cfg.Hooks.Touches == nil {
		return nil
	}
	return d.cfg.Hooks.Touches(i)
}

// step carries out what the core asks for, and what follows from that. The lock is held.
func (d *Driver[R]) step(ev Event) {
	for again := true; again; {
		d.actions = d.core.Step(ev, d.actions[:0])
		d.carryOut()
		// At most one call is asked at a time: those behind it wait for its answer.
		i := slices.IndexFunc(d.actions, func(a Action) bool { return a.Kind == Declare })
		if again = i >= 0; again {
			ev = Event{Kind: Declared, Index: d.actions[i].Index, Touches: d.touches(d.actions[i].Index)}
		}
	}
}

func (d *Driver[R]) carryOut() {
	h := &d.cfg.Hooks
	for _, a := range d.actions {
		switch a.Kind {
		case Start:
			d.start(a.Index)
		case Resume:
			d.calls[a.Index].resume()
		case Cancel:
			if h.Cancelled != nil {
				h.Cancelled(a.Index, a.Cause)
			}
			d.calls[a.Index].ctx.cancel(a.Cause)
		case Answer:
			d.answered(a.Index, h.Answer(a.Index, a.Cause))
		case Leave:
			d.calls[a.Index].left = true
			d.answered(a.Index, h.Leave(a.Index, a.Cause))
		case Apply:
			h.Apply(a.Index, d.calls[a.Index].result)
		case Drop:
			h.Drop(a.Index, d.calls[a.Index].result)
		case Emit:
			h.Emit(a.Index, d.calls[a.Index].result)
		case Discard:
			h.Discard(a.Index)
		case Done:
			close(d.done)
		}
	}
}

func (d *Driver[R]) answered(i int, result R) {
	d.calls[i].result = result
	if d.cfg.Hooks.Ended != nil {
		d.cfg.Hooks.Ended(i, result)
	}
}

func (r *running[R]) resume() {
	if !r.alone {
		r.alone = true
		close(r.turn)
	}
}

func (d *Driver[R]) start(i int) {
	r := d.calls[i]
	r.ctx.Context = d.ctx
	if d.cfg.Hooks.Started != nil {
		d.cfg.Hooks.Started(i)
	}
	if d.cfg.Go != nil {
		d.cfg.Go(i, func() { deepen(i); r.run() })
		return
	}
	if d.first == nil {
		d.first = r
	} else {
		d.last.next = r
	}
	d.last = r
	d.summon()
}

// summon sees to it that a goroutine comes for the calls that wait for one. The lock is held.
func (d *Driver[R]) summon() {
	if d.first != nil && !d.coming {
		d.coming = true
		go d.work()
	}
}

// work runs calls while some wait for a goroutine. Before each it has another goroutine come for those
// behind, so that none waits for it; of calls that end at once most are run by the same one,
// since to start a goroutine costs as much as such a call.
func (d *Driver[R]) work() {
	d.mu.Lock()
	d.coming = false
	for deep := false; d.first != nil; d.mu.Lock() {
		r := d.first
		d.first = r.next
		d.summon()
		d.mu.Unlock()
		if !deep {
			deep = deepen(0) == 0
		}
		r.run()
	}
	d.mu.Unlock()
}

// deepen grows a new goroutine's stack once, before anything is on it. A call goes deep (stages, hooks, decoding),
// and a stack that doubles under way copies its frames each time: a third of what a call costs that does nothing.
//
//go:noinline
func deepen(i int) byte {
	var room [8 << 10]byte
	return room[i&7]
}

// run takes a call from its start to its end. A goroutine that exits under way
// (runtime.Goexit, as a failing test does) must not leave the others waiting.
func (r *running[R]) run() {
	var result R
	returned := false
	defer func() {
		if !returned {
			result = r.d.cfg.Hooks.Answer(r.i, Vanished)
		}
		r.ctx.cancel(callOver)
		r.d.finish(r.i, result)
	}()
	result = r.d.cfg.Hooks.Run(&r.ctx, r.i, r)
	returned = true
}

// Begin is [Control.Begin].
func (r *running[R]) Begin() { r.d.send(Event{Kind: Began, Index: r.i}) }

// Alone asks for an exclusive turn and waits for it; asking again costs nothing. A call that
// is stopped in the step that gives it its turn is stopped.
func (r *running[R]) Alone(ctx context.Context) error {
	select {
	case <-r.d.escalate(r.i):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

func (d *Driver[R]) finish(i int, result R) {
	v := d.cfg.Hooks.Verdict(result)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls[i].left {
		return
	}
	d.answered(i, result)
	d.step(Event{Kind: Finished, Index: i, Fails: v.Fails, Modifies: v.Modifies})
}

// escalate asks for an exclusive turn and gives what is closed when the call has it.
func (d *Driver[R]) escalate(i int) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.calls[i]
	if r.turn == nil {
		r.turn = make(chan struct{})
	}
	d.step(Event{Kind: Escalated, Index: i})
	return r.turn
}

// Running lists the calls that run at this moment, in call order.
func (d *Driver[R]) Running() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.running()
}
