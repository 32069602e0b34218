package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/schedule"
)

// The reference: J1-J5 and I1-I3 written down as slowly and plainly as possible,
// to be read as their definition. It looks at all calls again after every event.

type phase int

const (
	waits phase = iota
	runs
	holds // it runs, rewritten, and waits to be alone
	ended
)

type refCall struct {
	phase       phase
	safe        bool // as the policy sees it
	cancellable bool
	stopped     schedule.Cause
	pending     bool // it returned a modifier that waits for the end of its batch
}

type reference struct {
	policy   schedule.Policy
	limit    int
	calls    []refCall
	complete bool // the stream has ended
	stopped  schedule.Cause
	emitted  int
	over     bool
	did      []string
}

func (r *reference) say(what string, i int, cause ...schedule.Cause) {
	s := fmt.Sprintf("%s %d", what, i)
	if len(cause) > 0 {
		s += " (" + cause[0].String() + ")"
	}
	r.did = append(r.did, s)
}

func (r *reference) in(p phase) (found []int) {
	for i, c := range r.calls {
		if c.phase == p {
			found = append(found, i)
		}
	}
	return found
}

func (r *reference) abandoned() bool { return r.stopped == schedule.StreamAbandoned }

// step is one event with all that follows from it.
func (r *reference) step(ev schedule.Event) []string {
	r.did = nil
	switch ev.Kind {
	case schedule.Added:
		r.add(ev)
	case schedule.StreamEnded:
		r.complete = true
	case schedule.Finished:
		r.finish(ev)
	case schedule.Escalated:
		r.escalate(ev.Index)
	case schedule.Interrupted: // J4: what may be cancelled stops, what waits is answered
		r.stop(schedule.UserInterrupt, func(c refCall) bool { return c.cancellable || c.phase != runs })
	case schedule.Aborted:
		r.stop(schedule.SessionAborted, func(refCall) bool { return true })
	case schedule.Abandoned:
		r.abandon()
	}
	r.emit()
	r.endBatch()
	r.letGo()
	r.finishAll()
	return r.did
}

func (r *reference) add(ev schedule.Event) {
	r.calls = append(r.calls, refCall{safe: ev.Safe && r.policy != schedule.Serial, cancellable: ev.Cancellable})
	if r.stopped != schedule.NoCause {
		r.end(len(r.calls)-1, r.stopped)
		if r.abandoned() {
			r.say("discard", len(r.calls)-1)
		}
	}
}

// end stops one call: what waits is answered, what runs is asked to stop, once.
func (r *reference) end(i int, cause schedule.Cause) {
	c := &r.calls[i]
	switch {
	case c.phase == waits:
		c.phase, c.stopped = ended, cause
		r.say("answer", i, cause)
	case c.phase != ended && c.stopped == schedule.NoCause:
		c.stopped = cause
		r.say("cancel", i, cause)
	}
}

func (r *reference) stop(cause schedule.Cause, affects func(refCall) bool) {
	if r.stopped == schedule.NoCause {
		r.stopped = cause
	}
	for i := range r.calls {
		if affects(r.calls[i]) {
			r.end(i, cause)
		}
	}
}

func (r *reference) finish(ev schedule.Event) {
	c := &r.calls[ev.Index]
	if c.phase == waits || c.phase == ended {
		return
	}
	c.phase = ended
	if r.abandoned() {
		return
	}
	if ev.Modifies { // B3
		switch {
		case !c.safe:
			r.say("apply", ev.Index)
		case r.policy == schedule.Streaming:
			r.say("drop", ev.Index)
		default:
			c.pending = true
		}
	}
	if ev.Fails && c.stopped == schedule.NoCause { // J3
		for i := range r.calls {
			r.end(i, schedule.SiblingFailed)
		}
	}
}

func (r *reference) escalate(i int) {
	c := &r.calls[i]
	switch {
	case c.phase != runs:
	case !c.safe || c.stopped != schedule.NoCause:
		r.say("resume", i)
	default:
		c.phase, c.safe = holds, false
	}
}

// abandon: J5, nothing of the message is let out any more.
func (r *reference) abandon() {
	if r.abandoned() {
		return
	}
	for i := range r.calls {
		if p := r.calls[i].phase; p == runs || p == holds {
			r.end(i, schedule.StreamAbandoned)
		}
	}
	for i := range r.calls {
		r.say("discard", i)
		r.calls[i].pending = false
		if r.calls[i].phase == waits {
			r.calls[i].phase = ended
		}
	}
	r.stopped, r.complete = schedule.StreamAbandoned, true
}

// emit: I3, J2: results leave in call order, up to the first that is not there.
func (r *reference) emit() {
	for !r.abandoned() && r.emitted < len(r.calls) && r.calls[r.emitted].phase == ended {
		r.say("emit", r.emitted)
		r.emitted++
	}
}

// endBatch: B3, a batch's modifiers act in call order when it is over: nothing
// runs, and what comes next is not a safe call.
func (r *reference) endBatch() {
	waiting := r.in(waits)
	if len(r.in(runs)) > 0 || len(r.in(holds)) == 0 && len(waiting) > 0 && r.calls[waiting[0]].safe {
		return
	}
	for i := range r.emitted {
		if r.calls[i].pending {
			r.calls[i].pending = false
			r.say("apply", i)
		}
	}
}

// letGo: J1, I2.
func (r *reference) letGo() {
	if holding := r.in(holds); len(holding) > 0 {
		if len(r.in(runs)) == 0 {
			r.calls[holding[0]].phase = runs
			r.say("resume", holding[0])
		}
		return
	}
	for _, i := range r.in(waits) {
		if !r.mayStart(i) {
			return // an earlier call that waits holds back all behind it
		}
		r.calls[i].phase = runs
		r.say("start", i)
	}
}

func (r *reference) mayStart(i int) bool {
	if r.policy != schedule.Streaming && !r.complete {
		return false
	}
	running := r.in(runs)
	if len(running) == 0 {
		return true
	}
	for _, k := range append(running, i) {
		if !r.calls[k].safe {
			return false
		}
	}
	return len(running) < r.limit
}

func (r *reference) finishAll() {
	if r.complete && !r.over && len(r.in(ended)) == len(r.calls) {
		r.over = true
		r.did = append(r.did, "done")
	}
}

// Whatever happens, in any order, the core does what the reference says.
func TestPropertyCoreIsItsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 { // rare orders need more messages than rapid's 100
			m := newMachine(t)
			for !m.ref.over {
				m.step(t)
			}
		}
	})
}

type machine struct {
	core *schedule.Core
	ref  *reference
	// stopsLeft bounds how often the whole message is stopped.
	stopsLeft int
	callsLeft int
}

func newMachine(t *rapid.T) *machine {
	policy := rapid.SampledFrom([]schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming}).Draw(t, "policy")
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	core, err := schedule.NewCore(policy, limit)
	require.NoError(t, err)
	return &machine{
		core: core, ref: &reference{policy: policy, limit: limit},
		stopsLeft: rapid.IntRange(0, 2).Draw(t, "stops"), callsLeft: rapid.IntRange(0, 12).Draw(t, "calls"),
	}
}

func (m *machine) step(t *rapid.T) {
	ev := rapid.SampledFrom(m.possible(t)).Draw(t, "event")
	switch ev.Kind {
	case schedule.Added:
		m.callsLeft--
	case schedule.Interrupted, schedule.Aborted, schedule.Abandoned:
		m.stopsLeft--
	}
	want := m.ref.step(ev)
	got := words(m.core.Step(ev, nil))
	require.Equal(t, byKind(want), byKind(got), "after %+v", ev)
	m.invariants(t, got)
}

// possible lists the events that make sense now, with random details.
func (m *machine) possible(t *rapid.T) []schedule.Event {
	flip := func(label string) bool { return rapid.Bool().Draw(t, label) }
	var out []schedule.Event
	if (!m.ref.complete || m.ref.abandoned()) && m.callsLeft > 0 {
		for range 4 { // likelier than the rest, so that messages have calls
			out = append(out, schedule.Event{Kind: schedule.Added, Safe: rapid.IntRange(0, 3).Draw(t, "safe") > 0, Cancellable: flip("cancellable")})
		}
	}
	for i, c := range m.ref.calls {
		if c.phase == runs {
			out = append(out, schedule.Event{Kind: schedule.Finished, Index: i, Fails: rapid.IntRange(0, 2).Draw(t, "fails") == 0, Modifies: flip("modifies")},
				schedule.Event{Kind: schedule.Escalated, Index: i})
		}
		if c.phase == holds && c.stopped != schedule.NoCause {
			out = append(out, schedule.Event{Kind: schedule.Finished, Index: i})
		}
	}
	if !m.ref.complete && m.callsLeft == 0 {
		out = append(out, schedule.Event{Kind: schedule.StreamEnded})
	}
	if m.stopsLeft > 0 && m.callsLeft < 6 {
		out = append(out, schedule.Event{Kind: schedule.Interrupted}, schedule.Event{Kind: schedule.Aborted}, schedule.Event{Kind: schedule.Abandoned})
	}
	return out
}

// invariants hold whatever the reference says.
func (m *machine) invariants(t *rapid.T, did []string) {
	running := m.ref.in(runs)
	assert.LessOrEqual(t, len(running), m.ref.limit)
	for _, i := range running {
		if !m.ref.calls[i].safe {
			assert.Len(t, running, 1, "an exclusive call is alone")
		}
	}
	lastApply := slices.IndexFunc(did, func(s string) bool { return strings.HasPrefix(s, "start") })
	for k, s := range did {
		if strings.HasPrefix(s, "apply") && lastApply >= 0 {
			assert.Less(t, k, lastApply, "a modifier acts before the next call begins")
		}
	}
	for i := range m.ref.calls {
		if _, waiting := m.core.Waiting(i); waiting {
			assert.Equal(t, waits, m.ref.calls[i].phase)
		}
	}
}

func words(actions []schedule.Action) []string {
	var out []string
	for _, a := range actions {
		s := fmt.Sprintf("%s %d", a.Kind, a.Index)
		switch a.Kind {
		case schedule.Done:
			s = "done"
		case schedule.Cancel, schedule.Answer:
			s += " (" + a.Cause.String() + ")"
		}
		out = append(out, s)
	}
	return out
}

// byKind keeps the order among actions of one kind; across kinds the reference
// promises only what the invariants say.
func byKind(did []string) map[string][]string {
	kinds := map[string][]string{}
	for _, s := range did {
		kind, _, _ := strings.Cut(s, " ")
		kinds[kind] = append(kinds[kind], s)
	}
	return kinds
}

// Batches under the batch policy are those of the partition (I1).
func TestPropertyBatchesAreThePartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		safe := rapid.SliceOfN(rapid.Bool(), 1, 12).Draw(t, "safe")
		core, err := schedule.NewCore(schedule.Batch, len(safe))
		require.NoError(t, err)
		for _, s := range safe {
			require.Empty(t, core.Step(schedule.Event{Kind: schedule.Added, Safe: s}, nil))
		}
		var batches [][]int
		started := starts(core.Step(schedule.Event{Kind: schedule.StreamEnded}, nil))
		for len(started) > 0 {
			batches = append(batches, started)
			var next []int
			for _, i := range rapid.Permutation(started).Draw(t, "order") {
				next = append(next, starts(core.Step(schedule.Event{Kind: schedule.Finished, Index: i}, nil))...)
			}
			started = next
		}
		assert.Equal(t, schedule.Partition(safe), batches)
	})
}

func starts(actions []schedule.Action) (out []int) {
	for _, a := range actions {
		if a.Kind == schedule.Start {
			out = append(out, a.Index)
		}
	}
	return out
}

func TestWaitingCallsSayWhatTheyWaitFor(t *testing.T) {
	core, err := schedule.NewCore(schedule.Streaming, 2)
	require.NoError(t, err)
	for _, safe := range []bool{true, true, true, false, true} {
		core.Step(schedule.Event{Kind: schedule.Added, Safe: safe}, nil)
	}
	wait := func(i int) schedule.Wait {
		w, ok := core.Waiting(i)
		require.True(t, ok)
		return w
	}
	assert.Equal(t, schedule.Wait{Reason: "limit", On: []int{0, 1}}, wait(2))
	assert.Equal(t, schedule.Wait{Reason: "order", On: []int{2}}, wait(3))
	core.Step(schedule.Event{Kind: schedule.Finished, Index: 0}, nil)
	assert.Equal(t, schedule.Wait{Reason: "exclusive", On: []int{1, 2}}, wait(3))
	_, ok := core.Waiting(2)
	assert.False(t, ok, "it runs")
	_, ok = core.Waiting(9)
	assert.False(t, ok, "there is none")

	batch, err := schedule.NewCore(schedule.Batch, 2)
	require.NoError(t, err)
	batch.Step(schedule.Event{Kind: schedule.Added}, nil)
	w, _ := batch.Waiting(0)
	assert.Equal(t, schedule.Wait{Reason: "stream"}, w)
}

func TestPoliciesHaveNames(t *testing.T) {
	for _, p := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming, schedule.Effects} {
		got, err := schedule.ParsePolicy(p.String())
		require.NoError(t, err)
		assert.Equal(t, p, got)
	}
	_, err := schedule.ParsePolicy("fastest")
	assert.ErrorContains(t, err, "serial, batch, streaming or effects")
	_, err = schedule.NewCore(schedule.Policy(9), 1)
	assert.ErrorContains(t, err, "policy(9)")
}
