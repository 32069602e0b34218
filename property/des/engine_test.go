package des_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/des"
	"toolbench/sim/clock"
)

const ms = time.Millisecond

func play(t *testing.T, c *des.Case) *des.Log {
	t.Helper()
	require.NoError(t, c.Check())
	var e des.Engine
	log, err := e.Run(c)
	require.NoError(t, err)
	return log
}

// The headline: 5 s of stream, a tool of 3 s that arrives at 2 s (J7).
func TestToolsRunWhileTheStreamDoes(t *testing.T) {
	for policy, end := range map[string]time.Duration{"streaming": 5 * time.Second, "batch": 8 * time.Second, "serial": 8 * time.Second} {
		c := &des.Case{Policy: policy, Limit: 10, Turns: []des.Turn{{
			Calls: []des.Call{{ID: "a", At: 2 * time.Second, For: 3 * time.Second, Safe: true}}, End: 5 * time.Second,
		}}}
		log := play(t, c)
		assert.Equal(t, end, log.Entries[len(log.Entries)-1].At, policy)
	}
}

func TestALogReadsLikeAStory(t *testing.T) {
	c := &des.Case{Policy: "streaming", Limit: 10, Interrupts: []time.Duration{300 * ms}, Turns: []des.Turn{{Calls: []des.Call{
		{ID: "a", At: 100 * ms, For: 900 * ms, Safe: true, Cancel: true},
		{ID: "b", At: 200 * ms, For: 100 * ms},
	}, End: time.Second}}}
	assert.Equal(t, `0s turn 1 request
100ms turn 1 ready #0
100ms turn 1 started #0
100ms turn 1 decided #0
200ms turn 1 ready #1
300ms turn 1 interrupt
300ms turn 1 cancelled #0: the user interrupted
300ms turn 1 ended #1: interrupted
300ms turn 1 ended #0: interrupted
300ms turn 1 emitted #0: interrupted
300ms turn 1 emitted #1: interrupted
300ms turn 1 committed
300ms turn 2 request
300ms turn 2 committed
300ms turn 2 over: well
state []
`, play(t, c).String())
}

func TestWhatWaitsForEverIsAnError(t *testing.T) {
	c := &des.Case{Policy: "streaming", Limit: 1, Turns: []des.Turn{{}}, Faults: []des.Fault{{What: "stall", Request: 1, Event: 1}}}
	var e des.Engine
	_, err := e.Run(c)
	assert.ErrorContains(t, err, "nothing can happen any more")
}

func TestCasesThatMakeNoSenseSayWhy(t *testing.T) {
	call := func(id string, at time.Duration) des.Call { return des.Call{ID: id, At: at} }
	for message, c := range map[string]des.Case{
		"at least 1":            {},
		"there are no turns":    {Limit: 1},
		`the id "a" is missing`: {Limit: 1, Turns: []des.Turn{{Calls: []des.Call{call("a", ms), call("a", ms)}}}},
		"one after the other":   {Limit: 1, Turns: []des.Turn{{Calls: []des.Call{call("a", 2*ms), call("b", ms)}}}},
		"request 1 has a fault": {Limit: 1, Turns: []des.Turn{{}}, Faults: []des.Fault{{What: "cut", Request: 1, Event: 1}, {What: "status", Arg: "500", Request: 1}}},
	} {
		assert.ErrorContains(t, c.Check(), message)
	}
	var e des.Engine
	_, err := e.Run(&des.Case{Policy: "fastest", Limit: 1, Turns: []des.Turn{{}}})
	assert.ErrorContains(t, err, "fastest")
}

// What begins in one instant begins in the order of the gate: the simulation and the
// whole system break ties alike.
func TestTiesAreBrokenAsTheGateBreaksThem(t *testing.T) {
	for seed := range uint64(50) {
		c := &des.Case{Seed: seed, Policy: "batch", Limit: 100, Turns: []des.Turn{{}}}
		for i := range 20 {
			c.Turns[0].Calls = append(c.Turns[0].Calls, des.Call{ID: fmt.Sprint("c", i), At: 10 * ms, For: 100 * ms, Safe: true})
		}
		var got []string
		for _, e := range play(t, c).Entries {
			if e.Kind == des.Decided { // each waits for its goroutine to begin
				got = append(got, c.Call(int(e.Call)).ID)
			}
		}
		want := gated(t, seed, c)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// gated lets the calls' goroutines begin at a real gate.
func gated(t *testing.T, seed uint64, c *des.Case) (order []string) {
	t.Helper()
	require.NoError(t, clock.Bubble(func() error {
		g := clock.Open(seed)
		defer g.Close()
		var all sync.WaitGroup
		for n := range c.Calls() {
			id := c.Call(n).ID
			all.Add(1)
			g.Go("call//"+id, func() { order = append(order, id); all.Done() })
		}
		all.Wait()
		return nil
	}))
	return order
}

// Sixty calls a message, most of them safe.
func BenchmarkSixtyCalls(b *testing.B) {
	c := &des.Case{Policy: "streaming", Limit: 10, Turns: []des.Turn{{}}}
	for i := range 60 {
		c.Turns[0].Calls = append(c.Turns[0].Calls, des.Call{
			ID: fmt.Sprint("c", i), At: time.Duration(i+1) * 10 * ms, For: time.Duration(i%7) * 100 * ms, Safe: i%6 > 0,
		})
	}
	var e des.Engine
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		c.Seed = uint64(n)
		if _, err := e.Run(c); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(60*n)/b.Elapsed().Seconds(), "calls/s")
}
