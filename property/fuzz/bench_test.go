package fuzz_test

import (
	"context"
	"testing"

	"toolbench/property/fuzz"
)

// A case from its making to the last promise, on one core.
func BenchmarkSimulated(b *testing.B) {
	var calls uint64
	b.ReportAllocs()
	r := fuzz.Play(context.Background(), plan(1), fuzz.DES, fuzz.Batch{N: uint64(b.N), Step: 1}, nil)
	calls += r.Calls
	b.ReportMetric(float64(r.Cases)/b.Elapsed().Seconds(), "cases/s")
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
}
