package measure

import "testing"

// Noop is the no-op case as a Go benchmark: an iteration is a message of Calls.
func Noop(b *testing.B, p Peer, small bool) {
	bout, err := p.Open(Noops(Calls, small))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := bout.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*Calls), "ns/call")
}
