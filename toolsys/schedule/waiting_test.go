package schedule_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/schedule"
)

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
	assert.Equal(t, schedule.Wait{Reason: "order", On: []int{2}}, wait(4), "the first that waits, not the one before it")
	core.Step(schedule.Event{Kind: schedule.Finished, Index: 0}, nil)
	assert.Equal(t, schedule.Wait{Reason: "exclusive", On: []int{1, 2}}, wait(3))
	_, ok := core.Waiting(2)
	assert.False(t, ok, "it runs")
	_, ok = core.Waiting(9)
	assert.False(t, ok, "there is none")

	batch, err := schedule.NewCore(schedule.Batch, 2)
	require.NoError(t, err)
	alone, err := schedule.NewCore(schedule.Streaming, 4)
	require.NoError(t, err)
	full, err := schedule.NewCore(schedule.Effects, 1)
	require.NoError(t, err)
	batch.Step(schedule.Event{Kind: schedule.Added}, nil)
	w, _ := batch.Waiting(0)
	assert.Equal(t, schedule.Wait{Reason: "stream"}, w)
	batch.Step(schedule.Event{Kind: schedule.Added}, nil)
	batch.Step(schedule.Event{Kind: schedule.StreamEnded}, nil)
	w, _ = batch.Waiting(1)
	assert.Equal(t, schedule.Wait{Reason: "exclusive", On: []int{0}}, w, "the stream is over")

	for _, ev := range []schedule.Event{
		{Kind: schedule.Added, Safe: true}, {Kind: schedule.Added, Safe: true}, {Kind: schedule.Escalated}, {Kind: schedule.Added, Safe: true},
	} {
		alone.Step(ev, nil)
	}
	w, _ = alone.Waiting(2)
	assert.Equal(t, schedule.Wait{Reason: "exclusive", On: []int{0, 1}}, w, "one runs, and one waits to go on alone")

	// A call that is yet to declare what it touches, and may as soon as there is room, waits for room.
	for _, ev := range []schedule.Event{
		{Kind: schedule.Added, Touches: footprint("w:/a s:/a")}, {Kind: schedule.Added, Touches: footprint("r:/b")}, {Kind: schedule.Added, Touches: footprint("r:/a")},
		{Kind: schedule.Finished, Index: 0},
	} {
		full.Step(ev, nil)
	}
	w, _ = full.Waiting(2)
	assert.Equal(t, schedule.Wait{Reason: "limit", On: []int{1}}, w)
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
