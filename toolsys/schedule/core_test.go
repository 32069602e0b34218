package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schedule"
)

// script drives a core with one event a word and prints each step, so a test
// reads like a log: "+s" adds a safe call, "+x" an exclusive one, "+c" a safe
// call that may be cancelled, "." ends the stream, "2" finishes call 2, "2!"
// with a failure, "2m" with a modifier, "2^" escalates it, "2b" begins its work, "int", "abort",
// "fallback", "grace" ends the grace of the first stop, "grace2" that of the second.
func script(t *testing.T, p schedule.Policy, limit int, words string) string {
	t.Helper()
	core, err := schedule.NewCore(p, limit)
	require.NoError(t, err)
	var log []string
	for _, w := range strings.Fields(words) {
		var did []string
		for _, a := range core.Step(event(t, w), nil) {
			s := fmt.Sprintf("%s %d", a.Kind, a.Index)
			if a.Kind == schedule.Done {
				s = "done"
			}
			if a.Kind == schedule.Cancel || a.Kind == schedule.Answer || a.Kind == schedule.Leave {
				s += " (" + a.Cause.String() + ")"
			}
			did = append(did, s)
		}
		log = append(log, w+": "+strings.Join(did, ", "))
	}
	return strings.Join(log, "\n")
}

func event(t *testing.T, w string) schedule.Event {
	switch w {
	case "+s":
		return schedule.Event{Kind: schedule.Added, Safe: true}
	case "+x":
		return schedule.Event{Kind: schedule.Added}
	case "+c":
		return schedule.Event{Kind: schedule.Added, Safe: true, Cancellable: true}
	case ".":
		return schedule.Event{Kind: schedule.StreamEnded}
	case "int":
		return schedule.Event{Kind: schedule.Interrupted}
	case "abort":
		return schedule.Event{Kind: schedule.Aborted}
	case "grace", "grace2":
		return schedule.Event{Kind: schedule.GraceOver, Index: 1 + strings.Count(w, "2")}
	case "fallback":
		return schedule.Event{Kind: schedule.Abandoned}
	}
	var i int
	_, err := fmt.Sscanf(w, "%d", &i)
	require.NoError(t, err, w)
	ev := schedule.Event{Kind: schedule.Finished, Index: i}
	switch w[len(w)-1] {
	case '!':
		ev.Fails = true
	case 'm':
		ev.Modifies = true
	case '^':
		ev.Kind = schedule.Escalated
	case 'b':
		ev.Kind = schedule.Began
	}
	return ev
}

func TestCoreReadsLikeALog(t *testing.T) {
	cases := []struct {
		name   string
		policy schedule.Policy
		limit  int
		words  string
		log    string
	}{
		{"the seeds' queue: two reads together, the edit alone, the grep after it", schedule.Streaming, 10,
			"+s +s +x +s 1 0 2 3 .",
			`+s: start 0
+s: start 1
+x: 
+s: 
1: 
0: emit 0, emit 1, start 2
2: emit 2, start 3
3: emit 3
.: done`},
		{"batch holds everything until the stream has ended", schedule.Batch, 10,
			"+s +x +s . 0 1 2",
			`+s: 
+x: 
+s: 
.: start 0
0: emit 0, start 1
1: emit 1, start 2
2: emit 2, done`},
		{"serial runs safe calls one after the other", schedule.Serial, 10,
			"+s +s . 0 1",
			`+s: 
+s: 
.: start 0
0: emit 0, start 1
1: emit 1, done`},
		{"what does not stop when the user speaks is answered when the grace is over, and its end is nobody's", schedule.Streaming, 10,
			"+c +s +c 1b int 2 . grace 0! 1",
			`+c: start 0
+s: start 1
+c: start 2
1b: 
int: cancel 0 (the user interrupted), cancel 2 (the user interrupted)
2: 
.: 
grace: leave 0 (the user interrupted), emit 0
0!: 
1: emit 1, emit 2, done`},
		{"what a later stop asked to end has time of its own", schedule.Streaming, 10,
			"+c +s 1b . int abort grace grace2",
			`+c: start 0
+s: start 1
1b: 
.: 
int: cancel 0 (the user interrupted)
abort: cancel 1 (the conversation was stopped)
grace: leave 0 (the user interrupted), emit 0
grace2: leave 1 (the conversation was stopped), emit 1, done`},
		{"a stream that was given up does not wait for what does not stop", schedule.Streaming, 10,
			"+s fallback grace 0",
			`+s: start 0
fallback: cancel 0 (the stream was abandoned), discard 0
grace: leave 0 (the stream was abandoned), done
0: `},
		{"at most limit calls at once", schedule.Streaming, 2,
			"+s +s +s 1 0 2 .",
			`+s: start 0
+s: start 1
+s: 
1: start 2
0: emit 0, emit 1
2: emit 2
.: done`},
		{"a safe call never overtakes a waiting exclusive one", schedule.Streaming, 10,
			"+s +x +s 0",
			`+s: start 0
+x: 
+s: 
0: emit 0, start 1`},
		{"an exclusive modifier acts before the next call begins", schedule.Streaming, 10,
			"+x +s 0m",
			`+x: start 0
+s: 
0m: apply 0, emit 0, start 1`},
		{"a safe modifier is dropped while streaming", schedule.Streaming, 10,
			"+s 0m",
			`+s: start 0
0m: drop 0, emit 0`},
		{"safe modifiers act after their batch, in call order", schedule.Batch, 10,
			"+s +s +x . 1m 0m 2",
			`+s: 
+s: 
+x: 
.: start 0, start 1
1m: 
0m: emit 0, emit 1, apply 0, apply 1, start 2
2: emit 2, done`},
		{"a batch is not over because its limit lets nothing run for a moment", schedule.Batch, 1,
			"+s +s +x . 0m 1m 2",
			`+s: 
+s: 
+x: 
.: start 0
0m: emit 0, start 1
1m: emit 1, apply 0, apply 1, start 2
2: emit 2, done`},
		{"a failure stops running and queued siblings, not later ones", schedule.Streaming, 10,
			"+s +s +x 0! +s 1 3 .",
			`+s: start 0
+s: start 1
+x: 
0!: cancel 1 (a sibling call failed), answer 2 (a sibling call failed), emit 0
+s: start 3
1: emit 1, emit 2
3: emit 3
.: done`},
		{"a call that was stopped cannot stop others by failing", schedule.Streaming, 10,
			"+s +s +c 0b 1b int 2 +s 0! 1",
			`+s: start 0
+s: start 1
+c: start 2
0b: 
1b: 
int: cancel 2 (the user interrupted)
2: 
+s: answer 3 (the user interrupted)
0!: cancel 1 (a sibling call failed), emit 0
1: emit 1, emit 2, emit 3`},
		{"what fails because it was stopped stops nobody else", schedule.Streaming, 10,
			"+c +s 1b int 0! 1 .",
			`+c: start 0
+s: start 1
1b: 
int: cancel 0 (the user interrupted)
0!: emit 0
1: emit 1
.: done`},
		{"a call that comes after a stop is answered with what stopped the others first", schedule.Streaming, 10,
			"+x abort +s int +s 0 .",
			`+x: start 0
abort: cancel 0 (the conversation was stopped)
+s: answer 1 (the conversation was stopped)
int: 
+s: answer 2 (the conversation was stopped)
0: emit 0, emit 1, emit 2
.: done`},
		{"a call that comes after its stream was abandoned is discarded like the others", schedule.Streaming, 10,
			"+s fallback +s 0",
			`+s: start 0
fallback: cancel 0 (the stream was abandoned), discard 0
+s: answer 1 (the stream was abandoned), discard 1
0: done`},
		{"a stream is abandoned once", schedule.Streaming, 10,
			"+s fallback fallback 0",
			`+s: start 0
fallback: cancel 0 (the stream was abandoned), discard 0
fallback: 
0: done`},
		{"an abandoned call's modifier does not act", schedule.Streaming, 10,
			"+x fallback 0m",
			`+x: start 0
fallback: cancel 0 (the stream was abandoned), discard 0
0m: done`},
		{"nor does one that waited for the end of its batch", schedule.Batch, 10,
			"+s +s . 0m fallback 1",
			`+s: 
+s: 
.: start 0, start 1
0m: emit 0
fallback: cancel 1 (the stream was abandoned), discard 0, discard 1
1: done`},
		{"a call that was asked to stop does not wait to go on alone", schedule.Streaming, 10,
			"+s +s 1b int 0^ 0 1 .",
			`+s: start 0
+s: start 1
1b: 
int: cancel 0 (the user interrupted)
0^: resume 0
0: emit 0
1: emit 1
.: done`},
		{"the user's message stops what has not begun", schedule.Streaming, 10,
			"+s +s 1b int 0 1 .",
			`+s: start 0
+s: start 1
1b: 
int: cancel 0 (the user interrupted)
0: emit 0
1: emit 1
.: done`},
		{"an abandoned stream lets nothing out", schedule.Streaming, 10,
			"+s +x 0 +s fallback 1",
			`+s: start 0
+x: 
0: emit 0, start 1
+s: 
fallback: cancel 1 (the stream was abandoned), discard 0, discard 1, discard 2
1: done`},
		{"a rewritten call waits until it is alone, and nothing starts meanwhile", schedule.Streaming, 10,
			"+s +s 0^ +s 1 0 2 .",
			`+s: start 0
+s: start 1
0^: 
+s: 
1: resume 0
0: emit 0, emit 1, start 2
2: emit 2
.: done`},
		{"an abort stops blocking calls too", schedule.Streaming, 10,
			"+x +s abort 0 .",
			`+x: start 0
+s: 
abort: cancel 0 (the conversation was stopped), answer 1 (the conversation was stopped)
0: emit 0, emit 1
.: done`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.log, script(t, c.policy, c.limit, c.words))
		})
	}
}

func TestPartitionIsGreedy(t *testing.T) {
	got := schedule.Partition([]bool{true, true, true, false, true, true})
	assert.Equal(t, [][]int{{0, 1, 2}, {3}, {4, 5}}, got)
	assert.Empty(t, schedule.Partition(nil))
	assert.Equal(t, [][]int{{0}, {1}}, schedule.Partition([]bool{false, false}))
}

func TestALimitBelowOneAndAnUnknownPolicyAreErrors(t *testing.T) {
	_, err := schedule.NewCore(schedule.Effects+1, 1)
	require.EqualError(t, err, "schedule: unknown policy(4)")
	_, err = schedule.NewCore(schedule.Batch, 0)
	assert.ErrorContains(t, err, "at least 1")
}

// A core that decided before decides a new message as a new one does.
func TestACoreThatIsResetForgets(t *testing.T) {
	var used schedule.Core
	for _, p := range []schedule.Policy{schedule.Effects, schedule.Batch, schedule.Streaming, schedule.Serial} {
		require.NoError(t, used.Reset(p, 2))
		fresh, err := schedule.NewCore(p, 2)
		require.NoError(t, err)
		for _, ev := range []schedule.Event{
			{Kind: schedule.Added, Safe: true, Touches: &schedule.Footprint{Writes: []string{"a"}}}, {Kind: schedule.Added, Safe: true},
			{Kind: schedule.Finished, Modifies: true}, {Kind: schedule.Abandoned},
		} {
			require.Equal(t, fresh.Step(ev, nil), used.Step(ev, nil), "%s: %d", p, ev.Kind)
		}
	}
	require.Error(t, used.Reset(schedule.Serial, 0))
}
