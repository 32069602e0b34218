package trace_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/trace"
)

func TestCanonicalLines(t *testing.T) {
	cases := []struct {
		promise string
		event   trace.Event
		line    string
	}{
		{"time in microseconds, kind and turn", trace.Event{At: 1500 * time.Microsecond, Kind: trace.TurnStart, Turn: 2}, `1500 turn.start turn=2`},
		{"calls carry their tool", trace.Event{Kind: trace.Started, Turn: 1, Call: "toolu_1", Tool: "Read"}, `0 call.start turn=1 call=toolu_1 tool=Read`},
		{"sub-agents carry their name", trace.Event{Kind: trace.TurnEnd, Agent: "agent_1.2"}, `0 turn.end agent=agent_1.2 turn=0`},
		{"texts are quoted, numbers are not", trace.Event{Kind: trace.Stage, Attrs: []trace.Attr{trace.S("why", "a\n\"b\""), trace.N("chars", -3), trace.D("took", time.Second), trace.B("safe", true)}},
			`0 call.stage turn=0 why="a\n\"b\"" chars=-3 took_us=1000000 safe="true"`},
		{"a name the model made up stays on its line", trace.Event{Kind: trace.Ready, Call: "a b", Tool: "X\n9 run.end turn=0"},
			`0 call.ready turn=0 call="a b" tool="X\n9 run.end turn=0"`},
	}
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) { assert.Equal(t, c.line, string(c.event.AppendLine(nil))) })
	}
}

func TestAttributesAreFoundByName(t *testing.T) {
	e := trace.Event{Attrs: []trace.Attr{trace.S("a", "x"), trace.N("n", 7)}}
	assert.Equal(t, "x", e.Get("a"))
	assert.Equal(t, "7", e.Get("n"))
	assert.Equal(t, int64(7), e.Int("n"))
	assert.Empty(t, e.Get("none"))
	assert.Zero(t, e.Int("a"), "a text is no number")
}

func TestDigestTellsRunsApart(t *testing.T) {
	run := func(kinds ...trace.Kind) string {
		var log trace.Log
		for _, k := range kinds {
			log.Add(trace.Event{Kind: k})
		}
		return log.Digest()
	}
	assert.Equal(t, run(trace.Started, trace.Ended), run(trace.Started, trace.Ended))
	assert.NotEqual(t, run(trace.Started, trace.Ended), run(trace.Ended, trace.Started))
	assert.NotEqual(t, run(), run(trace.Started))
	assert.Len(t, run(), 64)
}

func TestLogIsWrittenOneEventALine(t *testing.T) {
	var log trace.Log
	log.Add(trace.Event{Kind: trace.Notice, Attrs: []trace.Attr{trace.S("text", "two\nlines")}})
	log.Add(trace.Event{Kind: trace.RunEnd})
	var out bytes.Buffer
	n, err := log.WriteTo(&out)
	require.NoError(t, err)
	assert.Equal(t, int64(out.Len()), n)
	assert.Equal(t, 2, strings.Count(out.String(), "\n"))

	_, err = log.WriteTo(full{})
	assert.ErrorIs(t, err, errFull)
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestLogIsSafeForConcurrentUseAndItsEventsAreCopies(t *testing.T) {
	var log trace.Log
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				log.Add(trace.Event{Kind: trace.Progress})
				log.Events()
			}
		})
	}
	wg.Wait()
	events := log.Events()
	require.Len(t, events, 800)
	events[0].Kind = trace.RunEnd
	assert.Equal(t, trace.Progress, log.Events()[0].Kind)
}

// Whatever names and texts hold, an event is one line.
func TestPropertyAnEventIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		e := trace.Event{
			Kind: trace.Ended, Agent: text.Draw(t, "agent"), Call: text.Draw(t, "call"), Tool: text.Draw(t, "tool"),
			Attrs: []trace.Attr{trace.S("text", text.Draw(t, "text"))},
		}
		assert.NotContains(t, string(e.AppendLine(nil)), "\n")
	})
}

func BenchmarkAppendLine(b *testing.B) {
	e := trace.Event{Kind: trace.Stage, Turn: 1, Call: "toolu_1", Tool: "Read", Attrs: []trace.Attr{trace.S("stage", "run"), trace.D("took", time.Second)}}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendLine(buf[:0])
	}
}
