package generate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/generate"
)

var policies = []string{"serial", "batch", "streaming", "effects"}

func TestEveryCaseMakesSenseAndEnds(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything})
	var e des.Engine
	for i := range uint64(20_000) {
		c := m.Case(i)
		require.NoError(t, c.Check(), "case %d", i)
		_, err := e.Run(c)
		require.NoError(t, err, "case %d: %+v", i, c)
	}
}

// What is taken away from a failing case is what has nothing to do with it.
func TestAFailingCaseIsMadeSmall(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 3, Policies: policies, May: generate.Everything})
	stops := func(d generate.Case) bool {
		for n := range d.Scheduler.Calls() {
			if k := d.Scheduler.Call(n); k.StopsSiblings && k.At >= 300*time.Millisecond {
				return true
			}
		}
		return false
	}
	for i, found := uint64(0), 0; found < 20; i++ {
		c := generate.Case{Scheduler: m.Case(i)}
		if !stops(c) {
			continue
		}
		found++
		before := c.Clone()
		small := c.Shrink(stops).Scheduler
		require.Equal(t, before, c, "the case itself is left as it is")
		require.Len(t, small.Turns, 1)
		require.Len(t, small.Turns[0].Calls, 1)
		got := small.Turns[0].Calls[0]
		require.Less(t, got.At, 600*time.Millisecond)
		require.Empty(t, slices.Concat(got.Reads, got.Writes))
		require.Empty(t, got.Hooks)
		got.Reads, got.Writes, got.Hooks = nil, nil, nil
		require.Equal(t, des.Call{ID: "c1", At: got.At, Safe: true, StopsSiblings: true}, got)
		require.Equal(t, 10, small.Limit)
		require.Zero(t, small.Turns[0].End+small.AbortAt+small.Idle)
		require.Empty(t, small.Faults)
		require.Empty(t, small.Interrupts)
	}
}

func BenchmarkMakeAndRun(b *testing.B) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything})
	var e des.Engine
	calls, i := 0, uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		c := m.Case(i)
		i++
		calls += c.Calls()
		if _, err := e.Run(c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "cases/s")
}
