package clock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/clock"
)

// synctest asks for a *testing.T; that a zero one will do is not documented, so it
// is pinned here.
func TestABubbleNeedsNoTest(t *testing.T) {
	began := time.Now()
	var passed time.Duration
	err := clock.Bubble(func() error {
		start := time.Now()
		time.Sleep(3 * time.Hour)
		passed = time.Since(start)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 3*time.Hour, passed)
	assert.Less(t, time.Since(began), time.Minute)
}

func TestAPanicIsAnError(t *testing.T) {
	err := clock.Bubble(func() error { panic("boom") })
	var p *clock.PanicError
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "boom", p.Value)
	assert.NotEmpty(t, p.Stack)
}

func TestADeadlockIsAnError(t *testing.T) {
	err := clock.Bubble(func() error {
		<-make(chan int)
		return nil
	})
	assert.ErrorIs(t, err, clock.ErrDeadlock)
}

// run lets twenty actors wait, many of them for the same instants, and gives the
// order in which they were let go.
func run(t *testing.T, seed uint64) string {
	t.Helper()
	var mu sync.Mutex
	var log []string
	err := clock.Bubble(func() error {
		g := clock.Open(seed)
		defer g.Close()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var all sync.WaitGroup
		for i := range 20 {
			all.Add(1)
			actor := fmt.Sprintf("a%d", i)
			g.Go(actor, func() {
				defer all.Done()
				for n := range 3 {
					err := g.Sleep(ctx, actor, time.Duration(i%4)*time.Second)
					mu.Lock()
					log = append(log, fmt.Sprintf("%s.%d@%v:%v", actor, n, g.Since(), err))
					mu.Unlock()
				}
			})
		}
		g.Go("killer", func() {
			g.Sleep(context.Background(), "killer", 5*time.Second)
			cancel()
		})
		all.Wait()
		return nil
	})
	require.NoError(t, err)
	return strings.Join(log, " ")
}

func TestTheSameSeedGivesTheSameOrder(t *testing.T) {
	first := run(t, 1)
	for range 200 {
		require.Equal(t, first, run(t, 1))
	}
	assert.NotEqual(t, first, run(t, 2), "another seed breaks ties another way")
}

func TestACancelledWaitStillPassesTheGate(t *testing.T) {
	err := clock.Bubble(func() error {
		g := clock.Open(7)
		defer g.Close()
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		g.Go("later", func() {
			g.Sleep(context.Background(), "later", time.Second)
			cancel(cause)
		})
		assert.Equal(t, cause, g.Sleep(ctx, "me", time.Hour))
		assert.Equal(t, time.Second, g.Since())
		assert.Equal(t, cause, g.Sleep(ctx, "me", time.Hour), "an ended context does not wait")
		assert.Equal(t, time.Second, g.Since())
		return nil
	})
	require.NoError(t, err)
}

// What one source begins at one instant begins in its order, whatever the seed.
func TestWhatOneActorBeginsKeepsItsOrder(t *testing.T) {
	for seed := range uint64(20) {
		var order []int
		require.NoError(t, clock.Bubble(func() error {
			g := clock.Open(seed)
			defer g.Close()
			var all sync.WaitGroup
			for n := range 5 {
				all.Add(1)
				g.Go("source", func() {
					defer all.Done()
					order = append(order, n) // one goes at a time
				})
			}
			all.Wait()
			return nil
		}))
		assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
	}
}

// A wait that is given up ends with the reason, also on the clock on the wall; and virtual time is the
// same wherever the machine stands.
func TestAPauseEndsWithItsCause(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	assert.Equal(t, cause, clock.Pause(ctx, time.Hour))
	assert.Equal(t, cause, clock.Now().Sleep(ctx, "me", 0))
	require.NoError(t, clock.Bubble(func() error {
		g := clock.Open(1)
		defer g.Close()
		assert.Equal(t, time.UTC, g.Now().Location())
		return nil
	}))
}

func BenchmarkBubble(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		clock.Bubble(func() error { return nil })
	}
}

func BenchmarkGateWait(b *testing.B) {
	b.ReportAllocs()
	clock.Bubble(func() error {
		g := clock.Open(1)
		defer g.Close()
		for range b.N {
			g.Sleep(context.Background(), "a", time.Millisecond)
		}
		return nil
	})
}
