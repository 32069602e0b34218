package fuzz_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

// In process, the system does what its model does, entry by entry, and violates nothing.
func TestInProcessDoesWhatTheSimulationDoes(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 2, Policies: policies, May: generate.Everything})
	var e des.Engine
	inProcess := fuzz.NewInProcess()
	for i := range 10 * *cases {
		c := m.Case(i)
		want, err := e.Run(c)
		require.NoError(t, err)
		got, out, err := inProcess.Run(context.Background(), c)
		require.NoError(t, err, "case %d\n%s", i, generate.SchedulerScenario(c, "case", "x", nil))
		if d := fuzz.Diff(want, got); d != "" {
			t.Fatalf("case %d\n%s\n%s", i, generate.SchedulerScenario(c, "case", "One case.", nil), d)
		}
		require.Nil(t, inProcess.Check(out), "case %d", i)
	}
}

// A case through the whole system: in process, and end to end.
func BenchmarkCase(b *testing.B) {
	inProcess := fuzz.NewInProcess()
	for _, way := range []struct {
		name string
		run  func(context.Context, *des.Case) error
	}{
		{"in-process", func(ctx context.Context, c *des.Case) error { _, _, err := inProcess.Run(ctx, c); return err }},
		{"end-to-end", func(ctx context.Context, c *des.Case) error { _, _, err := fuzz.EndToEnd(ctx, c); return err }},
	} {
		b.Run(way.name, func(b *testing.B) {
			m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything &^ generate.Aborting})
			calls := 0
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				c := m.Case(i % 1000)
				calls += c.Calls()
				if err := way.run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
		})
	}
}

// A conversation that is stopped while the last calls of an abandoned answer end asks
// for nothing any more, though it has a try left.
func TestAStoppedConversationTriesNothingAgain(t *testing.T) {
	c := &des.Case{
		Policy: "streaming", Limit: 1, Retries: 1, AbortAt: 4 * time.Second, Faults: []des.Fault{{What: "malformed", Request: 1, Event: 8}},
		Turns: []des.Turn{{Calls: []des.Call{{ID: "c1", At: time.Second, For: 5 * time.Second, IgnoresCancel: true}, {ID: "c2", At: 3 * time.Second}}}},
	}
	var e des.Engine
	want, err := e.Run(c)
	require.NoError(t, err)
	got, _, err := fuzz.NewInProcess().Run(context.Background(), c)
	require.NoError(t, err)
	require.Empty(t, fuzz.Diff(want, got))
	requests := 0
	for _, e := range got.Entries {
		if e.Kind == des.Request {
			requests++
		}
	}
	require.Equal(t, 1, requests)
}

// Sixty calls a message, most of them safe: what a call costs, without what a
// conversation does.
func BenchmarkSixtyCalls(b *testing.B) {
	c := &des.Case{Policy: "streaming", Limit: 10, Turns: []des.Turn{{}}}
	for i := range 60 {
		at, takes := time.Duration(i+1)*10*time.Millisecond, time.Duration(i%7)*100*time.Millisecond
		c.Turns[0].Calls = append(c.Turns[0].Calls, des.Call{ID: fmt.Sprint("c", i), At: at, For: takes, Safe: i%6 > 0})
	}
	inProcess := fuzz.NewInProcess()
	b.ReportAllocs()
	for b.Loop() {
		c.Seed++
		if _, _, err := inProcess.Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(60*b.N)/b.Elapsed().Seconds(), "calls/s")
}

// The same case gives the same trace, byte for byte, whenever it is played (O4). The
// digest over all of them is printed: with -v it can be compared between processes,
// numbers of processors, and builds.
func TestACaseHasOneTrace(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 3, Policies: policies, May: generate.Everything})
	inProcess, all := fuzz.NewInProcess(), sha256.New()
	for i := range *cases {
		c := m.Case(i)
		var first string
		for range 2 {
			_, out, err := inProcess.Run(context.Background(), c)
			require.NoError(t, err)
			d := digest(out.Trace)
			if first == "" {
				first = d
			}
			require.Equal(t, first, d, "case %d\n%s", i, generate.SchedulerScenario(c, "case", "One case.", nil))
		}
		all.Write([]byte(first))
	}
	t.Logf("%d cases: %s", *cases, hex.EncodeToString(all.Sum(nil))[:16])
}

func digest(events []trace.Event) string {
	h := sha256.New()
	for _, e := range events {
		h.Write(append(e.AppendLine(nil), '\n'))
	}
	return string(h.Sum(nil))
}

var cases = flag.Uint64("cases", 100, "how many cases to compare")

var policies = []string{"serial", "batch", "streaming", "effects"}

// Both engines give the same log, entry by entry.
func TestEndToEndDoesWhatTheSimulationDoes(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything &^ generate.Aborting})
	var e des.Engine
	inProcess := fuzz.NewInProcess()
	for i := range *cases {
		c := m.Case(i)
		want, err := e.Run(c)
		require.NoError(t, err)
		quick, _, err := inProcess.Run(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, fuzz.Diff(quick, want), "case %d", i)
		got, _, err := fuzz.EndToEnd(context.Background(), c)
		require.NoError(t, err, "case %d\n%s", i, generate.SchedulerScenario(c, "case", "x", nil))
		if d := fuzz.Diff(want, got); d != "" {
			t.Fatalf("case %d\n%s\n%s", i, generate.SchedulerScenario(c, "case", "One case.", nil), d)
		}
	}
}
