package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	_ "toolbench/property/seeded"
	"toolbench/toolsys/schedule"
)

// message is one message under way, decided twice.
type message struct {
	core        *schedule.Core
	machine     des.Stepper
	touches     []*schedule.Footprint
	safe        []bool
	running     map[int]bool // let go and not ended
	held        map[int]bool // of these, those that wait to be alone
	stopped     map[int]bool // asked to stop
	limit       int
	effects     bool
	serial      bool
	ended, over bool
	abandoned   bool // a stream that was given up may still bring calls
	stops       int
}

func newMessage(t *rapid.T) *message {
	policy := schedule.Policy(rapid.IntRange(0, int(schedule.Effects)).Draw(t, "policy"))
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	core, err := schedule.NewCore(policy, limit)
	require.NoError(t, err)
	machine, err := oracle.NewScheduler(policy, limit)
	require.NoError(t, err)
	return &message{
		core: core, machine: machine, running: map[int]bool{}, held: map[int]bool{}, stopped: map[int]bool{}, limit: limit,
		effects: policy == schedule.Effects, serial: policy == schedule.Serial,
	}
}

// step gives both the event; the core, under effects, may ask calls what they touch.
func (m *message) step(t *rapid.T, ev schedule.Event) {
	want := m.machine.Step(ev, nil)
	var got []schedule.Action
	for again := true; again; {
		out := m.core.Step(ev, nil)
		got = append(got, slices.DeleteFunc(slices.Clone(out), func(a schedule.Action) bool { return a.Kind == schedule.Declare })...)
		i := slices.IndexFunc(out, func(a schedule.Action) bool { return a.Kind == schedule.Declare })
		if again = i >= 0; again {
			ev = schedule.Event{Kind: schedule.Declared, Index: out[i].Index, Touches: m.touches[out[i].Index]}
		}
	}
	require.Equal(t, named(want), named(got), "after %+v", ev)
	for _, a := range got {
		switch a.Kind {
		case schedule.Start:
			m.running[a.Index] = true
		case schedule.Cancel:
			m.stopped[a.Index] = true
		case schedule.Resume:
			delete(m.held, a.Index)
		case schedule.Done:
			m.over = true
		}
	}
	m.invariants(t, got)
}

// invariants hold whatever the definition is.
func (m *message) invariants(t *rapid.T, did []schedule.Action) {
	active := len(m.running) - len(m.held)
	require.LessOrEqual(t, active, m.limit)
	started := false
	for _, a := range did {
		started = started || a.Kind == schedule.Start
		require.False(t, !m.effects && started && a.Kind == schedule.Apply, "a modifier acts before the next call begins")
	}
	for i := range m.touches {
		if m.running[i] && !m.held[i] && !m.effects && (m.serial || !m.safe[i]) {
			require.Equal(t, 1, active, "an exclusive call is alone")
		}
		if _, waiting := m.core.Waiting(i); waiting {
			require.False(t, m.running[i], "a call that waits does not run")
		}
	}
}

type action struct {
	kind  string
	index int
	cause string
}

func named(all []schedule.Action) []action {
	out := []action{}
	for _, a := range all {
		out = append(out, action{a.Kind.String(), a.Index, a.Cause.String()})
	}
	return out
}

func (m *message) add(t *rapid.T) {
	if m.ended && !m.abandoned || len(m.touches) > 12 {
		t.Skip("the stream is over")
	}
	ev := schedule.Event{Kind: schedule.Added, Safe: rapid.IntRange(0, 3).Draw(t, "safe") > 0, Cancellable: rapid.Bool().Draw(t, "cancellable")}
	if m.effects {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c/d", "c/**"}), 0, 2)
		ev.Touches = &schedule.Footprint{Reads: keys.Draw(t, "reads"), Writes: keys.Draw(t, "writes")}
		if rapid.IntRange(0, 5).Draw(t, "everything") == 0 {
			ev.Touches = nil
		}
	}
	m.touches, m.safe = append(m.touches, ev.Touches), append(m.safe, ev.Safe)
	m.step(t, ev)
}

func (m *message) oneRunning(t *rapid.T) int {
	var all []int
	for i := range m.running {
		all = append(all, i)
	}
	if len(all) == 0 {
		t.Skip("nothing runs")
	}
	slices.Sort(all)
	return rapid.SampledFrom(all).Draw(t, "call")
}

func (m *message) finish(t *rapid.T) {
	i := m.oneRunning(t)
	delete(m.running, i)
	delete(m.held, i)
	m.step(t, schedule.Event{Kind: schedule.Finished, Index: i, Fails: rapid.IntRange(0, 3).Draw(t, "fails") == 0, Modifies: rapid.Bool().Draw(t, "modifies")})
}

func (m *message) escalate(t *rapid.T) {
	i := m.oneRunning(t)
	if m.effects && m.touches[i] != nil {
		t.Skip("under effects what may be rewritten touches everything")
	}
	m.held[i] = true                      // unless it goes on at once
	m.safe[i] = m.safe[i] && m.stopped[i] // who was asked to stop goes on to its end as it is
	m.step(t, schedule.Event{Kind: schedule.Escalated, Index: i})
}

func (m *message) begin(t *rapid.T) {
	m.step(t, schedule.Event{Kind: schedule.Began, Index: m.oneRunning(t)})
}

func (m *message) stop(kind schedule.EventKind) func(*rapid.T) {
	return func(t *rapid.T) {
		if m.stops == 2 {
			return // stopped often enough; a skip could leave rapid without a valid action
		}
		m.stops++
		m.abandoned = m.abandoned || kind == schedule.Abandoned
		m.ended = m.ended || m.abandoned
		m.step(t, schedule.Event{Kind: kind})
	}
}

func (m *message) end(t *rapid.T) {
	if m.ended {
		t.Skip("the stream is over")
	}
	m.ended = true
	m.step(t, schedule.Event{Kind: schedule.StreamEnded})
}

// Whatever happens, in any order, the core does what the machine does, action for
// action; and when the stream is over and nothing runs, the message is done.
func TestCoreAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMessage(t)
		t.Repeat(map[string]func(*rapid.T){
			"add": m.add, "finish": m.finish, "escalate": m.escalate, "begin": m.begin, "end the stream": m.end,
			"interrupt": m.stop(schedule.Interrupted), "abort": m.stop(schedule.Aborted), "abandon": m.stop(schedule.Abandoned),
			"nothing": func(*rapid.T) {}, // there is always something to do
			"": func(t *rapid.T) {
				if m.ended && len(m.running) == 0 && !m.over {
					t.Fatal("the stream is over, nothing runs, and the message is not done")
				}
			},
		})
	})
}

// A pair plays a case as its core would alone, and finds nothing that differs.
func TestAPairDecidesAsTheCore(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 4, Policies: policies, May: generate.Everything})
	var pair oracle.Pair
	core, both := des.Engine{}, des.Engine{New: pair.Reset}
	for i := range uint64(5_000) {
		c := m.Case(i)
		want, err := core.Run(c)
		require.NoError(t, err)
		got, err := both.Run(c)
		require.NoError(t, err)
		require.Equal(t, want, got, "case %d", i)
		require.Empty(t, pair.Difference(), "case %d", i)
	}
}

// A definition that is corrupted makes them differ, and that is reported once.
func TestAPairNotesWhereItsTwoDiffer(t *testing.T) {
	var pair oracle.Pair
	s, err := pair.Reset(schedule.Streaming, 1)
	require.NoError(t, err)
	s.Step(schedule.Event{Kind: schedule.Added, Safe: true}, nil)
	require.Empty(t, pair.Difference())
	s.Step(schedule.Event{Kind: schedule.Added, Safe: true}, nil)
	oracle.Mislead(&pair)
	s.Step(schedule.Event{Kind: schedule.Finished, Index: 0}, nil)
	assert.Contains(t, pair.Difference(), "the definition decides [emit 0, emit 1]; action 2, start 1, differs")
	assert.Empty(t, pair.Difference())
}

// Random cases decided by the core, by its definition, and by both.
func BenchmarkDecisions(b *testing.B) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything})
	var pair oracle.Pair
	for _, e := range []struct {
		name   string
		engine des.Engine
	}{{"core", des.Engine{}}, {"machine", des.Engine{New: oracle.NewScheduler}}, {"pair", des.Engine{New: pair.Reset}}} {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			n := uint64(0)
			for b.Loop() {
				if _, err := e.engine.Run(m.Case(n % 1000)); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
		})
	}
}

func BenchmarkMaking(b *testing.B) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything})
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		m.Case(i)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}

var policies = []string{"serial", "batch", "streaming", "effects"}

// The core does what the machine does, action for action.
func TestTheCoreIsTheMachine(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 3, Policies: policies, May: generate.Everything})
	core, machine := des.Engine{}, des.Engine{New: oracle.NewScheduler}
	for i := range uint64(20_000) {
		c := m.Case(i)
		want, err := machine.Run(c)
		require.NoError(t, err)
		got, err := core.Run(c)
		require.NoError(t, err)
		require.Equal(t, want, got, "case %d", i)
	}
}

// Where nothing stops anything, when calls start and end follows from a formula.
func TestQuietCasesFollowTheFormula(t *testing.T) {
	may := generate.Exclusive | generate.Failing | generate.Breaking | generate.Hanging | generate.IgnoringCancel | generate.Modifying | generate.Asking | generate.Misnamed | generate.Turns | generate.Ties | generate.Many
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 4, Policies: policies, May: may})
	var e des.Engine
	quiet := 0
	for i := range uint64(20_000) {
		c := m.Case(i)
		if !oracle.Undisturbed(c) {
			continue
		}
		quiet++
		log, err := e.Run(c)
		require.NoError(t, err)
		id, want, ok := oracle.CheckSpans(c, log)
		require.True(t, ok, "case %d: call %s should start at %s and end at %s\n%s\n%s", i, id, want.Start, want.End, generate.SchedulerScenario(c, "case", "x", nil), log)
	}
	require.Greater(t, quiet, 5_000)
}
