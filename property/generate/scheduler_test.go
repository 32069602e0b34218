package generate_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// A value of the kit's table that is found, or a kind of thing that is made, has to be one that the code knows: another
// would be drawn as a text.
func TestTheKitsTableNamesWhatIsThere(t *testing.T) {
	table, err := os.ReadFile("kit.json")
	require.NoError(t, err)
	var source []byte
	for _, file := range []string{"kit.go", "kit_inputs.go", "system.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source = append(source, text...)
	}
	finds := regexp.MustCompile(`"(\$\w+)"`).FindAllSubmatch(table, -1)
	makes := regexp.MustCompile(`"makes": \["(\w+)"(?:, "(\w+)")?\]`).FindAllSubmatch(table, -1)
	require.NotEmpty(t, finds)
	require.NotEmpty(t, makes)
	for _, m := range finds {
		assert.True(t, bytes.Contains(source, []byte(`"`+string(m[1])+`":`)), "%s", m[1])
	}
	assert.Len(t, makes, bytes.Count(table, []byte(`"makes"`)))
	for _, m := range makes {
		for _, kind := range m[1:] {
			assert.True(t, len(kind) == 0 || bytes.Contains(source, []byte(`made["`+string(kind)+`"]`)), "%s", kind)
		}
	}
}
