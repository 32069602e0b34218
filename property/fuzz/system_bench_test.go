package fuzz_test

import (
	"context"
	"testing"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
)

func BenchmarkMakeAndRun(b *testing.B) {
	m := generate.NewSystemMaker(plan(1))
	i := uint64(0)
	for b.Loop() {
		if broken := fuzz.RunSystem(context.Background(), m.Case(i), nil); broken != nil {
			b.Fatalf("scene %d broke %s: %s", i, broken.Name, broken.Found)
		}
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "scenes/s")
}
