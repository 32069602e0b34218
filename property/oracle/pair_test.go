package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/toolsys/schedule"
)

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

// A machine that is led astray makes them differ, and it is said once.
func TestAPairNotesWhereItsTwoDiffer(t *testing.T) {
	var pair oracle.Pair
	s, err := pair.Reset(schedule.Streaming, 1)
	require.NoError(t, err)
	s.Step(schedule.Event{Kind: schedule.Added, Safe: true}, nil)
	require.Empty(t, pair.Difference())
	s.Step(schedule.Event{Kind: schedule.Added, Safe: true}, nil)
	oracle.Mislead(&pair)
	s.Step(schedule.Event{Kind: schedule.Finished, Index: 0}, nil)
	assert.Contains(t, pair.Difference(), "is not decided alike")
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
