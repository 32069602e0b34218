package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

type phase uint8

const (
	waits phase = iota
	runs
	holds // it was rewritten and waits to run alone
	ended
)

type schedulerCall struct {
	phase       phase
	safe        bool // as the policy sees it
	cancellable bool
	stopped     schedule.Cause
	asked       int  // which stop asked it to end
	began       bool // its work has begun
	pending     bool // it returned a modifier that waits for the end of its batch, or for its result
	touches     *schedule.Footprint
}

// Scheduler is one message. It is a des.Stepper.
type Scheduler struct {
	policy   schedule.Policy
	limit    int
	calls    []schedulerCall
	complete bool // the stream has ended
	stopped  schedule.Cause
	stops    int
	emitted  int
	over     bool
	out      []schedule.Action
	found    [ended + 1][]int // what in gave last, kept for its room
}

// NewScheduler makes one for an engine.
func NewScheduler(policy schedule.Policy, limit int) (des.Stepper, error) {
	m := &Scheduler{}
	return m, m.reset(policy, limit)
}

// reset makes it that of a new message.
func (m *Scheduler) reset(policy schedule.Policy, limit int) error {
	if policy > schedule.Effects {
		return fmt.Errorf("the definition has no policy %s", policy)
	}
	*m = Scheduler{policy: policy, limit: limit, calls: m.calls[:0], found: m.found}
	return nil
}

// Step is one event with all that follows from it.
func (m *Scheduler) Step(ev schedule.Event, out []schedule.Action) []schedule.Action {
	m.out = out
	switch ev.Kind {
	case schedule.Interrupted, schedule.Aborted, schedule.Abandoned:
		m.stops++
	}
	switch ev.Kind {
	case schedule.Added:
		m.add(ev)
	case schedule.StreamEnded:
		m.complete = true
	case schedule.Finished:
		m.finish(ev)
	case schedule.Escalated:
		m.escalate(ev.Index)
	case schedule.Began:
		m.calls[ev.Index].began = true
	case schedule.Interrupted: // J4: what may be cancelled or has not begun stops, what waits is answered
		m.stop(schedule.UserInterrupt, func(c schedulerCall) bool { return c.cancellable || c.phase != runs || !c.began })
	case schedule.Aborted:
		m.stop(schedule.SessionAborted, func(schedulerCall) bool { return true })
	case schedule.Abandoned:
		m.abandon()
	case schedule.GraceOver: // J4: what was asked to stop and has not is answered without it
		for i, c := range m.calls {
			if c.phase != ended && c.stopped != schedule.NoCause && c.asked <= ev.Index { // each stop has a grace of its own
				m.calls[i].phase = ended
				m.do(schedule.Leave, i, c.stopped)
			}
		}
	}
	m.emit()
	m.endBatch()
	m.start()
	m.done()
	return m.out
}

func (m *Scheduler) do(kind schedule.ActionKind, i int, cause schedule.Cause) {
	m.out = append(m.out, schedule.Action{Kind: kind, Index: i, Cause: cause})
}

// in lists the calls of a phase, in call order. The list holds until the same phase is asked for again.
func (m *Scheduler) in(p phase) []int {
	found := m.found[p][:0]
	for i := range m.calls {
		if m.calls[i].phase == p {
			found = append(found, i)
		}
	}
	m.found[p] = found
	return found
}

func (m *Scheduler) abandoned() bool { return m.stopped == schedule.StreamAbandoned }

func (m *Scheduler) add(ev schedule.Event) {
	m.calls = append(m.calls, schedulerCall{safe: ev.Safe && m.policy != schedule.Serial, cancellable: ev.Cancellable, touches: ev.Touches})
	if i := len(m.calls) - 1; m.stopped != schedule.NoCause {
		m.end(i, m.stopped)
		if m.abandoned() {
			m.do(schedule.Discard, i, schedule.StreamAbandoned)
		}
	}
}

// end stops one call: what waits is answered, what runs is asked to stop, once.
func (m *Scheduler) end(i int, cause schedule.Cause) {
	c := &m.calls[i]
	switch {
	case c.phase == waits:
		c.phase, c.stopped = ended, cause
		m.do(schedule.Answer, i, cause)
	case c.phase != ended && c.stopped == schedule.NoCause:
		c.stopped, c.asked = cause, m.stops
		m.do(schedule.Cancel, i, cause)
	}
}

func (m *Scheduler) stop(cause schedule.Cause, affects func(schedulerCall) bool) {
	if m.stopped == schedule.NoCause {
		m.stopped = cause
	}
	for i := range m.calls {
		if affects(m.calls[i]) {
			m.end(i, cause)
		}
	}
}

func (m *Scheduler) finish(ev schedule.Event) {
	c := &m.calls[ev.Index]
	if c.phase == waits || c.phase == ended {
		return
	}
	c.phase = ended
	if m.abandoned() {
		return
	}
	if ev.Modifies { // B3
		switch {
		case m.policy != schedule.Effects && !c.safe:
			m.do(schedule.Apply, ev.Index, 0)
		case m.policy == schedule.Streaming:
			m.do(schedule.Drop, ev.Index, 0)
		default:
			c.pending = true
		}
	}
	if ev.Fails && c.stopped == schedule.NoCause { // J3
		for i := range m.calls {
			m.end(i, schedule.SiblingFailed)
		}
	}
}

func (m *Scheduler) escalate(i int) {
	c := &m.calls[i]
	switch {
	case c.phase != runs:
	case !c.safe || c.stopped != schedule.NoCause, m.policy == schedule.Effects: // there it is alone already
		m.do(schedule.Resume, i, 0)
	default:
		c.phase, c.safe = holds, false
	}
}

// abandon gives the message up: nothing of it is let out any more (J5).
func (m *Scheduler) abandon() {
	if m.abandoned() {
		return
	}
	for i := range m.calls {
		if p := m.calls[i].phase; p == runs || p == holds {
			m.end(i, schedule.StreamAbandoned)
		}
	}
	for i := range m.calls {
		m.do(schedule.Discard, i, schedule.StreamAbandoned)
		m.calls[i].pending = false
		if m.calls[i].phase == waits {
			m.calls[i].phase = ended
		}
	}
	m.stopped, m.complete = schedule.StreamAbandoned, true
}

// emit lets results out in call order, up to the first that is not there (I3, J2).
func (m *Scheduler) emit() {
	for !m.abandoned() && m.emitted < len(m.calls) && m.calls[m.emitted].phase == ended {
		if c := &m.calls[m.emitted]; m.policy == schedule.Effects && c.pending { // in call order
			c.pending = false
			m.do(schedule.Apply, m.emitted, 0)
		}
		m.do(schedule.Emit, m.emitted, 0)
		m.emitted++
	}
}

// endBatch lets a batch's modifiers act in call order when it is over: nothing runs, and
// what comes next is not a safe call (B3).
func (m *Scheduler) endBatch() {
	waiting := m.in(waits)
	if len(m.in(runs)) > 0 || len(m.in(holds)) == 0 && len(waiting) > 0 && m.calls[waiting[0]].safe {
		return
	}
	for i := range m.emitted {
		if m.calls[i].pending {
			m.calls[i].pending = false
			m.do(schedule.Apply, i, 0)
		}
	}
}

// start starts what may run (J1, I2).
func (m *Scheduler) start() {
	if holding := m.in(holds); len(holding) > 0 {
		if len(m.in(runs)) == 0 {
			m.calls[holding[0]].phase = runs
			m.do(schedule.Resume, holding[0], 0)
		}
		return
	}
	for _, i := range m.in(waits) {
		if !m.mayStart(i) {
			if m.policy == schedule.Effects {
				continue // who touches nothing of it may overtake it
			}
			return // an earlier call that waits holds back all behind it
		}
		m.calls[i].phase = runs
		m.do(schedule.Start, i, 0)
	}
}

func (m *Scheduler) mayStart(i int) bool {
	if (m.policy == schedule.Serial || m.policy == schedule.Batch) && !m.complete {
		return false
	}
	running := m.in(runs)
	if m.policy == schedule.Effects {
		return len(running) < m.limit && !m.conflicts(i)
	}
	if len(running) == 0 {
		return true
	}
	exclusive := func(k int) bool { return !m.calls[k].safe }
	return !exclusive(i) && len(running) < m.limit && !slices.ContainsFunc(running, exclusive)
}

// conflicts reports whether a call before it that has not ended writes what it touches,
// or touches what it writes (J8).
func (m *Scheduler) conflicts(i int) bool {
	return slices.ContainsFunc(m.calls[:i], func(before schedulerCall) bool {
		return before.phase != ended && schedule.Conflict(before.touches, m.calls[i].touches)
	})
}

func (m *Scheduler) done() {
	if m.complete && !m.over && len(m.in(ended)) == len(m.calls) {
		m.over = true
		m.do(schedule.Done, 0, 0)
	}
}

// Pair is the scheduler's core with its definition beside it: the core decides, and
// whatever it decides is held against the machine, action for action. So one run of a
// case shows what else would take two. It keeps its buffers from message to message.
type Pair struct {
	core       schedule.Core
	machine    Scheduler
	want       []schedule.Action
	next       int
	difference string
}

// Reset makes the pair that of a new message, for an engine.
func (p *Pair) Reset(policy schedule.Policy, limit int) (des.Stepper, error) {
	if err := errors.Join(p.core.Reset(policy, limit), p.machine.reset(policy, limit)); err != nil {
		return nil, err
	}
	p.want, p.next = p.want[:0], 0
	return p, nil
}

// Difference gives the first decision since it was asked last on which the two differ; "" is none.
func (p *Pair) Difference() string {
	found := p.difference
	p.difference = ""
	return found
}

// Step is the core's; the machine has done all at once when the core still asks what calls touch.
func (p *Pair) Step(ev schedule.Event, out []schedule.Action) []schedule.Action {
	if ev.Kind != schedule.Declared {
		p.want, p.next = p.machine.Step(ev, p.want[:0]), 0
	}
	asks, from := false, len(out)
	out = p.core.Step(ev, out)
	for _, a := range out[from:] {
		if a.Kind == schedule.Declare {
			asks = true
			continue
		}
		if p.next >= len(p.want) || p.want[p.next] != a {
			p.note(ev, a)
		}
		p.next++
	}
	if !asks && p.next < len(p.want) {
		p.note(ev, p.want[p.next])
	}
	return out
}

func (p *Pair) note(ev schedule.Event, a schedule.Action) {
	if p.difference != "" {
		return
	}
	want := each(p.want, func(w schedule.Action) string { return fmt.Sprintf("%s %d", w.Kind, w.Index) })
	p.difference = fmt.Sprintf("after event %d of call %d the definition decides [%s]; action %d, %s %d, differs",
		ev.Kind, ev.Index, strings.Join(want, ", "), p.next+1, a.Kind, a.Index)
}
