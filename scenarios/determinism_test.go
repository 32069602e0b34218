package scenarios_test

import (
	"context"
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

var runs = flag.Int("runs", 4, "how often each scenario is run when digests are compared")

// The same scenario and seed give the same trace, byte for byte, on any number of
// processors (O4); another seed may break ties otherwise and still holds.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, sc := range suite(t) {
		first := run.Scenario(context.Background(), sc, run.Options{Seed: 1})
		require.NoError(t, first.Err, sc.Name)
		for n := range *runs {
			runtime.GOMAXPROCS(1 + n%2)
			again := run.Scenario(context.Background(), sc, run.Options{Seed: 1})
			if !assert.Equal(t, first.Digest, again.Digest, "%s, run %d", sc.Name, n) {
				report(t, first, again)
				break
			}
		}
	}
}

func TestEveryScenarioHoldsUnderOtherSeeds(t *testing.T) {
	for _, sc := range suite(t) {
		for seed := uint64(2); seed < 6; seed++ {
			out := run.Scenario(context.Background(), sc, run.Options{Seed: seed})
			require.NoError(t, out.Err, sc.Name)
			assert.Empty(t, out.Failures, "%s under seed %d", sc.Name, seed)
		}
	}
}

// report shows the first events in which two runs differ.
func report(t *testing.T, a, b check.Result) {
	for i := range min(len(a.Trace), len(b.Trace)) {
		x, y := string(a.Trace[i].AppendLine(nil)), string(b.Trace[i].AppendLine(nil))
		if x != y {
			t.Logf("event %d\n  %s\n  %s", i, x, y)
			return
		}
	}
	t.Logf("one has %d events, the other %d", len(a.Trace), len(b.Trace))
}
