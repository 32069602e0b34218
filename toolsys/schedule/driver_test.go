package schedule_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner is what stands behind a driver: it notes what it is told.
type owner struct {
	run func(ctx context.Context, i int, c schedule.Control) string

	// Written by hooks only, one at a time; read when the driver is done.
	emitted   []int
	results   map[int]string
	applied   []int
	discarded []int
	started   []int
	waits     map[int]string
	cancelled map[int]schedule.Cause

	running, most atomic.Int32
}

func newDriver(t require.TestingT, p schedule.Policy, limit int, o *owner) *schedule.Driver[string] {
	o.results, o.waits, o.cancelled = map[int]string{}, map[int]string{}, map[int]schedule.Cause{}
	d, err := schedule.NewDriver(context.Background(), schedule.Config[string]{Policy: p, Limit: limit, Hooks: schedule.Hooks[string]{
		Run: func(ctx context.Context, i int, c schedule.Control) string {
			o.enter()
			defer o.running.Add(-1)
			return o.run(ctx, i, c)
		},
		Verdict: func(r string) schedule.Verdict {
			return schedule.Verdict{Fails: r == "fails", Modifies: r == "modifies"}
		},
		Answer:    func(_ int, cause schedule.Cause) string { return "answered: " + cause.String() },
		Leave:     func(_ int, cause schedule.Cause) string { return "left: " + cause.String() },
		Apply:     func(i int, _ string) { o.applied = append(o.applied, i) },
		Drop:      func(int, string) {},
		Emit:      func(i int, r string) { o.emitted = append(o.emitted, i); o.results[i] = r },
		Discard:   func(i int) { o.discarded = append(o.discarded, i) },
		Started:   func(i int) { o.started = append(o.started, i) },
		Queued:    func(i int, w schedule.Wait) { o.waits[i] = w.Reason },
		Cancelled: func(i int, cause schedule.Cause) { o.cancelled[i] = cause },
	}})
	require.NoError(t, err)
	return d
}

func (o *owner) enter() {
	now := o.running.Add(1)
	for {
		most := o.most.Load()
		if now <= most || o.most.CompareAndSwap(most, now) {
			return
		}
	}
}

// sleep is a tool that takes d and listens to its context.
func sleep(ctx context.Context, d time.Duration) string {
	select {
	case <-time.After(d):
		return "ok"
	case <-ctx.Done():
		return "stopped: " + context.Cause(ctx).Error()
	}
}

// Under real goroutines every call is emitted exactly once, in call order, at most
// limit run at once and an exclusive one runs alone.
func TestPropertyEveryCallIsEmittedOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming}).Draw(t, "policy")
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		safe := rapid.SliceOfN(rapid.Bool(), 0, 16).Draw(t, "safe")
		yields := rapid.SliceOfN(rapid.IntRange(0, 5), len(safe), len(safe)).Draw(t, "yields")
		var alone atomic.Int32
		o := &owner{run: func(_ context.Context, i int, _ schedule.Control) string {
			if !safe[i] {
				alone.Add(1)
				defer alone.Add(-1)
			}
			for range yields[i] {
				runtime.Gosched()
			}
			return "ok"
		}}
		d := newDriver(t, policy, limit, o)
		for _, s := range safe {
			d.Add(s, false)
		}
		d.EndStream()
		d.Wait()
		require.Len(t, o.emitted, len(safe))
		for k, i := range o.emitted {
			assert.Equal(t, k, i)
		}
		assert.LessOrEqual(t, int(o.most.Load()), limit)
		if len(safe) > 0 && policy == schedule.Serial {
			assert.EqualValues(t, 1, o.most.Load())
		}
	})
}

// The seeds' case: 5 s of stream, a 3 s tool that arrives at 2 s (J7).
func TestAToolHidesBehindTheStream(t *testing.T) {
	for policy, want := range map[schedule.Policy]time.Duration{schedule.Batch: 8 * time.Second, schedule.Streaming: 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			o := &owner{run: func(ctx context.Context, _ int, _ schedule.Control) string {
				return sleep(ctx, 3*time.Second)
			}}
			d := newDriver(t, policy, 10, o)
			began := time.Now()
			time.Sleep(2 * time.Second)
			d.Add(true, false)
			time.Sleep(3 * time.Second)
			d.EndStream()
			d.Wait()
			assert.Equal(t, want, time.Since(began), policy.String())
		})
	}
}

func TestAFailureStopsItsSiblingsAndNobodyLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(ctx context.Context, i int, _ schedule.Control) string {
			if i == 0 {
				time.Sleep(time.Second)
				return "fails"
			}
			return sleep(ctx, time.Minute)
		}}
		d := newDriver(t, schedule.Streaming, 10, o)
		d.Add(true, false)
		d.Add(true, false)
		d.Add(false, false)
		time.Sleep(2 * time.Second)
		d.Add(true, false)
		d.EndStream()
		d.Wait()
		assert.Equal(t, map[int]string{
			0: "fails", 1: "stopped: a sibling call failed", 2: "answered: a sibling call failed", 3: "ok",
		}, o.results)
		assert.Equal(t, []int{0, 1, 3}, o.started)
		assert.Equal(t, "exclusive", o.waits[2])
	})
}

func TestInterruptStopsWhatMayBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(ctx context.Context, _ int, c schedule.Control) string {
			c.Begin()
			return sleep(ctx, time.Minute)
		}}
		d := newDriver(t, schedule.Streaming, 2, o)
		d.Add(true, true)
		d.Add(true, false)
		d.Add(true, true)
		synctest.Wait()
		assert.Equal(t, []int{0, 1}, d.Running())
		d.Interrupt()
		d.Add(true, false)
		d.EndStream()
		d.Wait()
		assert.Equal(t, map[int]string{
			0: "stopped: the user interrupted", 1: "ok", 2: "answered: the user interrupted", 3: "answered: the user interrupted",
		}, o.results)
	})
}

// A call that ignores that it was asked to stop is left: nobody waits for it, and what
// it returns later is no result.
func TestACallThatDoesNotStopIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(context.Context, int, schedule.Control) string {
			time.Sleep(time.Minute)
			return "fails"
		}}
		d := newDriver(t, schedule.Streaming, 2, o)
		d.Add(true, true)
		d.EndStream()
		stop := d.Interrupt()
		began := time.Now()
		time.AfterFunc(time.Second, func() { d.Leave(stop) })
		d.Wait()
		assert.Equal(t, time.Second, time.Since(began))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, map[int]string{0: "left: the user interrupted"}, o.results)
		assert.Equal(t, []int{0}, o.emitted)
	})
}

func TestAbandonedStreamLetsNothingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(ctx context.Context, _ int, _ schedule.Control) string {
			return sleep(ctx, time.Minute)
		}}
		d := newDriver(t, schedule.Streaming, 10, o)
		d.Add(true, false)
		d.Add(false, false)
		began := time.Now()
		d.Abandon()
		d.Abort()
		d.Wait()
		assert.Zero(t, time.Since(began), "it does not wait for what it gave up, beyond its stopping")
		assert.Empty(t, o.emitted)
		assert.Equal(t, []int{0, 1}, o.discarded)
	})
}

// A rewritten call waits until it is alone, however often it asks (G2).
func TestARewrittenCallGetsTheFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{}
		o.run = func(ctx context.Context, i int, c schedule.Control) string {
			if i == 0 {
				require.NoError(t, c.Alone(ctx))
				require.NoError(t, c.Alone(ctx), "asking again costs nothing")
				assert.EqualValues(t, 1, o.running.Load())
			}
			return sleep(ctx, time.Second)
		}
		d := newDriver(t, schedule.Streaming, 10, o)
		d.Add(true, false)
		d.Add(true, false)
		time.Sleep(time.Millisecond)
		d.Add(true, false)
		d.EndStream()
		d.Wait()
		assert.Equal(t, []int{0, 1, 2}, o.emitted)
		assert.Equal(t, "ok", o.results[0])
	})
}

// What waits for a permission or a hook has no effect that could be cut short.
func TestACallThatHasNotBegunIsStoppedByTheUsersMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(ctx context.Context, i int, c schedule.Control) string {
			if i == 1 {
				c.Begin()
			}
			return sleep(ctx, time.Minute)
		}}
		d := newDriver(t, schedule.Streaming, 2, o)
		d.Add(true, false)
		d.Add(true, false)
		synctest.Wait()
		d.Interrupt()
		d.EndStream()
		d.Wait()
		assert.Equal(t, map[int]string{0: "stopped: the user interrupted", 1: "ok"}, o.results)
	})
}

func TestACallThatWaitsForTheFloorCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owner{run: func(ctx context.Context, i int, c schedule.Control) string {
			if i == 0 {
				time.Sleep(time.Millisecond) // the other call runs by then: alone, it would have its turn at once
				err := c.Alone(ctx)
				require.Error(t, err)
				return "stopped: " + err.Error()
			}
			c.Begin()
			return sleep(ctx, time.Second)
		}}
		d := newDriver(t, schedule.Streaming, 10, o)
		d.Add(true, false)
		d.Add(true, false)
		synctest.Wait()
		d.Interrupt()
		d.EndStream()
		d.Wait()
		assert.Equal(t, map[int]string{0: "stopped: the user interrupted", 1: "ok"}, o.results)
	})
}

// A goroutine that exits without a result, as a failing test in a tool does, still
// counts as finished (H2).
func TestAGoroutineThatExitsHoldsNobodyUp(t *testing.T) {
	o := &owner{run: func(_ context.Context, i int, _ schedule.Control) string {
		if i == 0 {
			runtime.Goexit()
		}
		return "ok"
	}}
	d := newDriver(t, schedule.Streaming, 10, o)
	d.Add(false, false)
	d.Add(false, false)
	d.EndStream()
	d.Wait()
	assert.Equal(t, map[int]string{0: "answered: its goroutine ended without a result", 1: "ok"}, o.results)
}

// Calls share goroutines only as far as nobody can see it: where each goes on only when all have
// begun, whatever ended before on the way, all go on.
func TestNoCallWaitsForAnothersGoroutine(t *testing.T) {
	for _, quick := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			const together = 6
			var begun sync.WaitGroup
			begun.Add(together)
			o := &owner{run: func(_ context.Context, i int, _ schedule.Control) string {
				switch {
				case i < quick:
				case i == quick:
					begun.Done()
					runtime.Goexit()
				default:
					begun.Done()
					begun.Wait()
				}
				return "ok"
			}}
			d := newDriver(t, schedule.Streaming, together+quick, o)
			for range quick + together {
				d.Add(true, false)
			}
			d.EndStream()
			d.Wait()
			assert.Len(t, o.emitted, quick+together)
			assert.Equal(t, "ok", o.results[quick+together-1])
		})
	}
}

// Calls see the values of the owner's context, not its end: stopping is done one
// by one, in call order.
func TestCallsEndByAbortOnly(t *testing.T) {
	type key struct{}
	parent, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	var seen sync.Map
	release := make(chan struct{})
	d, err := schedule.NewDriver(parent, schedule.Config[error]{Policy: schedule.Streaming, Limit: 2, Hooks: schedule.Hooks[error]{
		Run: func(ctx context.Context, i int, _ schedule.Control) error {
			seen.Store(i, ctx.Value(key{}))
			<-release
			seen.Store(-1, ctx.Err())
			<-ctx.Done()
			return context.Cause(ctx)
		},
		Verdict: func(error) schedule.Verdict { return schedule.Verdict{} },
		Emit:    func(_ int, err error) { assert.ErrorIs(t, err, schedule.SessionAborted) },
	}})
	require.NoError(t, err)
	d.Add(true, false)
	d.EndStream()
	end()
	close(release)
	d.Abort()
	d.Wait()
	value, _ := seen.Load(0)
	assert.Equal(t, "value", value)
	_, err = schedule.NewDriver(t.Context(), schedule.Config[error]{Limit: 0})
	assert.Error(t, err)
	assert.False(t, errors.Is(err, schedule.SessionAborted))
}

// A call's context is one as package context has them, whatever is asked of it first: it ends
// with the call's cause, and those made of it do.
func TestCallsContext(t *testing.T) {
	type key struct{}
	for name, ask := range map[string]func(context.Context) func(){
		"nothing": func(context.Context) func() { return func() {} },
		"its end": func(ctx context.Context) func() { return func() { <-ctx.Done() } },
		"a value": func(ctx context.Context) func() { return func() { ctx.Value(key{}) } },
		"one that is made of it": func(ctx context.Context) func() {
			made, end := context.WithCancel(ctx)
			return func() {
				<-made.Done()
				assert.ErrorIs(t, context.Cause(made), schedule.SessionAborted)
				end()
			}
		},
		"a function after it": func(ctx context.Context) func() {
			called := make(chan struct{})
			context.AfterFunc(ctx, func() { close(called) })
			return func() { <-called }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var kept context.Context
			asked, ended := make(chan struct{}), make(chan struct{})
			d, err := schedule.NewDriver(context.WithValue(t.Context(), key{}, "value"), schedule.Config[error]{Limit: 1, Hooks: schedule.Hooks[error]{
				Run: func(ctx context.Context, _ int, _ schedule.Control) error {
					kept = ctx
					wait := ask(ctx)
					assert.NoError(t, ctx.Err())
					close(asked)
					<-ended
					wait()
					assert.ErrorIs(t, ctx.Err(), context.Canceled)
					assert.Equal(t, "value", ctx.Value(key{}))
					return context.Cause(ctx)
				},
				Verdict: func(error) schedule.Verdict { return schedule.Verdict{} },
				Emit:    func(_ int, cause error) { assert.ErrorIs(t, cause, schedule.SessionAborted) },
			}})
			require.NoError(t, err)
			d.Add(false, false)
			d.EndStream()
			<-asked
			d.Abort()
			close(ended)
			d.Wait()
			<-kept.Done()
			assert.ErrorIs(t, context.Cause(kept), schedule.SessionAborted)
		})
	}
	t.Run("first cause, asked for when the call is over", func(t *testing.T) {
		var kept context.Context
		stopped, asked := make(chan struct{}), make(chan struct{})
		d, err := schedule.NewDriver(t.Context(), schedule.Config[error]{Limit: 1, Hooks: schedule.Hooks[error]{
			Run: func(ctx context.Context, _ int, _ schedule.Control) error {
				kept = ctx
				close(asked)
				<-stopped
				return nil
			},
			Verdict: func(error) schedule.Verdict { return schedule.Verdict{} },
			Emit:    func(int, error) {},
		}})
		require.NoError(t, err)
		d.Add(false, false)
		d.EndStream()
		<-asked
		d.Abort()
		close(stopped)
		d.Wait()
		assert.ErrorIs(t, context.Cause(kept), schedule.SessionAborted)
	})
	t.Run("after its end", func(t *testing.T) {
		var kept context.Context
		d, err := schedule.NewDriver(t.Context(), schedule.Config[error]{Limit: 1, Hooks: schedule.Hooks[error]{
			Run:     func(ctx context.Context, _ int, _ schedule.Control) error { kept = ctx; return nil },
			Verdict: func(error) schedule.Verdict { return schedule.Verdict{} },
			Emit:    func(int, error) {},
		}})
		require.NoError(t, err)
		d.Add(false, false)
		d.EndStream()
		d.Wait()
		<-kept.Done()
		assert.ErrorIs(t, kept.Err(), context.Canceled)
		assert.ErrorIs(t, context.Cause(kept), context.Canceled)
	})
}

// BenchmarkCore is the decisions alone: a message of ten safe calls.
func BenchmarkCore(b *testing.B) {
	b.ReportAllocs()
	var out []schedule.Action
	for b.Loop() {
		core, err := schedule.NewCore(schedule.Streaming, 10)
		if err != nil {
			b.Fatal(err)
		}
		for range 10 {
			out = core.Step(schedule.Event{Kind: schedule.Added, Safe: true}, out[:0])
		}
		out = core.Step(schedule.Event{Kind: schedule.StreamEnded}, out[:0])
		for i := range 10 {
			out = core.Step(schedule.Event{Kind: schedule.Finished, Index: i}, out[:0])
		}
	}
	b.ReportMetric(float64(b.N)*10/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkDriver adds the goroutines.
func BenchmarkDriver(b *testing.B) {
	b.ReportAllocs()
	o := &owner{run: func(context.Context, int, schedule.Control) string { return "ok" }}
	for b.Loop() {
		o.emitted, o.started = o.emitted[:0], o.started[:0]
		d := newDriver(b, schedule.Streaming, 10, o)
		for range 10 {
			d.Add(true, false)
		}
		d.EndStream()
		d.Wait()
	}
	b.ReportMetric(float64(b.N)*10/b.Elapsed().Seconds(), "calls/s")
}
