package check

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/schedule"
)

// call is a call that is ready after so many seconds and runs for so many; it writes what
// is marked with a star and reads the rest, and with no keys at all it is safe.
func call(ready, took time.Duration, keys ...string) piece {
	touches := &schedule.Footprint{}
	for _, k := range keys {
		if k[0] == '*' {
			touches.Writes = append(touches.Writes, k[1:])
		} else {
			touches.Reads = append(touches.Reads, k)
		}
	}
	return piece{ready: ready * time.Second, took: took * time.Second, safe: len(keys) == 0, touches: touches}
}

// The bound of a message is the longest chain of conflicts, or the work that a number of
// places can do, between when it can begin and what must follow it (J8).
func TestTheLowerBoundOfAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		calls []piece
		limit int
		want  time.Duration
	}{
		"nothing":                              {nil, 1, 0},
		"one call":                             {[]piece{call(1, 4)}, 2, 5},
		"the last to end":                      {[]piece{call(1, 4), call(2, 9), call(3, 1)}, 9, 11},
		"one place":                            {[]piece{call(0, 3), call(2, 4)}, 1, 7},
		"one place, a late call":               {[]piece{call(0, 1), call(9, 4)}, 1, 13},
		"two places":                           {[]piece{call(0, 4), call(0, 4), call(0, 4)}, 2, 6},
		"much at once, late":                   {[]piece{call(0, 1), call(0, 1), call(10, 4), call(10, 4), call(10, 4)}, 2, 16},
		"no limit is given":                    {[]piece{call(0, 4), call(0, 4), call(0, 4)}, 0, 4},
		"a chain":                              {[]piece{call(1, 2, "*a"), call(0, 3, "a"), call(0, 1, "*a")}, 9, 7},
		"a chain that waits for its last link": {[]piece{call(0, 1, "*a"), call(5, 3, "a")}, 9, 8},
		"two chains":                           {[]piece{call(0, 2, "*a"), call(0, 5, "*b"), call(0, 3, "a"), call(0, 1, "b")}, 9, 6},
		"readers do not wait":                  {[]piece{call(0, 3, "a"), call(0, 4, "a")}, 9, 4},
		"safe calls never wait, whatever they touch": {[]piece{{took: 3 * time.Second, safe: true}, {took: 4 * time.Second, safe: true}}, 9, 4},
		"a safe call waits for one that is not":      {[]piece{{took: 3 * time.Second}, {took: 4 * time.Second, safe: true}}, 9, 7},
		"what must follow much work": {[]piece{
			call(0, 2, "*a"), call(0, 2, "*b"), call(0, 2, "*c"), call(0, 10, "a", "b", "c"),
		}, 2, 13},
		"what must follow that": {[]piece{
			call(0, 2, "*a"), call(0, 2, "*b"), call(0, 2, "*c"), call(0, 5, "a", "b", "c", "*d"), call(0, 5, "d"),
		}, 2, 13},
	} {
		assert.Equal(t, c.want*time.Second, lowerBound(c.calls, c.limit), name)
	}
}

// What is found is what comparing all of them finds, and nothing is kept for it: of calls of which each waits for
// all before, pairs grow with the square.
func TestChainsAreFoundWithoutKeepingPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) piece {
			few := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*a", "*b", "*c"}), 0, 3)
			c := call(time.Duration(rapid.IntRange(0, 5).Draw(t, "ready")), time.Duration(rapid.IntRange(0, 5).Draw(t, "took")), few.Draw(t, "keys")...)
			if rapid.IntRange(0, 3).Draw(t, "declares nothing") == 0 {
				c.touches = nil
			}
			return c
		}), 0, 12).Draw(t, "calls")
		want := slices.Clone(calls)
		conflict := func(a, b piece) bool { return !(a.safe && b.safe) && schedule.Conflict(a.touches, b.touches) }
		for i := range want {
			want[i].start = want[i].ready
			for j := range i {
				if conflict(want[j], want[i]) {
					want[i].start = max(want[i].start, want[j].start+want[j].took)
				}
			}
		}
		for i := len(want) - 1; i >= 0; i-- {
			for k := i + 1; k < len(want); k++ {
				if conflict(want[i], want[k]) {
					want[i].tail = max(want[i].tail, want[k].took+want[k].tail)
				}
			}
		}
		chain(calls)
		assert.Equal(t, want, calls)
	})
	exclusive := slices.Repeat([]piece{{took: time.Second}}, 1000)
	assert.Zero(t, testing.AllocsPerRun(1, func() { chain(exclusive) }))
	assert.Equal(t, 999*time.Second, exclusive[999].start)
	assert.Equal(t, 999*time.Second, exclusive[0].tail)
}

// A run could be as much shorter as each turn's calls ended later than they had to; the
// stream that was tried again counts for nothing, and neither do sub-agents.
func TestTheLowerBoundOfARun(t *testing.T) {
	const s = time.Second
	out := &Result{
		Makespan: 20 * s,
		Streams:  []Stream{{Turn: 1, End: 2 * s}, {Turn: 1, Sent: 2 * s, End: 5 * s}, {Turn: 2, Sent: 9 * s, End: 12 * s}, {Agent: "agent_1", Turn: 1, End: 4 * s}},
		Calls: []Call{
			{Turn: 1, Ready: 4 * s, Started: 6 * s, Ended: 9 * s, ran: true},
			{Turn: 1, Ready: 0, Started: 0, Ended: 90 * s, ran: true, Status: "discarded"},
			{Turn: 1, Ready: 0, Started: 0, Ended: 90 * s},
			{Turn: 1, Agent: "agent_1", Ready: 0, Started: 8 * s, Ended: 90 * s, ran: true},
			{Turn: 2, Ready: 10 * s, Started: 10 * s, Ended: 11 * s, ran: true},
		},
	}
	assert.Equal(t, 18*s, lowerBoundOf(out, 10), "9 s where 7 s would do, and 12 s as the stream has it")
}

// Of calls that run after each other or not at all, no two run at one moment.
func TestTheMostThatRanAtOneMoment(t *testing.T) {
	ran := func(from, to time.Duration) Call { return Call{Started: from, Ended: to} }
	for _, c := range []struct {
		calls []Call
		want  int
	}{
		{nil, 0},
		{[]Call{ran(1, 1)}, 0},
		{[]Call{ran(0, 1), ran(1, 2), ran(2, 3)}, 1},
		{[]Call{ran(2, 5), ran(0, 3)}, 2},
		{[]Call{ran(2, 4), ran(0, 2)}, 1},
		{[]Call{ran(0, 9), ran(1, 4), ran(2, 4), ran(4, 6), ran(5, 7)}, 3},
	} {
		assert.Equal(t, c.want, maxRunning(c.calls))
	}
}
