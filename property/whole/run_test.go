package whole_test

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/property/mix"
	"toolbench/property/whole"
	"toolbench/sim/des"
)

var cases = flag.Uint64("cases", 100, "how many cases to compare")

var policies = []string{"serial", "batch", "streaming", "effects"}

// Both engines give the same log, entry by entry.
func TestTheWholeSystemDoesWhatItsModelDoes(t *testing.T) {
	m := mix.NewMaker(mix.Plan{Seed: 1, Policies: policies, May: mix.Everything &^ mix.Leaving})
	var e des.Engine
	lean := whole.NewLean()
	for i := range *cases {
		c := m.Case(i)
		want, err := e.Run(c)
		require.NoError(t, err)
		quick, _, err := lean.Run(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, whole.Differ(quick, want), "case %d", i)
		got, _, err := whole.Run(context.Background(), c)
		require.NoError(t, err, "case %d\n%s", i, mix.Scenario(c, "case", "x", nil))
		if d := whole.Differ(want, got); d != "" {
			t.Fatalf("case %d\n%s\n%s", i, mix.Scenario(c, "case", "One case.", nil), d)
		}
	}
}
