package schedule_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schedule"
)

// footprint reads "r:a,b w:c s:c" (reads a and b, writes c, shifts c); "*" is a call
// that did not say.
func footprint(text string) *schedule.Footprint {
	if text == "*" {
		return nil
	}
	f := &schedule.Footprint{}
	for _, word := range strings.Fields(text) {
		kind, keys, _ := strings.Cut(word, ":")
		switch kind {
		case "r":
			f.Reads = strings.Split(keys, ",")
		case "w":
			f.Writes = strings.Split(keys, ",")
		case "s":
			f.Shifts = strings.Split(keys, ",")
		}
	}
	return f
}

func TestCallsConflictWhereOneWritesWhatTheOtherTouches(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"r:/a", "r:/a", false},
		{"r:/a", "w:/a", true},
		{"w:/a", "w:/a", true},
		{"w:/a", "w:/b", false},
		{"", "w:/a", false},
		{"*", "", true},
		{"r:/d/**", "w:/d/x", true},
		{"r:/d/**", "w:/d/e/x", true},
		{"r:/d/**", "w:/dx", false},
		{"r:/d/**", "w:/d", false},
		{"r:/d/**", "w:/d/e/**", true},
		{"r:/d/e/**", "w:/d/**", true},
		{"r:/d/**", "w:/d/**", true},
		{"r:/**", "w:/x", true},
		{"r:/d/**", "w:/e/**", false},
		{"r:todos", "w:todos", true},
	} {
		assert.Equal(t, c.want, schedule.Conflict(footprint(c.a), footprint(c.b)), "%s beside %s", c.a, c.b)
		assert.Equal(t, c.want, schedule.Conflict(footprint(c.b), footprint(c.a)), "%s beside %s", c.b, c.a)
	}
}

// ordered drives a core under Effects. "+ r:a" adds a call, "2 = w:b" declares call 2;
// the rest is as in script.
func ordered(t *testing.T, limit int, events ...string) string {
	t.Helper()
	core, err := schedule.NewCore(schedule.Effects, limit)
	require.NoError(t, err)
	var log []string
	for _, text := range events {
		log = append(log, text+" -> "+strings.Join(words(core.Step(orderEvent(t, text), nil)), ", "))
	}
	return strings.Join(log, "\n")
}

func orderEvent(t *testing.T, text string) schedule.Event {
	if touches, added := strings.CutPrefix(text, "+ "); added {
		return schedule.Event{Kind: schedule.Added, Touches: footprint(touches)}
	}
	if i, touches, declared := strings.Cut(text, " = "); declared {
		ev := schedule.Event{Kind: schedule.Declared, Touches: footprint(touches)}
		_, err := fmt.Sscan(i, &ev.Index)
		require.NoError(t, err)
		return ev
	}
	return event(t, text)
}

func TestEffectsReadLikeALog(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  int
		events []string
		log    string
	}{
		{"a write of another file holds nobody up, and results leave in call order", 10,
			[]string{"+ r:/a", "+ w:/b", "+ r:/c", "+ r:/b", "2", "1m", "0", "3", "."},
			`+ r:/a -> start 0
+ w:/b -> start 1
+ r:/c -> start 2
+ r:/b -> 
2 -> 
1m -> start 3
0 -> emit 0, apply 1, emit 1, emit 2
3 -> emit 3
. -> done`},
		{"a call that did not say is alone", 10,
			[]string{"+ r:/a", "+ *", "+ r:/b", "0", "1", "2 = r:/b"},
			`+ r:/a -> start 0
+ * -> 
+ r:/b -> 
0 -> emit 0, start 1
1 -> emit 1, declare 2
2 = r:/b -> start 2`},
		{"what waits for a call that moves names says anew what it touches, and holds back those behind it until then", 10,
			[]string{"+ w:/d,/d/** s:/d,/d/**", "+ w:/f", "+ r:/d/x", "+ w:/e", "1", "0", "2 = r:/f", "3 = w:/f"},
			`+ w:/d,/d/** s:/d,/d/** -> start 0
+ w:/f -> start 1
+ r:/d/x -> 
+ w:/e -> 
1 -> 
0 -> emit 0, emit 1, declare 2
2 = r:/f -> start 2, declare 3
3 = w:/f -> `},
		{"what is said anew may be in the way of the first call too", 10,
			[]string{"+ w:/z s:/a", "+ w:/y s:/b", "+ r:/b", "1", "2 = r:/a", "0", "2 = r:/a"},
			`+ w:/z s:/a -> start 0
+ w:/y s:/b -> start 1
+ r:/b -> 
1 -> declare 2
2 = r:/a -> 
0 -> emit 0, emit 1, declare 2
2 = r:/a -> start 2`},
		{"a call that becomes one that runs alone does not overtake what waited before it", 10,
			[]string{"+ w:/a", "+ r:/a", "+ r:/b", "2^", "0", "1", "2", "."},
			`+ w:/a -> start 0
+ r:/a -> 
+ r:/b -> start 2
2^ -> 
0 -> emit 0, start 1
1 -> emit 1, resume 2
2 -> emit 2
. -> done`},
		{"the first call may become one that runs alone", 10,
			[]string{"+ r:/a", "+ r:/b", "0^", "1", "0"},
			`+ r:/a -> start 0
+ r:/b -> start 1
0^ -> 
1 -> resume 0
0 -> emit 0, emit 1`},
		{"the limit holds, and a free place goes to the first that may start", 2,
			[]string{"+ r:/a", "+ r:/b", "+ w:/a", "+ r:/c", "1"},
			`+ r:/a -> start 0
+ r:/b -> start 1
+ w:/a -> 
+ r:/c -> 
1 -> start 3`},
		{"a failing call stops those that run and wait, whatever they touch", 10,
			[]string{"+ w:/a", "+ r:/b", "+ r:/a", "0!", "+ r:/a", "1", "3", "."},
			`+ w:/a -> start 0
+ r:/b -> start 1
+ r:/a -> 
0! -> cancel 1 (a sibling call failed), answer 2 (a sibling call failed), emit 0
+ r:/a -> start 3
1 -> emit 1, emit 2
3 -> emit 3
. -> done`},
		{"a rewritten call waits for all before it and all that runs, and those behind it say anew", 10,
			[]string{"+ w:/a", "+ r:/b", "+ r:/a", "+ r:/c", "1^", "+ r:/d", "3", "0", "2", "1", "4 = w:/a", "4", "2"},
			`+ w:/a -> start 0
+ r:/b -> start 1
+ r:/a -> 
+ r:/c -> start 3
1^ -> 
+ r:/d -> 
3 -> 
0 -> emit 0, resume 1
2 -> 
1 -> emit 1, declare 2
4 = w:/a -> 
4 -> 
2 -> `},
		{"an interrupt answers what waits", 10,
			[]string{"+ w:/a", "+ w:/a", "0b", "int", "0", "."},
			`+ w:/a -> start 0
+ w:/a -> 
0b -> 
int -> answer 1 (the user interrupted)
0 -> emit 0, emit 1
. -> done`},
		{"an abandoned stream lets nothing out", 10,
			[]string{"+ w:/a", "+ r:/a", "fallback", "0m"},
			`+ w:/a -> start 0
+ r:/a -> 
fallback -> cancel 0 (the stream was abandoned), discard 0, discard 1
0m -> done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.log, ordered(t, c.limit, c.events...))
		})
	}
}

func TestWaitingUnderEffectsNamesWhatIsInTheWay(t *testing.T) {
	core, err := schedule.NewCore(schedule.Effects, 2)
	require.NoError(t, err)
	for _, f := range []string{"r:/a", "w:/b", "w:/a,/b", "r:/c"} {
		core.Step(schedule.Event{Kind: schedule.Added, Touches: footprint(f)}, nil)
	}
	w, ok := core.Waiting(2)
	require.True(t, ok)
	assert.Equal(t, schedule.Wait{Reason: "effects", On: []int{0, 1}}, w)
	w, ok = core.Waiting(3)
	require.True(t, ok)
	assert.Equal(t, schedule.Wait{Reason: "limit", On: []int{0, 1}}, w)
	for _, i := range []int{0, 1, 4, 5} {
		_, ok = core.Waiting(i)
		assert.False(t, ok, "call %d runs, or is none", i)
	}
}

// A call that is asked anew is started at once, also where nothing else follows from what
// happened.
func TestTheDriverStartsWhatIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		touches := []string{"w:/z", "w:/d,/d/** s:/d,/d/**", "w:/d/x"}
		d, err := schedule.NewDriver(t.Context(), schedule.Config[int]{Policy: schedule.Effects, Limit: 10, Hooks: schedule.Hooks[int]{
			Run: func(_ context.Context, i int, _ schedule.Control) int {
				time.Sleep(time.Duration(5-2*i) * time.Second)
				return i
			},
			Verdict: func(int) schedule.Verdict { return schedule.Verdict{} },
			Answer:  func(i int, _ schedule.Cause) int { return i },
			Emit:    func(int, int) {},
			Touches: func(i int) *schedule.Footprint { return footprint(touches[i]) },
		}})
		require.NoError(t, err)
		began := time.Now()
		for range touches {
			d.Add(false, false)
		}
		d.EndStream()
		d.Wait()
		assert.Equal(t, 5*time.Second, time.Since(began), "the last runs from 3 s to 4 s, beside the first")
	})
}

// The driver asks calls what they touch, and asks those again whose names moved.
func TestTheDriverAsksWhatCallsTouch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		touches := []string{"w:/d,/d/** s:/d,/d/**", "w:/d/x", "w:/e", "w:/f"}
		var asked, emitted, started []int
		d, err := schedule.NewDriver(t.Context(), schedule.Config[int]{Policy: schedule.Effects, Limit: 10, Hooks: schedule.Hooks[int]{
			Run: func(_ context.Context, i int, _ schedule.Control) int {
				time.Sleep(time.Duration(4-i) * time.Second)
				return i
			},
			Verdict: func(int) schedule.Verdict { return schedule.Verdict{} },
			Answer:  func(i int, _ schedule.Cause) int { return i },
			Emit:    func(i, _ int) { emitted = append(emitted, i) },
			Started: func(i int) { started = append(started, i) },
			Touches: func(i int) *schedule.Footprint {
				asked = append(asked, i)
				if i == 1 && len(asked) > 4 {
					return footprint("w:/f") // where /d/x leads now
				}
				return footprint(touches[i])
			},
		}})
		require.NoError(t, err)
		began := time.Now()
		for range touches {
			d.Add(false, false)
		}
		d.EndStream()
		d.Wait()
		assert.Equal(t, []int{0, 1, 2, 3, 1, 2, 3}, asked)
		assert.Equal(t, []int{0, 1, 2, 3}, emitted)
		assert.Equal(t, []int{0, 1, 2, 3}, started)
		assert.Equal(t, 8*time.Second, time.Since(began), "4 s, then 3 s beside 2 s, then what the second wrote as well")
	})
}
