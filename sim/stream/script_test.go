package stream_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"toolbench/sim/stream"
)

const ms = time.Millisecond

func types(events []stream.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

// joined is what the deltas of a block spell.
func joined(events []stream.Event, index int, key string) string {
	var b strings.Builder
	for _, e := range events {
		if gjson.GetBytes(e.Data, "index").Int() == int64(index) {
			b.WriteString(gjson.GetBytes(e.Data, "delta."+key).String())
		}
	}
	return b.String()
}

func TestScriptWritesACompleteMessage(t *testing.T) {
	events := stream.Script(stream.Turn{
		ID: "msg_1", Model: "m", FirstByte: 400 * ms, End: 2 * time.Second,
		Blocks: []stream.Block{
			{Kind: stream.Text, Text: "hi"},
			{Kind: stream.ToolUse, Name: "Read", Input: json.RawMessage(`{ "path": "/a" }`), At: 1500 * ms},
		},
	})
	assert.Equal(t, `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`,
		string(events[0].Data))
	got := slices.Compact(types(events))
	assert.Equal(t, []string{"message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}, got)
	assert.Equal(t, `{"path":"/a"}`, joined(events, 1, "partial_json"))
	last := events[len(events)-2:]
	assert.Equal(t, `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}}`, string(last[0].Data))
	assert.Equal(t, 400*ms, events[0].At)
	assert.Equal(t, 2*time.Second, last[1].At)
	assert.Equal(t, 1500*ms, events[len(events)-3].At, "the call is complete when it says so")
}

func TestBlocksWithoutATimeShareTheSpan(t *testing.T) {
	events := stream.Script(stream.Turn{FirstByte: ms, End: 9 * ms, Blocks: []stream.Block{
		{Kind: stream.ToolUse, Name: "A"}, {Kind: stream.ToolUse, Name: "B", At: 5 * ms},
		{Kind: stream.ToolUse, Name: "C"}, {Kind: stream.ToolUse, Name: "D"},
	}})
	var stops []time.Duration
	for _, e := range events {
		if e.Type == "content_block_stop" {
			stops = append(stops, e.At)
		}
	}
	assert.Equal(t, []time.Duration{3 * ms, 5 * ms, 7 * ms, 9 * ms}, stops)
}

// The pieces of a block come at even distances, the last one when the block is complete.
func TestPiecesShareTheTimeOfTheirBlock(t *testing.T) {
	const from, end = 3 * ms, 13*ms + 7*time.Microsecond
	events := stream.Script(stream.Turn{FirstByte: from, End: end, Blocks: []stream.Block{{Kind: stream.Text, Text: strings.Repeat("some words ", 20)}}})
	var at []time.Duration
	for _, e := range events {
		if e.Type == "content_block_delta" {
			at = append(at, e.At)
		}
	}
	require.Greater(t, len(at), 5)
	for k := range at {
		even := from + time.Duration(float64(end-from)*float64(k+1)/float64(len(at)))
		assert.InDelta(t, even, at[k], float64(stream.Tick), "piece %d of %d", k+1, len(at))
	}
	assert.Equal(t, end, at[len(at)-1])
}

func TestOnlyACallStopsForTools(t *testing.T) {
	for reason, kind := range map[string]stream.Kind{"end_turn": stream.Text, "tool_use": stream.ToolUse} {
		events := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: kind, Name: "A", Text: "x"}}})
		assert.Equal(t, reason, gjson.GetBytes(events[len(events)-2].Data, "delta.stop_reason").String())
	}
}

func TestACallWithoutArgumentsHasOneEmptyDelta(t *testing.T) {
	for _, input := range []string{"", "{}", "{ }"} {
		events := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(input)}}})
		assert.Equal(t, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`, string(events[3].Data))
		assert.Equal(t, "content_block_stop", events[4].Type)
	}
}

func TestDeltasAreSplitAtOddPlaces(t *testing.T) {
	input := `{"text":"a\nb\\\"c\u00e9d 東京","n":-123.456e7}`
	var seen []string
	for seed := range uint64(50) {
		events := stream.Script(stream.Turn{Seed: seed, Blocks: []stream.Block{{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(input)}}})
		require.Equal(t, input, joined(events, 0, "partial_json"))
		for _, e := range events {
			seen = append(seen, gjson.GetBytes(e.Data, "delta.partial_json").String())
		}
	}
	all := strings.Join(seen, "\x00")
	assert.Regexp(t, regexp.MustCompile(`[^\\]\\\x00n`), all, "behind a backslash")
	assert.Regexp(t, regexp.MustCompile(`-\x001|1\x002|2\x003|4\x005|5\x006`), all, "inside a number")
	assert.Regexp(t, regexp.MustCompile(`te\x00xt|tex\x00t|t\x00ext`), all, "inside a string")
	assert.NotContains(t, all, "\uFFFD", "never inside a rune")
}

// Where a parser is hurt most is where pieces end most often: half of the backslashes, three tenths
// of the digits and of what numbers are spelled with, a tenth of all else.
func TestPiecesEndMoreOftenWhereItHurts(t *testing.T) {
	for what, at := range map[string]struct {
		input  string
		behind int // so many bytes
		least  int // of a hundred seeds
		most   int
	}{
		"a backslash":               {`{"a":"\nx"}`, 7, 35, 65},
		"what a backslash escapes":  {`{"a":"\\x"}`, 8, 2, 22},
		"a sign":                    {`{"a":-123}`, 6, 17, 45},
		"a nought":                  {`{"a":101}`, 7, 17, 45},
		"a nine":                    {`{"a":191}`, 7, 17, 45},
		"a point":                   {`{"a":1.1}`, 7, 17, 45},
		"a digit of a text":         {`{"a":"12"}`, 7, 2, 22},
		"a digit behind an escape":  {`{"a":"\"1"}`, 9, 2, 22},
		"a colon outside of a text": {`{"a":"x"}`, 5, 1, 20},
	} {
		ends := 0
		for seed := range uint64(100) {
			sofar := 0
			for _, e := range stream.Script(stream.Turn{Seed: seed, Blocks: []stream.Block{{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(at.input)}}}) {
				piece := gjson.GetBytes(e.Data, "delta.partial_json").String()
				if sofar += len(piece); piece != "" && sofar == at.behind {
					ends++
				}
			}
		}
		assert.True(t, at.least <= ends && ends <= at.most, "behind %s: %d of 100", what, ends)
	}
}

func TestABlockThatIsCutNeverEnds(t *testing.T) {
	events := stream.Script(stream.Turn{Blocks: []stream.Block{
		{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(`{"a":"é"}`), CutAt: 7, At: 5 * ms},
		{Kind: stream.Text, Text: "never sent"},
	}})
	assert.Equal(t, `{"a":"`, joined(events, 0, "partial_json"), "a rune is not broken")
	for cut, want := range map[int]string{6: `{"a":"`, 8: `{"a":"é`, 9: `{"a":"é"`, 10: `{"a":"é"}`, 99: `{"a":"é"}`} {
		some := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(`{"a":"é"}`), CutAt: cut}}})
		assert.Equal(t, want, joined(some, 0, "partial_json"), "cut at %d", cut)
	}
	assert.NotContains(t, types(events), "content_block_stop")
	end := events[len(events)-2]
	assert.Equal(t, "max_tokens", gjson.GetBytes(end.Data, "delta.stop_reason").String())
	assert.Equal(t, 5*ms, end.At)
}

func TestABlockCutBeforeItsFirstByteStillTakesItsTime(t *testing.T) {
	events := stream.Script(stream.Turn{Blocks: []stream.Block{{Kind: stream.Text, Text: "x", CutAt: -1, At: 5 * ms}}})
	assert.Equal(t, []string{"message_start", "ping", "content_block_start", "message_delta", "message_stop"}, types(events))
	assert.Equal(t, 5*ms, events[3].At)
}

func TestAStreamCanBeCutOrFail(t *testing.T) {
	turn := stream.Turn{End: 9 * ms, Blocks: []stream.Block{{Kind: stream.Text, Text: "hello"}}}
	whole := stream.Script(turn)

	turn.CutAfter = 3
	assert.Equal(t, whole[:3], stream.Script(turn))

	turn.CutAfter = len(whole)
	assert.Equal(t, whole, stream.Script(turn), "a cut behind the end is none")
	turn.CutAfter = 3

	turn.Error = &stream.Error{Type: "overloaded_error", Message: "Overloaded"}
	cut := stream.Script(turn)
	assert.Equal(t, whole[:3], cut[:3])
	require.Len(t, cut, 4)
	assert.Equal(t, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, string(cut[3].Data))

	turn.CutAfter = 0
	failed := stream.Script(turn)
	assert.Equal(t, whole[:len(whole)-2], failed[:len(failed)-1], "the error stands in place of the end")
	assert.Equal(t, 9*ms, failed[len(failed)-1].At)
}

// An error comes at its time, but neither before what came before it nor before the end in whose place
// it stands; without a time it comes with what came last.
func TestAnErrorComesAtItsTime(t *testing.T) {
	blocks := []stream.Block{{Kind: stream.Text, Text: "hello"}}
	for at, want := range map[time.Duration]time.Duration{0: 9 * ms, 3 * ms: 9 * ms, 20 * ms: 20 * ms} {
		for _, some := range [][]stream.Block{nil, blocks} {
			events := stream.Script(stream.Turn{End: 9 * ms, Blocks: some, Error: &stream.Error{Type: "api_error", At: at}})
			assert.Equal(t, want, events[len(events)-1].At)
		}
	}
	for at, want := range map[time.Duration]time.Duration{0: ms, 500 * time.Microsecond: ms, 3 * ms: 3 * ms} {
		events := stream.Script(stream.Turn{FirstByte: ms, End: 9 * ms, Blocks: blocks, CutAfter: 3, Error: &stream.Error{Type: "api_error", At: at}})
		assert.Equal(t, want, events[3].At)
	}
}

// Times are as fine as a recording keeps them.
func TestARawEventsTimeIsWhatARecordingKeeps(t *testing.T) {
	assert.Equal(t, stream.Event{At: time.Microsecond, Type: "ping", Data: []byte(`{"type":"ping"}`)}, stream.Raw(1999, `{"type":"ping"}`))
}

func TestOtherBlocksKeepTheirShape(t *testing.T) {
	events := stream.Script(stream.Turn{Blocks: []stream.Block{
		{Kind: stream.Thinking, Text: "hm", Signature: "sig"},
		{Kind: stream.Redacted, Text: "xyz"},
		{Kind: stream.MCPToolUse, ID: "m1", Name: "f", Server: "s", Input: json.RawMessage(`[1]`)},
		{Kind: "web_search_tool_result", ID: "s1", Content: json.RawMessage(`[ {"url":"u"} ]`)},
		{Kind: "web_fetch_tool_result", ID: "s2", Content: json.RawMessage(`no JSON`)},
	}, Stop: "pause_turn"})
	body := string(stream.Bytes(events))
	for _, want := range []string{
		`"content_block":{"type":"thinking","thinking":"","signature":""}`, `"delta":{"type":"signature_delta","signature":"sig"}`,
		`"content_block":{"type":"redacted_thinking","data":"xyz"}`,
		`"content_block":{"type":"mcp_tool_use","id":"m1","name":"f","server_name":"s","input":{}}`,
		`"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"url":"u"}]}`,
		`"content_block":{"type":"web_fetch_tool_result","tool_use_id":"s2","content":"no JSON"}`, `"stop_reason":"pause_turn"`,
	} {
		assert.Contains(t, body, want)
	}
}

func TestPingsComeAnywhereButFirstAndLast(t *testing.T) {
	turn := stream.Turn{FirstByte: ms, End: 9 * ms, Pings: []time.Duration{0, 4 * ms, time.Hour},
		Blocks: []stream.Block{{Kind: stream.ToolUse, Name: "A", Input: json.RawMessage(`{"a":"bcdefghijklmnopqrstuvwxyz"}`)}}}
	events := stream.Script(turn)
	got := types(events)
	assert.Equal(t, "message_start", got[0])
	assert.Equal(t, "message_stop", got[len(got)-1])
	assert.Equal(t, 4, strings.Count(strings.Join(got, " "), "ping"))
	assert.True(t, slices.IsSortedFunc(events, byTime))
	at := slices.IndexFunc(events, func(e stream.Event) bool { return e.Type == "ping" && e.At == 4*ms })
	require.Positive(t, at)
	assert.LessOrEqual(t, events[at-1].At, 4*ms)
	assert.Greater(t, events[at+1].At, 4*ms, "a ping stands behind what has come by then")

	turn.Pings = []time.Duration{events[at-1].At}
	assert.Equal(t, "ping", stream.Script(turn)[at-1].Type, "also behind what comes in the same instant")
}

func byTime(a, b stream.Event) int { return cmp.Compare(a.At, b.At) }

// anyTurn draws turns of every kind of block.
func anyTurn(t *rapid.T) stream.Turn {
	when := rapid.Map(rapid.IntRange(0, 5000), func(n int) time.Duration { return time.Duration(n) * ms })
	block := rapid.Custom(func(t *rapid.T) stream.Block {
		kind := rapid.SampledFrom([]stream.Kind{stream.Text, stream.Thinking, stream.ToolUse}).Draw(t, "kind")
		in, _ := json.Marshal(rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "input"))
		return stream.Block{Kind: kind, Name: "T", Text: rapid.String().Draw(t, "text"), Input: in, At: when.Draw(t, "at")}
	})
	return stream.Turn{Seed: rapid.Uint64().Draw(t, "seed"), FirstByte: when.Draw(t, "first"), End: when.Draw(t, "end"),
		Blocks: rapid.SliceOfN(block, 0, 6).Draw(t, "blocks"), Pings: rapid.SliceOfN(when, 0, 3).Draw(t, "pings")}
}

func TestScriptsAreMonotoneAndRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := anyTurn(t)
		events := stream.Script(turn)
		assert.Equal(t, events, stream.Script(turn))
		assert.True(t, slices.IsSortedFunc(events, byTime), "times run backwards")
		for i, b := range turn.Blocks {
			if b.Kind == stream.ToolUse && string(b.Input) != "{}" {
				assert.Equal(t, string(b.Input), joined(events, i, "partial_json"))
			}
			if b.Kind == stream.Text {
				assert.Equal(t, b.Text, joined(events, i, "text"))
			}
		}
		back, err := stream.Decode(stream.Bytes(events))
		require.NoError(t, err)
		assert.Equal(t, lines(events), lines(back))
	})
}
