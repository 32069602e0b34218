package promise_test

import (
	"testing"

	"toolbench/property/mix"
	"toolbench/property/promise"
	"toolbench/sim/des"
)

// What promises and counting cost, of logs that are there already.
func BenchmarkPromises(b *testing.B) {
	m := mix.NewMaker(mix.Plan{Seed: 1, Policies: []string{"serial", "batch", "streaming", "effects"}, May: mix.Everything})
	views := make([]promise.View, 500)
	for i := range views {
		var e des.Engine
		c := mix.Clone(m.Case(uint64(i)))
		log, err := e.Run(c)
		if err != nil {
			b.Fatal(err)
		}
		views[i].Look(c, log)
	}
	report := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s") }
	b.Run("look", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			v := &views[i%len(views)]
			v.Look(v.Case, v.Log)
		}
		report(b)
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if broken := promise.Check(&views[i%len(views)]); broken != nil {
				b.Fatal(broken)
			}
		}
		report(b)
	})
	b.Run("count", func(b *testing.B) {
		b.ReportAllocs()
		seen := 0
		for i := 0; b.Loop(); i++ {
			for _, s := range promise.Situations() {
				seen += s.In(&views[i%len(views)])
			}
		}
		report(b)
	})
}
