package scenarios_test

import (
	"context"
	"flag"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

var runs = flag.Int("runs", 2, "how often each scenario is run when digests are compared")

// The same scenario and seed give the same trace, byte for byte, on any number of
// processors (O4), alone and beside others; another seed may break ties otherwise and
// still holds.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, sc := range suite(t) {
		require.NoError(t, alone(sc).Err, sc.Name)
	}
	for n := range *runs {
		runtime.GOMAXPROCS(1 + n%2)
		besideOthers(suite(t), func(sc *scenario.Scenario) {
			first, again := alone(sc), run.Scenario(context.Background(), sc, run.Options{Seed: 1})
			if !assert.Equal(t, first.Digest, again.Digest, "%s, run %d", sc.Name, n) {
				report(t, first, again)
			}
		})
	}
}

func TestEveryScenarioHoldsUnderOtherSeeds(t *testing.T) {
	besideOthers(suite(t), func(sc *scenario.Scenario) {
		for seed := uint64(2); seed < 6; seed++ {
			out := run.Scenario(context.Background(), sc, run.Options{Seed: seed})
			assert.NoError(t, out.Err, "%s under seed %d", sc.Name, seed)
			assert.Empty(t, out.Failures, "%s under seed %d", sc.Name, seed)
		}
	})
}

// alone is what came of a scenario under the seed 1, played once for all tests.
func alone(sc *scenario.Scenario) check.Result {
	once, _ := played.LoadOrStore(sc.Name, sync.OnceValue(func() check.Result {
		return run.Scenario(context.Background(), sc, run.Options{Seed: 1})
	}))
	return once.(func() check.Result)()
}

var played sync.Map // of each scenario's name, its alone

// besideOthers does something with each scenario, several at a time.
func besideOthers(all []*scenario.Scenario, do func(*scenario.Scenario)) {
	var workers sync.WaitGroup
	next := make(chan *scenario.Scenario)
	for range 2 * runtime.NumCPU() {
		workers.Go(func() {
			for sc := range next {
				do(sc)
			}
		})
	}
	for _, sc := range all {
		next <- sc
	}
	close(next)
	workers.Wait()
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
