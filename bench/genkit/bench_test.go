package main

import (
	"testing"

	"toolbench/bench/measure"
)

// BenchmarkNoop is a message of 8 calls that do nothing, for benchstat.
func BenchmarkNoop(b *testing.B) {
	b.Run("genkit/five", func(b *testing.B) { measure.Noop(b, peer(), false) })
	b.Run("genkit/one", func(b *testing.B) { measure.Noop(b, peer(), true) })
}
