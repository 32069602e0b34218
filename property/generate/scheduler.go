package generate

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"toolbench/property/des"
)

// Plan is what cases to make.
type Plan struct {
	Seed uint64
	// Policies are chosen from; one or more.
	Policies []string
	// May are the features a case may have.
	May Feature
}

// SchedulerMaker makes the scheduler cases of a plan, one after the other or any. It keeps its buffers:
// a case holds until the next is made. One goroutine may use it at a time.
type SchedulerMaker struct {
	plan Plan
	src  rand.PCG
	rng  *rand.Rand
	c    des.Case
	has  Feature
	ids  []string
	hook []des.Hook
	ask  []des.Ask
}

// NewSchedulerMaker makes a maker of a plan's cases.
func NewSchedulerMaker(p Plan) *SchedulerMaker {
	m := &SchedulerMaker{plan: p}
	m.rng = rand.New(&m.src)
	return m
}

// Case makes case number i. It holds until the next call.
func (m *SchedulerMaker) Case(i uint64) *des.Case {
	m.src.Seed(m.plan.Seed, i)
	m.has = m.swarm()
	m.hook, m.ask = m.hook[:0], m.ask[:0]
	c := &m.c
	turns := c.Turns[:0]
	*c = des.Case{
		Seed: m.rng.Uint64() >> 33, Policy: m.plan.Policies[m.rng.IntN(len(m.plan.Policies))], Limit: 1 + m.rng.IntN(4),
		Interrupts: c.Interrupts[:0], Faults: c.Faults[:0],
	}
	if m.odds(1, 4) {
		c.Limit = 10
	}
	n := 1
	if m.has.Has(Turns) {
		n += m.rng.IntN(3)
	}
	for range n {
		turns = m.turn(turns)
	}
	c.Turns = turns
	m.events()
	return c
}

// swarm leaves features out: each case has about half of what it may.
func (m *SchedulerMaker) swarm() Feature {
	some := Feature(m.rng.Uint32())
	if m.odds(1, 8) { // now and then hardly any, or all
		some &= Feature(m.rng.Uint32())
		some &= Feature(m.rng.Uint32())
	} else if m.odds(1, 16) {
		some = Everything
	}
	return some & m.plan.May
}

func (m *SchedulerMaker) odds(n, of int) bool { return m.rng.IntN(of) < n }

func (m *SchedulerMaker) chance(f Feature, n, of int) bool { return m.has&f != 0 && m.odds(n, of) }

// span is a time below some tenths of a second, mostly round, so that things happen in the same instant.
func (m *SchedulerMaker) span(tenths int) time.Duration {
	const step = 100 * time.Millisecond
	if m.has.Has(Ties) {
		return time.Duration(m.rng.IntN(1+tenths/5)) * 5 * step
	}
	if m.odds(1, 8) {
		return time.Duration(m.rng.IntN(100*tenths)) * time.Millisecond
	}
	return time.Duration(m.rng.IntN(tenths)) * step
}

func (m *SchedulerMaker) turn(turns []des.Turn) []des.Turn {
	if len(turns) < cap(turns) {
		turns = turns[:len(turns)+1] // its calls' buffer is used again
	} else {
		turns = append(turns, des.Turn{})
	}
	t := &turns[len(turns)-1]
	t.Calls = t.Calls[:0]
	n := m.rng.IntN(7)
	if m.has.Has(Many) {
		n = m.rng.IntN(25)
	}
	before := 0
	for i := range len(turns) - 1 {
		before += len(turns[i].Calls)
	}
	at := time.Duration(0)
	for i := range n {
		at = max(time.Millisecond, at+m.span(8))
		t.Calls = append(t.Calls, m.call(before+i, at))
	}
	t.End = at + m.span(10)
	return turns
}

func (m *SchedulerMaker) id(n int) string {
	for len(m.ids) <= n {
		m.ids = append(m.ids, "c"+strconv.Itoa(len(m.ids)+1))
	}
	return m.ids[n]
}

func (m *SchedulerMaker) call(n int, at time.Duration) des.Call {
	c := des.Call{
		ID: m.id(n), At: at, For: m.span(25), Safe: !m.chance(Exclusive, 1, 3), Cancel: m.odds(1, 2),
		StopsSiblings: m.chance(Failing, 1, 3), Modifies: m.chance(Modifying, 1, 3), IgnoresCancel: m.chance(IgnoringCancel, 1, 4),
	}
	switch {
	case m.chance(Failing, 1, 5):
		c.Failure = des.Failed
	case m.chance(Breaking, 1, 8):
		c.Failure = [...]string{des.Error, des.Panic}[m.rng.IntN(2)]
	case m.chance(Misnamed, 1, 8):
		c.Failure = [...]string{des.Unknown, des.NotJSON}[m.rng.IntN(2)]
	case m.chance(Hanging, 1, 8):
		c.Failure = des.Hang
	}
	if m.chance(Hanging, 1, 4) {
		c.Limit = max(time.Millisecond, m.span(20))
	}
	if m.chance(Huge, 1, 6) {
		c.Chars = [...]int{49_999, 50_001, 60_000, 150_000, 450_000}[m.rng.IntN(5)]
	}
	c.Empty = c.Chars == 0 && m.chance(Empty, 1, 6)
	if m.chance(Late, 1, 4) {
		c.LateProgress = time.Millisecond + m.span(20)
	}
	if m.chance(Footprints, 3, 4) && !c.Modifies {
		c.Reads, c.Writes = m.keys(), m.keys()
	}
	m.guard(&c)
	return c
}

// footprintKeys are names of what calls touch, one of them a tree over others.
var footprintKeys = [][]string{nil, nil, nil, {"a"}, {"b"}, {"c/d"}, {"c/**"}, {"a", "b"}, {"e"}, {"f"}}

func (m *SchedulerMaker) keys() []string { return footprintKeys[m.rng.IntN(len(footprintKeys))] }

// guard adds what stands before a call's run.
func (m *SchedulerMaker) guard(c *des.Call) {
	if c.CannotRun() {
		return
	}
	if m.chance(Asking, 1, 4) {
		m.ask = append(m.ask, des.Ask{Allow: m.odds(3, 4), After: m.span(15), Never: m.odds(1, 12)})
		c.Ask = &m.ask[len(m.ask)-1]
		c.Ask.IgnoresCancel = m.chance(Late, 1, 2) && !c.Ask.Never
	}
	first := len(m.hook)
	for range 2 {
		if m.chance(Hooks|BrokenHooks|Escalating, 1, 5) {
			m.hook = append(m.hook, m.aHook())
		}
	}
	c.Hooks = m.hook[first:len(m.hook):len(m.hook)]
}

func (m *SchedulerMaker) aHook() des.Hook {
	h := des.Hook{After: m.span(8)}
	switch {
	case m.chance(Escalating, 1, 2):
		h.Action = des.MakeExclusive
	case m.chance(BrokenHooks, 1, 2):
		h.Action = [...]string{des.Error, des.Panic, des.Hang}[m.rng.IntN(3)]
	case m.chance(Hooks, 1, 2):
		h.Action = [...]string{des.Deny, des.Stop, des.Allow}[m.rng.IntN(3)]
	}
	if m.chance(BrokenHooks, 1, 2) {
		h.Timeout = max(time.Millisecond, m.span(10))
	}
	return h
}

// events adds what happens to the conversation.
func (m *SchedulerMaker) events() {
	c := &m.c
	if m.has.Has(Interrupting) {
		for range 1 + m.rng.IntN(3) {
			c.Interrupts = append(c.Interrupts, m.span(60))
		}
	}
	if m.chance(Disk, 1, 2) {
		c.Disk = [...]string{"full", "read-only"}[m.rng.IntN(2)]
	}
	c.Retries = m.rng.IntN(3)
	if m.has&(Cuts|Stalls|Refusals) != 0 {
		for range 1 + m.rng.IntN(2) {
			m.fault(1 + m.rng.IntN(3))
		}
	}
	if m.has.Has(Aborting) {
		c.AbortAt = time.Millisecond + m.span(60)
	}
}

func (m *SchedulerMaker) fault(request int) {
	c := &m.c
	f := des.Fault{Request: request}
	events := 1 + m.rng.IntN(2+3*len(c.Turns[min(request, len(c.Turns))-1].Calls))
	switch {
	case m.chance(Refusals, 1, 2):
		f.What, f.Arg = "status", [...]string{"429", "500", "529"}[m.rng.IntN(3)]
	case m.chance(Stalls, 1, 2):
		c.Idle = time.Minute
		f.What, f.Event, f.For = "stall", events, m.span(40)
		if f.For == 0 || m.odds(1, 3) {
			f.For = [...]time.Duration{0, 2 * time.Minute}[m.rng.IntN(2)]
		}
	case m.chance(Cuts, 1, 2):
		f.What, f.Event = "cut", events
	case m.chance(Cuts, 1, 2):
		f.What, f.Arg, f.Event = "say", "overloaded_error", events
	case m.chance(Cuts, 1, 1):
		f.What, f.Event = "malformed", events
	default:
		return
	}
	if !slices.ContainsFunc(c.Faults, func(other des.Fault) bool { return other.Request == request }) {
		c.Faults = append(c.Faults, f)
	}
}
