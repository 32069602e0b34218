package generate_test

import (
	"testing"

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
