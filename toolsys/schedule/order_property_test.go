package schedule_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/schedule"
)

// phase is how far a call is.
type phase int

const (
	waits phase = iota
	runs
	ended
)

// world is what the properties below knows of a message: what each call touches in the
// end, and how far it is.
type world struct {
	core    *schedule.Core
	limit   int
	touches []*schedule.Footprint
	phase   []phase
	emitted int
	applied int
	done    bool
}

var someKeys = []string{"/a", "/b", "/d/x", "/d/y", "/d/**", "/d", "todos"}

func anyFootprint(t *rapid.T) *schedule.Footprint {
	if rapid.IntRange(0, 7).Draw(t, "unsaid") == 0 {
		return nil
	}
	keys := rapid.SliceOfN(rapid.SampledFrom(someKeys), 0, 2)
	f := &schedule.Footprint{Reads: keys.Draw(t, "reads"), Writes: keys.Draw(t, "writes")}
	if rapid.IntRange(0, 4).Draw(t, "shifts") == 0 {
		f.Shifts = f.Writes
	}
	return f
}

// step lets the core do what follows from ev and answers what it asks.
func (w *world) step(t *rapid.T, ev schedule.Event) {
	for _, a := range w.core.Step(ev, nil) {
		switch a.Kind {
		case schedule.Start:
			require.Equal(t, waits, w.phase[a.Index])
			w.phase[a.Index] = runs
		case schedule.Apply:
			require.Equal(t, w.emitted, a.Index, "a modifier acts with its result")
			w.applied++
		case schedule.Emit:
			require.Equal(t, w.emitted, a.Index)
			require.Equal(t, ended, w.phase[a.Index])
			w.emitted++
		case schedule.Declare:
			w.touches[a.Index] = anyFootprint(t)
			defer w.step(t, schedule.Event{Kind: schedule.Declared, Index: a.Index, Touches: w.touches[a.Index]})
		case schedule.Done:
			w.done = true
		}
	}
}

// holds: no call runs beside an earlier one that it conflicts with, and none waits
// without a reason.
func (w *world) holds(t *rapid.T) {
	running := 0
	for i, p := range w.phase {
		free := !slices.ContainsFunc(w.unfinished(i), func(j int) bool { return schedule.Conflict(w.touches[i], w.touches[j]) })
		if p == runs {
			running++
			require.True(t, free, "call %d runs beside an earlier call it conflicts with", i)
		}
		_, waiting := w.core.Waiting(i)
		require.Equal(t, p == waits, waiting)
	}
	require.LessOrEqual(t, running, w.limit)
	if first := slices.Index(w.phase, waits); first >= 0 && running == 0 {
		t.Fatalf("nothing runs, and call %d waits", first)
	}
}

func (w *world) unfinished(before int) (all []int) {
	for j := range before {
		if w.phase[j] != ended {
			all = append(all, j)
		}
	}
	return all
}

func TestPropertyNoCallRunsBesideAnEarlierOneItConflictsWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		core, err := schedule.NewCore(schedule.Effects, limit)
		require.NoError(t, err)
		w := &world{core: core, limit: limit}
		modified, left := 0, rapid.IntRange(1, 14).Draw(t, "calls")
		for !w.done {
			running := []int{}
			for i, p := range w.phase {
				if p == runs {
					running = append(running, i)
				}
			}
			switch {
			case left > 0 && (len(running) == 0 || rapid.Bool().Draw(t, "add")):
				left--
				f := anyFootprint(t)
				w.touches, w.phase = append(w.touches, f), append(w.phase, waits)
				w.step(t, schedule.Event{Kind: schedule.Added, Touches: f})
			case left == 0 && len(w.unfinished(len(w.phase))) == 0:
				w.step(t, schedule.Event{Kind: schedule.StreamEnded})
				require.True(t, w.done)
			default:
				i := rapid.SampledFrom(running).Draw(t, "ends")
				w.phase[i] = ended
				modifies := rapid.Bool().Draw(t, "modifies")
				if modifies {
					modified++
				}
				w.step(t, schedule.Event{Kind: schedule.Finished, Index: i, Modifies: modifies})
			}
			w.holds(t)
		}
		require.Equal(t, len(w.phase), w.emitted)
		require.Equal(t, modified, w.applied)
	})
}

// Where every call says that it touches nothing, all run at once; where none says
// anything, each runs alone.
func TestPropertyTheExtremesAreAllAtOnceAndOneAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "calls")
		for _, c := range []struct {
			touches *schedule.Footprint
			want    int
		}{{&schedule.Footprint{}, n}, {nil, 1}} {
			core, err := schedule.NewCore(schedule.Effects, n)
			require.NoError(t, err)
			started := 0
			for range n {
				started += len(starts(core.Step(schedule.Event{Kind: schedule.Added, Touches: c.touches}, nil)))
			}
			require.Equal(t, c.want, started)
		}
	})
}
