package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
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
			g := dialect.Giver{API: api, Usage: true}
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
