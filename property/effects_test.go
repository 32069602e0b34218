package property_test

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

var (
	randomScenarios = flag.Int("scenarios", 300, "how many random scenarios are run")
	from            = flag.Uint64("from", 0, "the seed of the first of them")
)

// measure is what was measured of scenarios that ran.
type measure struct {
	mu                      sync.Mutex
	runs, calls, beside, ok int
	makespan, serial        time.Duration
	// ofBound sums makespans as multiples of the lower bound: of all scenarios, and of
	// those whose limit holds nobody back.
	ofBound, ofFree float64
	free            int
}

func (m *measure) add(o check.Result, limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs++
	for i, c := range o.Calls {
		m.calls++
		if c.Status == "ok" {
			m.ok++
		}
		for j, d := range o.Calls {
			if i != j && c.Started < d.Ended && d.Started < c.Ended {
				m.beside++
				break
			}
		}
	}
	m.makespan += o.Makespan
	m.serial += o.Serial
	of := float64(o.Makespan) / float64(o.LowerBound)
	m.ofBound += of
	if limit == 10 {
		m.free++
		m.ofFree += of
	}
}

// Calls that run out of order leave what they would leave one at a time.
func TestCallsThatRanOutOfOrderLeaveTheSame(t *testing.T) {
	var m measure
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				sc, text, limit := newRandomScenario(t, seed)
				o := run.Scenario(t.Context(), sc, run.Options{Seed: seed})
				if !assert.NoError(t, o.Err, "seed %d", seed) || !assert.Empty(t, o.Failures, "seed %d: %s", seed, text) {
					continue
				}
				assert.GreaterOrEqual(t, o.Makespan, o.LowerBound, "seed %d: the bound is none", seed)
				m.add(o, limit)
			}
		})
	}
	for i := range *randomScenarios {
		seeds <- *from + uint64(i)
	}
	close(seeds)
	workers.Wait()
	require.NotZero(t, m.runs)
	beside := float64(m.beside) / float64(m.calls)
	bound, free := m.ofBound/float64(m.runs), m.ofFree/float64(m.free)
	t.Logf("%d scenarios, %d calls (%d %% ok): %.1f %% ran beside another; makespan %.3f of one at a time, in the mean %.4f of the lower bound, %.4f where no limit holds calls back",
		m.runs, m.calls, 100*m.ok/m.calls, 100*beside, float64(m.makespan)/float64(m.serial), bound, free)
	assert.Greater(t, beside, 0.4, "they do run out of order")
	assert.Less(t, free, 1.02, "and near the lower bound")
	assert.Less(t, bound, 1.05, "and not far from it where a limit of two or three makes the order of starting count")
}
