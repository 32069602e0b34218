package fuzz_test

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/property/fuzz"
	"toolbench/property/generate"
)

var cases = flag.Uint64("cases", 100, "how many cases to compare")

var policies = []string{"serial", "batch", "streaming", "effects"}

// Both engines give the same log, entry by entry.
func TestTheWholeSystemDoesWhatItsModelDoes(t *testing.T) {
	m := generate.NewSchedulerMaker(generate.Plan{Seed: 1, Policies: policies, May: generate.Everything &^ generate.Aborting})
	var e des.Engine
	lean := fuzz.NewInProcess()
	for i := range *cases {
		c := m.Case(i)
		want, err := e.Run(c)
		require.NoError(t, err)
		quick, _, err := lean.Run(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, fuzz.Diff(quick, want), "case %d", i)
		got, _, err := fuzz.EndToEnd(context.Background(), c)
		require.NoError(t, err, "case %d\n%s", i, generate.SchedulerScenario(c, "case", "x", nil))
		if d := fuzz.Diff(want, got); d != "" {
			t.Fatalf("case %d\n%s\n%s", i, generate.SchedulerScenario(c, "case", "One case.", nil), d)
		}
	}
}
