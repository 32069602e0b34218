package main

import (
	"testing"

	"toolbench/bench/measure"
)

// BenchmarkNoop is a message of 8 calls that do nothing, for benchstat; the time is
// the message's.
func BenchmarkNoop(b *testing.B) {
	for _, p := range all() {
		for _, small := range []bool{false, true} {
			name := map[bool]string{false: "five", true: "one"}[small]
			b.Run(p.Name+"/"+name, func(b *testing.B) { measure.Noop(b, p, small) })
		}
	}
}
