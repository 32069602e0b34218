package dialect_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// givenTurn has text, reasoning, two calls beside each other, and one without input.
func givenTurn() []stream.Event {
	return stream.Script(stream.Turn{
		ID: "1", Model: "m", Stop: "tool_use",
		Blocks: []stream.Block{
			{Kind: stream.Thinking, Text: "First I look."},
			{Kind: stream.Text, Text: "I look at both files, \"a\" and ü."},
			{Kind: stream.ToolUse, ID: "one", Name: "read_file", Input: json.RawMessage(`{"path":"/a","lines":[1,2]}`)},
			{Kind: stream.ToolUse, ID: "two", Name: "read_file", Input: json.RawMessage(`{"path":"/b"}`)},
			{Kind: stream.ToolUse, ID: "three", Name: "list", Input: json.RawMessage(`{}`)},
		},
	})
}

// meant is what an answer means: its text, its reasoning, and each call.
func meant(t *testing.T, content gjson.Result, ids bool) (out []string) {
	t.Helper()
	for _, b := range content.Array() {
		switch kind := b.Get("type").Str; kind {
		case "text", "thinking":
			out = append(out, kind+" "+b.Get(kind).Str)
		case "tool_use":
			id := ""
			if ids {
				id = b.Get("id").Str
			}
			out = append(out, "call "+id+" "+b.Get("name").Str+" "+b.Get("input").Raw)
		}
	}
	return out
}

// assembled is the content of a stream of Messages events.
func assembled(t *testing.T, events []stream.Event) gjson.Result {
	t.Helper()
	g := []map[string]any{}
	for _, e := range events {
		v := gjson.ParseBytes(e.Data)
		switch e.Type {
		case "content_block_start":
			b := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(v.Get("content_block").Raw), &b))
			b["args"] = ""
			g = append(g, b)
		case "content_block_delta":
			b := g[v.Get("index").Int()]
			for _, member := range []string{"text", "thinking"} {
				if d := v.Get("delta." + member); d.Exists() {
					b[member] = b[member].(string) + d.Str
				}
			}
			b["args"] = b["args"].(string) + v.Get("delta.partial_json").Str
		case "content_block_stop":
			if b := g[v.Get("index").Int()]; b["args"] != "" {
				b["input"] = json.RawMessage(b["args"].(string))
			}
		}
	}
	return gjson.ParseBytes(dialect.JSON(g))
}

// What is given in another API, streamed or whole, reads back as what it was.
func TestWhatIsGivenReadsBackAsItWas(t *testing.T) {
	want := assembled(t, givenTurn())
	for _, api := range []dialect.API{dialect.Chat, dialect.Responses, dialect.Gemini, dialect.Converse, dialect.Ollama} {
		t.Run(string(api), func(t *testing.T) {
			g := dialect.Encoder{API: api, Usage: true}
			var back []stream.Event
			s := dialect.Stream{Emit: func(e stream.Event) error { back = append(back, e); return nil }}
			for _, e := range givenTurn() {
				for _, out := range g.Add(e) {
					if string(out.Data) == "[DONE]" {
						require.NoError(t, s.Done())
						continue
					}
					require.True(t, json.Valid(out.Data), "%s", out.Data)
					require.NoError(t, s.Add(out))
				}
			}
			require.NoError(t, s.End())
			ids := !api.Names()
			assert.Equal(t, meant(t, want, ids), meant(t, assembled(t, back), ids))
			assert.Equal(t, "message_stop", back[len(back)-1].Type)
			got, m, ok := dialect.Reply(gjson.ParseBytes(g.Document()), dialect.Origin{})
			require.True(t, ok)
			assert.Equal(t, api, got)
			assert.Equal(t, meant(t, want, ids), meant(t, m.Get("content"), ids))
			assert.Equal(t, "tool_use", m.Get("stop_reason").Str)
		})
	}
}

// roundTrip gives events in another API, and reads what a client gets: as a stream, and whole.
func roundTrip(t *testing.T, api dialect.API, events []stream.Event) (given []string, back []stream.Event, whole gjson.Result) {
	t.Helper()
	g := dialect.Encoder{API: api, Usage: true}
	s := dialect.Stream{Emit: func(e stream.Event) error { back = append(back, e); return nil }}
	for _, e := range events {
		for _, out := range g.Add(e) {
			given = append(given, string(out.Data))
			if string(out.Data) != "[DONE]" {
				require.NoError(t, s.Add(out))
			}
		}
	}
	require.NoError(t, s.End())
	_, whole, ok := dialect.Reply(gjson.ParseBytes(g.Document()), dialect.Origin{})
	require.True(t, ok)
	return given, back, whole
}

// Why a message ended, and what it cost, is the same to a client whichever API it asks, as far as
// that API has a word for it.
func TestStopsAndUsageReadBackAsTheyWere(t *testing.T) {
	apis := []dialect.API{dialect.Chat, dialect.Responses, dialect.Gemini, dialect.Converse, dialect.Ollama}
	for stop, without := range map[string][]dialect.API{
		"end_turn": nil, "max_tokens": nil, "refusal": {dialect.Ollama},
		"stop_sequence":                 {dialect.Chat, dialect.Responses, dialect.Gemini, dialect.Ollama},
		"model_context_window_exceeded": {dialect.Chat, dialect.Responses, dialect.Gemini, dialect.Ollama},
	} {
		events := stream.Script(stream.Turn{ID: "1", Model: "m", Stop: stop, Blocks: []stream.Block{{Kind: stream.Text, Text: "So."}}})
		for i, e := range events {
			if e.Type == "message_delta" {
				events[i].Data = []byte(`{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"input_tokens":3,"cache_read_input_tokens":6,"output_tokens":4}}`)
			}
		}
		for _, api := range apis {
			want := stop
			switch {
			case stop == "model_context_window_exceeded" && slices.Contains(without, api):
				want = "max_tokens"
			case slices.Contains(without, api):
				want = "end_turn"
			}
			_, back, whole := roundTrip(t, api, events)
			end := gjson.ParseBytes(back[len(back)-2].Data)
			assert.Equal(t, []string{want, want}, []string{end.Get("delta.stop_reason").Str, whole.Get("stop_reason").Str}, "%s as %s", stop, api)
			for _, u := range []gjson.Result{end.Get("usage"), whole.Get("usage")} {
				assert.Equal(t, []int64{9, 4}, []int64{u.Get("input_tokens").Int() + u.Get("cache_read_input_tokens").Int(), u.Get("output_tokens").Int()}, "%s as %s", stop, api)
			}
		}
	}
}

// A signature belongs to thinking, or to a call where the API has such; it is never given as what
// it is not.
func TestSignaturesAreGivenWhereTheyBelong(t *testing.T) {
	event := func(kind, rest string) stream.Event {
		return stream.Event{Type: kind, Data: []byte(`{"type":"` + kind + `",` + rest + `}`)}
	}
	events := []stream.Event{
		event("message_start", `"message":{"id":"1","model":"m"}`),
		event("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"I see.","signature":"sealed"}`), event("content_block_stop", `"index":0`),
		event("content_block_start", `"index":1,"content_block":{"type":"tool_use","id":"A","name":"view","input":{},"thought_signature":"call"}`), event("content_block_stop", `"index":1`),
		event("message_delta", `"delta":{"stop_reason":"tool_use"}`), event("message_stop", `"x":1`),
	}
	for api, want := range map[dialect.API][]string{dialect.Converse: {"sealed", ""}, dialect.Gemini: {"", "call"}, dialect.Responses: {"sealed", ""}} {
		given, back, whole := roundTrip(t, api, events)
		asm := &message.Assembler{}
		for _, e := range back {
			_, err := asm.Add(e.Data)
			require.NoError(t, err, "%s: %s", api, given)
		}
		reply, err := asm.End()
		require.NoError(t, err, "%s: %s", api, given)
		require.Len(t, reply.Message.Content, 2)
		thought, call := reply.Message.Content[0], reply.Message.Content[1]
		assert.Equal(t, want, []string{gjson.GetBytes(thought.Raw, "signature").Str, gjson.GetBytes(call.Extra, dialect.Signature).Str}, api)
		assert.Equal(t, want, []string{whole.Get("content.0.signature").Str, whole.Get("content.1." + dialect.Signature).Str}, api)
	}
}

// An error is worded as each API words it, with the status that it has.
func TestRefusals(t *testing.T) {
	for api, want := range map[dialect.API]string{
		dialect.Messages: `529 {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}`,
		dialect.Chat:     `503 {"error":{"message":"Busy","type":"server_error","param":null,"code":"server_error"}}`,
		dialect.Gemini:   `503 {"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}`,
		dialect.Converse: `503 {"message":"Busy"}`,
		dialect.Ollama:   `503 {"error":"Busy"}`,
	} {
		status, body := dialect.Refusal(api, dialect.StatusOverloaded, "overloaded_error", "Busy")
		assert.Equal(t, want, string(dialect.JSON(status))+" "+string(body))
	}
	status, body := dialect.Refusal(dialect.Responses, 429, "rate_limit_error", "Slow")
	assert.Equal(t, 429, status)
	assert.Equal(t, "rate_limit_exceeded", gjson.GetBytes(body, "error.code").Str)
}

// What an answer cost stands in each API's own members, and adds up: 3 tokens of input, 6 read
// from the cache, 2 written to it, 4 of output.
func TestTheCostOfAnAnswerAddsUpInEachAPI(t *testing.T) {
	events := stream.Script(stream.Turn{ID: "1", Model: "m", Blocks: []stream.Block{{Kind: stream.Text, Text: "So."}}})
	for i, e := range events {
		if e.Type == "message_delta" {
			events[i].Data = []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3,"cache_read_input_tokens":6,"cache_creation_input_tokens":2,"output_tokens":4}}`)
		}
	}
	for api, want := range map[dialect.API]struct {
		at    string
		costs string
	}{
		dialect.Chat:      {"usage", `{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":2}}`},
		dialect.Responses: {"usage", `{"input_tokens":11,"input_tokens_details":{"cached_tokens":6,"cache_write_tokens":2},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}`},
		dialect.Gemini:    {"usageMetadata", `{"promptTokenCount":11,"candidatesTokenCount":4,"totalTokenCount":15,"cachedContentTokenCount":6}`},
		dialect.Converse:  {"usage", `{"inputTokens":3,"outputTokens":4,"totalTokens":15,"cacheReadInputTokens":6,"cacheWriteInputTokens":2}`},
	} {
		g := dialect.Encoder{API: api, Usage: true}
		for _, e := range events {
			g.Add(e)
		}
		assert.JSONEq(t, want.costs, gjson.GetBytes(g.Document(), want.at).Raw, api)
		if _, back, whole := roundTrip(t, api, events); api != dialect.Gemini { // which has no word of what is written
			for _, u := range []gjson.Result{gjson.GetBytes(back[len(back)-2].Data, "usage"), whole.Get("usage")} {
				assert.Equal(t, "[3,6,2,4]", u.Get("[input_tokens,cache_read_input_tokens,cache_creation_input_tokens,output_tokens]").Raw, api)
			}
		}
	}
}

// Events of Responses are numbered as they come.
func TestEventsOfResponsesAreNumbered(t *testing.T) {
	given, _, _ := roundTrip(t, dialect.Responses, givenTurn())
	for i, e := range given {
		assert.EqualValues(t, i, gjson.Get(e, "sequence_number").Int())
	}
	assert.Greater(t, len(given), 10)
}

// Mistral's and xAI's models send all calls of an answer in one chunk, and their clients refuse pieces. Others' send pieces.
func TestCallsComeWholeWhereTheProviderSendsThemSo(t *testing.T) {
	want := assembled(t, givenTurn())
	for model, whole := range map[string]bool{"mistral-large-latest": true, "Devstral-Small": true, "x-ai/grok-4": true, "gpt-5": false, "": false} {
		t.Run(model, func(t *testing.T) {
			g := dialect.Encoder{API: dialect.Chat, Model: model}
			var back []stream.Event
			s := dialect.Stream{Emit: func(e stream.Event) error { back = append(back, e); return nil }}
			var chunks []string
			for _, e := range givenTurn() {
				for _, out := range g.Add(e) {
					require.NoError(t, s.Add(out))
					if choice := gjson.GetBytes(out.Data, "choices.0"); choice.Get("delta.tool_calls").Exists() {
						chunks = append(chunks, choice.Get(`delta.tool_calls.#.[index,id,type,function.name,function.arguments]`).Raw)
					}
				}
			}
			require.NoError(t, s.End())
			if whole {
				assert.Equal(t, []string{`[[0,"one","function","read_file","{\"path\":\"/a\",\"lines\":[1,2]}"],[1,"two","function","read_file","{\"path\":\"/b\"}"],[2,"three","function","list","{}"]]`}, chunks)
			} else {
				assert.Greater(t, len(chunks), 5)
			}
			assert.Equal(t, meant(t, want, true), meant(t, assembled(t, back), true))
		})
	}
}
