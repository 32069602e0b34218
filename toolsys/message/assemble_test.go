package message_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/message"
)

// feed gives an assembler events, and gives back all that completed on the way,
// in order, with the first error.
func feed(a *message.Assembler, events ...string) (done []message.Block, err error) {
	for _, e := range events {
		blocks, err := a.Add([]byte(e))
		done = append(done, blocks...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

const (
	begin = `{"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}`
	end   = `{"type":"message_stop"}`
)

func startCall(i int, input string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"c%d","name":"Read","input":%s}}`, i, i, input)
}

func jsonDelta(i int, part string) string {
	raw, _ := json.Marshal(part)
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, raw)
}

func stop(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

func reason(r string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":9}}`, r)
}

func TestTheLastCountsOfTokensStand(t *testing.T) {
	for last, want := range map[string]message.Usage{
		`{"output_tokens":9}`: {Input: 7, Output: 9},
		`{"input_tokens":40,"output_tokens":9,"cache_read_input_tokens":30,"cache_creation_input_tokens":2}`: {Input: 40, Output: 9, CacheRead: 30, CacheWrite: 2},
		`{}`: {Input: 7, Output: 1},
	} {
		var a message.Assembler
		_, err := feed(&a, begin, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+last+`}`, end)
		require.NoError(t, err)
		reply, err := a.End()
		require.NoError(t, err)
		assert.Equal(t, want, reply.Usage, last)
	}
}

func TestInputOfACall(t *testing.T) {
	cases := []struct {
		name, start    string
		deltas         []string
		input, invalid string
	}{
		{"deltas are joined wherever they were split", `{}`, []string{"", `{"pa`, `th":"a\`, `"b"}`}, `{"path":"a\"b"}`, ""},
		{"no deltas at all mean no arguments", `{}`, nil, `{}`, ""},
		{"empty deltas mean no arguments", `{}`, []string{"", ""}, `{}`, ""},
		{"an input filled at the start counts", `{"path":"a"}`, nil, `{"path":"a"}`, ""},
		{"deltas replace what stood in the start", `{"path":"a"}`, []string{`{"path":"b"}`}, `{"path":"b"}`, ""},
		{"a null input means no arguments", `null`, nil, `{}`, ""},
		{"broken JSON is kept as the model's own words", `{}`, []string{`{"path":`}, `{}`, `{"path":`},
		{"an array is no input", `{}`, []string{`[1]`}, `{}`, `[1]`},
		{"nor is a text at the start", `"a"`, nil, `{}`, `"a"`},
		{"two objects are no input", `{}`, []string{`{}{}`}, `{}`, `{}{}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var a message.Assembler
			events := []string{begin, startCall(0, c.start)}
			for _, d := range c.deltas {
				events = append(events, jsonDelta(0, d))
			}
			done, err := feed(&a, append(events, stop(0), reason("tool_use"), end)...)
			require.NoError(t, err)
			require.Len(t, done, 1)
			assert.Equal(t, c.input, string(done[0].Input))
			assert.Equal(t, c.invalid, done[0].Invalid)
			reply, err := a.End()
			require.NoError(t, err)
			assert.Equal(t, done, reply.Message.Content)
		})
	}
}

// Some servers put the beginning of a block into its start.
func TestWhatStandsInABlocksStartBelongsToIt(t *testing.T) {
	var a message.Assembler
	done, err := feed(&a, begin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"First ","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"second."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`, stop(0),
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"One "}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"two."}}`, stop(1), end)
	require.NoError(t, err)
	require.Len(t, done, 2)
	assert.JSONEq(t, `{"type":"thinking","thinking":"First second.","signature":"abc"}`, string(done[0].Raw))
	assert.Equal(t, "One two.", done[1].Text)
}

func TestCallsInMessageStartAreComplete(t *testing.T) {
	var a message.Assembler
	done, err := feed(&a, `{"type":"message_start","message":{"id":"m","stop_reason":"tool_use","content":[`+
		`{"type":"text","text":"hm"},{"type":"tool_use","id":"a","name":"X"},{"type":"tool_use","id":"b","name":"Y","input":{"k":1}},{"type":"tool_use","id":"c","name":"Z","input":[]}]}}`, end)
	require.NoError(t, err)
	require.Len(t, done, 4)
	assert.Equal(t, `{}`, string(done[1].Input), "an input that is missing means no arguments")
	assert.Equal(t, `{"k":1}`, string(done[2].Input))
	assert.Equal(t, `[]`, done[3].Invalid)
	reply, err := a.End()
	require.NoError(t, err)
	assert.Equal(t, done, reply.Message.Content)
	assert.Equal(t, "tool_use", reply.StopReason)
}

func TestBlocksMayInterleaveAndPingsComeAnywhere(t *testing.T) {
	var a message.Assembler
	ping := `{"type":"ping"}`
	done, err := feed(&a, ping, begin, startCall(1, `{}`), ping, startCall(0, `{}`), jsonDelta(1, `{"n":`), jsonDelta(0, `{"n":0`), ping,
		jsonDelta(1, `1}`), stop(1), jsonDelta(0, `}`), stop(0), `{"type":"of_a_later_version"}`, reason("tool_use"), end)
	require.NoError(t, err)
	assert.Equal(t, []string{"c1", "c0"}, ids(done), "calls are queued as they complete")
	reply, err := a.End()
	require.NoError(t, err)
	assert.Equal(t, []string{"c0", "c1"}, ids(reply.Message.Content), "the message has them by index")
	assert.Equal(t, message.Usage{Input: 7, Output: 9}, reply.Usage)
}

func ids(blocks []message.Block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.ID)
	}
	return out
}

func TestCallCutOffIsNamedAndNotCommitted(t *testing.T) {
	var a message.Assembler
	done, err := feed(&a, begin, startCall(0, `{}`), stop(0), startCall(1, `{}`), jsonDelta(1, `{"a":`), reason("max_tokens"), end)
	require.NoError(t, err)
	assert.Equal(t, []string{"c0"}, ids(done))
	reply, err := a.End()
	require.NoError(t, err)
	assert.Equal(t, []string{"c0"}, ids(reply.Message.Content))
	assert.Equal(t, "max_tokens", reply.StopReason)
	require.Len(t, a.Open(), 1)
	assert.Equal(t, "c1", a.Open()[0].ID)
	assert.Equal(t, `{"a":`, a.Open()[0].Invalid)
}

func TestStreamWithoutItsStopIsIncomplete(t *testing.T) {
	for name, events := range map[string][]string{
		"nothing came":      nil,
		"cut in a block":    {begin, startCall(0, `{}`)},
		"cut after a block": {begin, startCall(0, `{}`), stop(0), reason("tool_use")},
	} {
		t.Run(name, func(t *testing.T) {
			var a message.Assembler
			_, err := feed(&a, events...)
			require.NoError(t, err)
			_, err = a.End()
			assert.ErrorIs(t, err, message.ErrIncomplete)
		})
	}
}

func TestErrorEventEndsTheStreamInItsOwnWords(t *testing.T) {
	var a message.Assembler
	_, err := feed(&a, begin, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	var said *message.StreamError
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "overloaded_error", said.Kind)
	assert.ErrorContains(t, err, "Overloaded")
}

func TestEventsThatMakeNoSenseAreErrors(t *testing.T) {
	for name, events := range map[string][]string{
		"no JSON":                    {begin, `{"type":`},
		"a block before the message": {startCall(0, `{}`)},
		"a second message":           {begin, begin},
		"a block begun twice":        {begin, startCall(0, `{}`), startCall(0, `{}`)},
		"a block begun again":        {begin, startCall(0, `{}`), stop(0), startCall(0, `{}`)},
		"a delta for no block":       {begin, jsonDelta(3, `{}`)},
		"an end of no block":         {begin, stop(3)},
		"an end twice":               {begin, startCall(0, `{}`), stop(0), stop(0)},
		"a block that is no object":  {begin, `{"type":"content_block_start","index":0,"content_block":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			var a message.Assembler
			_, err := feed(&a, events...)
			assert.Error(t, err)
		})
	}
}

func TestWhatIsNotReadIsSentBackUnchanged(t *testing.T) {
	start := func(block string) string {
		return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
	}
	delta := func(d string) string { return `{"type":"content_block_delta","index":0,"delta":` + d + `}` }
	cases := []struct {
		name, block string
		deltas      []string
		want        string
	}{
		{"thinking with its signature", `{"type":"thinking","thinking":"","signature":""}`,
			[]string{delta(`{"type":"thinking_delta","thinking":"a<b "}`), delta(`{"type":"thinking_delta","thinking":"ü"}`), delta(`{"type":"signature_delta","signature":"Eq=="}`)},
			`{"signature":"Eq==","thinking":"a<b ü","type":"thinking"}`},
		{"thinking that names no text at the start", `{"type":"thinking"}`,
			[]string{delta(`{"type":"thinking_delta","thinking":"x"}`)}, `{"thinking":"x","type":"thinking"}`},
		{"thinking that stands whole in the start", `{"type":"thinking","thinking":"x","signature":"s"}`, nil,
			`{"signature":"s","thinking":"x","type":"thinking"}`},
		{"redacted thinking", `{"type":"redacted_thinking","data":"Zm9v"}`, nil, `{"data":"Zm9v","type":"redacted_thinking"}`},
		{"a server's call with its streamed input", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`,
			[]string{delta(`{"type":"input_json_delta","partial_json":"{\"query\":\"go\"}"}`)},
			`{"id":"s","input":{"query":"go"},"name":"web_search","type":"server_tool_use"}`},
		{"a call's caller", `{"type":"tool_use","id":"a","name":"X","input":{},"caller":{"type":"direct"}}`, nil,
			`{"type":"tool_use","id":"a","name":"X","input":{},"caller":{"type":"direct"}}`},
		{"a text's citations", `{"type":"text","text":"","citations":[]}`,
			[]string{delta(`{"type":"text_delta","text":"so"}`), delta(`{"type":"citations_delta","citation":{"url":"u"}}`)},
			`{"type":"text","text":"so","citations":[{"url":"u"}]}`},
		{"a text that thinking was sent to", `{"type":"text","text":""}`,
			[]string{delta(`{"type":"text_delta","text":"so"}`), delta(`{"type":"thinking_delta","thinking":"secret"}`), delta(`{"type":"input_json_delta","partial_json":"{}"}`)},
			`{"type":"text","text":"so"}`},
		{"thinking that text was sent to", `{"type":"thinking","thinking":"","signature":"s"}`,
			[]string{delta(`{"type":"text_delta","text":"so"}`), delta(`{"type":"thinking_delta","thinking":"x"}`)}, `{"signature":"s","thinking":"x","type":"thinking"}`},
		{"a plain text", `{"type":"text","text":""}`, []string{delta(`{"type":"text_delta","text":"1 < 2 & \"q\""}`)},
			`{"type":"text","text":"1 < 2 & \"q\""}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var a message.Assembler
			done, err := feed(&a, append(append([]string{begin, start(c.block)}, c.deltas...), stop(0), end)...)
			require.NoError(t, err)
			require.Len(t, done, 1)
			raw, err := done[0].MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, c.want, string(raw))
		})
	}
}

// A message is what its blocks are, however their events were cut and mixed.
func TestPropertyAnyCutAndAnyMixGiveTheSameBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inputs := rapid.SliceOfN(rapid.MapOfN(rapid.StringN(1, 4, -1), rapid.String(), 0, 3), 1, 4).Draw(t, "inputs")
		queues := make([][]string, len(inputs))
		var want []string
		for i, in := range inputs {
			raw, err := json.Marshal(in)
			require.NoError(t, err)
			want = append(want, string(raw))
			queues[i] = append(append([]string{startCall(i, `{}`)}, pieces(t, i, string(raw))...), stop(i))
		}
		var a message.Assembler
		_, err := feed(&a, append(append([]string{begin}, mix(t, queues)...), reason("tool_use"), end)...)
		require.NoError(t, err)
		reply, err := a.End()
		require.NoError(t, err)
		require.Len(t, reply.Message.Content, len(want))
		for i, b := range reply.Message.Content {
			assert.Equal(t, want[i], string(b.Input))
			assert.Empty(t, b.Invalid)
		}
		assert.Empty(t, a.Open())
	})
}

// pieces cuts s between its characters: the API never cuts one in two.
func pieces(t *rapid.T, index int, s string) []string {
	runes := []rune(s)
	var out []string
	for len(runes) > 0 {
		n := rapid.IntRange(0, len(runes)).Draw(t, "cut")
		out = append(out, jsonDelta(index, string(runes[:n])))
		if n == 0 && len(out) > 8 {
			n = len(runes)
			out = append(out, jsonDelta(index, string(runes)))
		}
		runes = runes[n:]
	}
	return out
}

// mix takes from the heads of the queues in any order.
func mix(t *rapid.T, queues [][]string) []string {
	var out []string
	for {
		var open []int
		for i, q := range queues {
			if len(q) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return out
		}
		i := rapid.SampledFrom(open).Draw(t, "queue")
		out, queues[i] = append(out, queues[i][0]), queues[i][1:]
	}
}

// Whatever comes, the assembler does not panic, gives calls whose input is an
// object, and what it holds can be written.
func FuzzAssembler(f *testing.F) {
	f.Add(strings.Join([]string{begin, startCall(0, `{}`), jsonDelta(0, `{"a":1}`), stop(0), reason("tool_use"), end}, "\n"))
	f.Add(begin + "\n" + `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":1}}` + "\n" + stop(0))
	f.Add(`{"type":"message_start"}` + "\n" + startCall(0, `[]`) + "\n" + stop(0) + "\n" + end)
	f.Fuzz(func(t *testing.T, lines string) {
		var a message.Assembler
		for line := range strings.SplitSeq(lines, "\n") {
			done, err := a.Add([]byte(line))
			for _, b := range done {
				if b.Type == message.TypeToolUse {
					var object map[string]any
					require.NoError(t, json.Unmarshal(b.Input, &object))
				}
			}
			if err != nil {
				break
			}
		}
		reply, err := a.End()
		if err != nil && !errors.Is(err, message.ErrIncomplete) {
			t.Fatal(err)
		}
		_, err = reply.Message.MarshalJSON()
		require.NoError(t, err)
	})
}

// Pings, unknown events and deltas of nothing show that a line is open, not that a
// model is at work.
func TestOnlyProgressMovesAReply(t *testing.T) {
	var a message.Assembler
	for _, c := range []struct {
		event string
		moved bool
	}{
		{`{"type":"ping"}`, false},
		{`{"type":"message_start","message":{"id":"m","content":[]}}`, true},
		{`{"type":"ping"}`, false},
		{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, true},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`, true},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`, false},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, true},
		{`{"type":"heartbeat"}`, false},
		{`{"type":"content_block_stop","index":0}`, true},
		{`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, true},
		{`{"type":"message_stop"}`, true},
	} {
		_, err := a.Add([]byte(c.event))
		require.NoError(t, err)
		assert.Equal(t, c.moved, a.Moved(), c.event)
	}
}
