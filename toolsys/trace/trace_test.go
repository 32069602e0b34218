package trace_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/trace"
)

func TestCanonicalLines(t *testing.T) {
	cases := []struct {
		name  string
		event trace.Event
		line  string
	}{
		{"time in microseconds, kind and turn", trace.Event{At: 1500 * time.Microsecond, Turn: 2, Data: trace.TurnStart{}}, `1500 turn.start turn=2`},
		{"calls carry their tool", trace.Event{Turn: 1, Call: "toolu_1", Tool: "Read", Data: trace.Applied{}}, `0 state.applied turn=1 call=toolu_1 tool=Read`},
		{"sub-agents carry their name", trace.Event{Agent: "agent_1.2", Data: trace.TurnEnd{Results: 2}}, `0 turn.end agent=agent_1.2 turn=0 results=2 denied=0`},
		{"names of signs that could be misread are quoted", trace.Event{Call: "~a!", Tool: "two words", Agent: "\x7f", Data: trace.Applied{}},
			`0 state.applied agent="\x7f" turn=0 call=~a! tool="two words"`},
		{"texts are quoted, numbers are not", trace.Event{Data: &trace.Stage{Stage: "a\n\"b\"", Result: "ok", Took: time.Second}},
			`0 call.stage turn=0 stage="a\n\"b\"" result="ok" took_us=1000000`},
		{"truth values are texts", trace.Event{Data: trace.Ready{Safe: true, Input: "{}"}}, `0 call.ready turn=0 safe="true" input="{}"`},
		{"lists and objects are JSON", trace.Event{Data: trace.Queued{Reason: "limit", On: []string{"a"}}}, `0 call.queued turn=0 reason="limit" on="[\"a\"]"`},
		{"a footprint is JSON", trace.Event{Data: trace.Started{Touches: trace.Touches{Reads: []string{"/a"}}}}, `0 call.start turn=0 touches="{\"reads\":[\"/a\"],\"writes\":null}"`},
		{"or everything", trace.Event{Data: trace.Started{Touches: trace.Touches{Everything: true}}}, `0 call.start turn=0 touches="everything"`},
		{"empty members that may be left out are", trace.Event{Data: trace.RunEnd{Stop: "end_turn"}}, `0 run.end turn=0 stop="end_turn"`},
		{"members of a part stand among the others", trace.Event{Data: trace.TaskEnded{Task: trace.Task{ID: "task_1", Exit: -3}}}, `0 task.end turn=0 task="task_1" title="" status="" exit=-3`},
		{"a name the model made up stays on its line", trace.Event{Call: "a b", Tool: "X\n9 run.end turn=0", Data: trace.Escalate{}},
			`0 call.escalate turn=0 call="a b" tool="X\n9 run.end turn=0"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.line, string(c.event.AppendLine(nil))) })
	}
}

func TestMembersAreFoundByName(t *testing.T) {
	e := trace.Event{Data: &trace.Stage{Stage: "run", Took: 7 * time.Microsecond}}
	assert.Equal(t, "run", e.Get("stage"))
	assert.Equal(t, "7", e.Get("took_us"))
	assert.Empty(t, e.Get("none"))
	assert.Equal(t, "true", trace.Event{Data: trace.Ready{Safe: true}}.Get("safe"))
	assert.Empty(t, trace.Event{}.Get("stage"))
	assert.Equal(t, "run", trace.As[*trace.Stage](e).Stage)
	assert.Zero(t, trace.As[trace.Ended](e))
}

// What expect.trace may name, and the schema of it, is read off this table.
func TestEveryKindIsListedWithItsMembers(t *testing.T) {
	seen := map[trace.Kind]int{}
	for _, k := range trace.Kinds() {
		seen[k.Kind]++
		assert.NotEmpty(t, k.About, k.Kind)
		for _, m := range k.Members {
			assert.Contains(t, []string{"text", "number", "microseconds", "bool", "list", "object"}, m.Type, "%s: %s", k.Kind, m.Name)
		}
	}
	assert.Equal(t, []string{"text", "microseconds"}, []string{typeOf(trace.KindStage, "stage"), typeOf(trace.KindStage, "took_us")})
	assert.Equal(t, []string{"list", "text", "bool"}, []string{typeOf(trace.KindQueued, "on"), typeOf(trace.KindQueued, "reason"), typeOf(trace.KindReady, "safe")})
	assert.Equal(t, "number", typeOf(trace.KindTurnEnd, "results"))
	assert.Len(t, seen, 40)
	assert.Len(t, trace.Names(), 40)
	for kind, n := range seen {
		want := 1
		if kind == trace.KindAsk || kind == trace.KindFile {
			want = 2
		}
		assert.Equal(t, want, n, kind)
	}
}

func typeOf(kind trace.Kind, member string) string {
	for _, k := range trace.Kinds() {
		for _, m := range k.Members {
			if k.Kind == kind && m.Name == member {
				return m.Type
			}
		}
	}
	return ""
}

func TestEventsStayInOrderHoweverMany(t *testing.T) {
	var log trace.Log
	room := testing.AllocsPerRun(1, func() {
		log = trace.Log{}
		for turn := range 5000 {
			log.Add(trace.Event{Turn: turn})
		}
	})
	for turn, e := range log.Events() {
		require.Equal(t, turn, e.Turn)
	}
	assert.Len(t, log.Events(), 5000)
	assert.Less(t, room, 60.0, "room is made for many events at a time")
}

func TestDigestTellsRunsApart(t *testing.T) {
	run := func(all ...trace.Data) string {
		var log trace.Log
		for _, d := range all {
			log.Add(trace.Event{Data: d})
		}
		return log.Digest()
	}
	assert.Equal(t, run(trace.Applied{}, trace.Escalate{}), run(trace.Applied{}, trace.Escalate{}))
	assert.NotEqual(t, run(trace.Applied{}, trace.Escalate{}), run(trace.Escalate{}, trace.Applied{}))
	assert.NotEqual(t, run(), run(trace.Applied{}))
	assert.Len(t, run(), 64)
}

func TestLogIsWrittenOneEventALine(t *testing.T) {
	var log trace.Log
	log.Add(trace.Event{Data: trace.Notice{Text: "two\nlines"}})
	log.Add(trace.Event{Data: trace.RunEnd{}})
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
				log.Add(trace.Event{Data: trace.Progress{}})
				log.Events()
			}
		})
	}
	wg.Wait()
	events := log.Events()
	require.Len(t, events, 800)
	events[0].Data = trace.RunEnd{}
	assert.Equal(t, trace.KindProgress, log.Events()[0].Kind())
}

// Whatever names and texts hold, an event is one line.
func TestPropertyAnEventIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		e := trace.Event{
			Agent: text.Draw(t, "agent"), Call: text.Draw(t, "call"), Tool: text.Draw(t, "tool"),
			Data: trace.Notice{Text: text.Draw(t, "text")},
		}
		assert.NotContains(t, string(e.AppendLine(nil)), "\n")
	})
}

// Texts of a line are quoted as strconv quotes them, byte for byte.
func TestPropertyTextsAreQuotedAsByStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		require.Equal(t, "0 notice turn=0 text="+strconv.Quote(text), string(trace.Event{Data: trace.Notice{Text: text}}.AppendLine(nil)))
	})
}

func BenchmarkAppendLine(b *testing.B) {
	e := trace.Event{Turn: 1, Call: "toolu_1", Tool: "Read", Data: &trace.Stage{Stage: "run", Took: time.Second}}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendLine(buf[:0])
	}
}
