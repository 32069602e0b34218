package effects_test

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
)

var (
	mixes = flag.Int("mixes", 300, "how many random mixes are run")
	from  = flag.Uint64("from", 0, "the first mix's seed")
)

// measure is what was seen of mixes that ran.
type measure struct {
	mu                     sync.Mutex
	runs, calls, beside    int
	makespan, serial       time.Duration
	ofLeast, ofSerial, top float64
}

func (m *measure) add(o scenario.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs++
	for i, c := range o.Calls {
		m.calls++
		for j, d := range o.Calls {
			if i != j && c.Started < d.Ended && d.Started < c.Ended {
				m.beside++
				break
			}
		}
	}
	m.makespan += o.Makespan
	m.serial += o.Serial
	m.ofSerial += float64(o.Makespan) / float64(o.Serial)
	of := float64(o.Makespan) / float64(o.Least)
	m.ofLeast += of
	m.top = max(m.top, of)
}

// Calls that run out of order leave what they would leave one at a time.
func TestNobodySeesThatCallsRanOutOfOrder(t *testing.T) {
	var m measure
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				sc, text := newMix(t, seed)
				o := scenario.Run(t.Context(), sc, scenario.Options{Seed: seed})
				if !assert.NoError(t, o.Err, "seed %d", seed) || !assert.Empty(t, o.Failures, "seed %d: %s", seed, text) {
					continue
				}
				assert.GreaterOrEqual(t, o.Makespan, o.Least, "seed %d: the bound is none", seed)
				m.add(o)
			}
		})
	}
	for i := range *mixes {
		seeds <- *from + uint64(i)
	}
	close(seeds)
	workers.Wait()
	require.NotZero(t, m.runs)
	runs := float64(m.runs)
	beside := float64(m.beside) / float64(m.calls)
	t.Logf("%d mixes, %d calls: %.1f %% ran beside another; makespan %.3f of one at a time (mean of mixes %.3f), %.4f of the lower bound in the mean, %.3f at most",
		m.runs, m.calls, 100*beside, float64(m.makespan)/float64(m.serial), m.ofSerial/runs, m.ofLeast/runs, m.top)
	assert.Greater(t, beside, 0.4, "they do run out of order")
	assert.Less(t, m.ofLeast/runs, 1.02, "and near the lower bound")
}
