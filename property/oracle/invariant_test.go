package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
)

func TestEveryInvariantHolds(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 2, Policies: []string{"serial", "batch", "streaming", "effects"}, May: generate.Everything})
	var e des.Engine
	v := oracle.View{}
	for i := range uint64(20_000) {
		c := m.Case(i)
		log, err := e.Run(c)
		require.NoError(t, err)
		if b := look(&v, c, log); b != nil {
			t.Fatalf("case %d: %v\n%s\n%s", i, b, generate.SchedulerScenario(c, "case", "One case.", nil), log)
		}
	}
}

func look(v *oracle.View, c *des.Case, log *des.Log) *oracle.Violation {
	v.Read(c, log)
	return oracle.CheckScheduler(v)
}

// What checking and counting cost, of logs that are there already.
func BenchmarkInvariants(b *testing.B) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: []string{"serial", "batch", "streaming", "effects"}, May: generate.Everything})
	views := make([]oracle.View, 500)
	for i := range views {
		var e des.Engine
		c := generate.Case{Scheduler: m.Case(uint64(i))}.Clone().Scheduler
		log, err := e.Run(c)
		if err != nil {
			b.Fatal(err)
		}
		views[i].Read(c, log)
	}
	report := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s") }
	b.Run("look", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			v := &views[i%len(views)]
			v.Read(v.Case, v.Log)
		}
		report(b)
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if broken := oracle.CheckScheduler(&views[i%len(views)]); broken != nil {
				b.Fatal(broken)
			}
		}
		report(b)
	})
	b.Run("count", func(b *testing.B) {
		b.ReportAllocs()
		seen := make([]int, len(oracle.Goals()))
		for i := 0; b.Loop(); i++ {
			oracle.CountScheduler(&views[i%len(views)], seen)
		}
		report(b)
	})
}
