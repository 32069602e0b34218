package recording_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"toolbench/sim/stream"
)

// converseExchange is one request and its answer in the Converse API's words: whole,
// and as the events of a stream.
type converseExchange struct {
	request, whole string
	frames, lines  []byte
	// chunks are the same events as other models' streams wrap them.
	chunks []byte
}

const converseEndpoint = "https://bedrock.example.com/model/model-1/converse"

// converseBlocks are the script's blocks in Converse's words.
func converseBlocks(turn stream.Turn) []any {
	var out []any
	for _, b := range turn.Blocks {
		switch b.Kind {
		case stream.Thinking:
			out = append(out, object{"reasoningContent": object{"reasoningText": object{"text": b.Text, "signature": b.Signature}}})
		case stream.Text:
			out = append(out, object{"text": b.Text})
		case stream.ToolUse:
			out = append(out, object{"toolUse": object{"toolUseId": b.ID, "name": b.Name, "input": b.Input}})
		}
	}
	return out
}

// converseEvents are the events of a turn, each with its type.
func converseEvents(turn stream.Turn, stop string) (kinds []string, bodies []object) {
	put := func(kind string, body object) { kinds, bodies = append(kinds, kind), append(bodies, body) }
	put("messageStart", object{"role": "assistant", "p": "abc"})
	for n, b := range turn.Blocks {
		delta := func(d object) { put("contentBlockDelta", object{"contentBlockIndex": n, "delta": d}) }
		switch b.Kind {
		case stream.Thinking:
			delta(object{"reasoningContent": object{"text": b.Text}})
			delta(object{"reasoningContent": object{"signature": b.Signature}})
		case stream.Text:
			delta(object{"text": b.Text[:2]})
			delta(object{"text": b.Text[2:]})
		case stream.ToolUse:
			put("contentBlockStart", object{"contentBlockIndex": n, "start": object{"toolUse": object{"toolUseId": b.ID, "name": b.Name}}})
			if string(b.Input) != "{}" {
				delta(object{"toolUse": object{"input": string(b.Input[:3])}})
				delta(object{"toolUse": object{"input": string(b.Input[3:])}})
			}
		}
		put("contentBlockStop", object{"contentBlockIndex": n})
	}
	put("messageStop", object{"stopReason": stop})
	put("metadata", object{"usage": object{"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}, "metrics": object{"latencyMs": 900}})
	return kinds, bodies
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func converseExchanges(t testing.TB) []converseExchange {
	t.Helper()
	say := func(role string, content ...any) object { return object{"role": role, "content": content} }
	messages := []any{say("user", object{"text": "Look at a."})}
	answered := [][]any{
		{
			object{"toolResult": object{"toolUseId": "call_1", "content": []any{object{"text": "text of a"}}, "status": "success"}},
			object{"toolResult": object{"toolUseId": "call_2", "content": []any{object{"text": "a b"}}}},
		},
		{object{"toolResult": object{"toolUseId": "call_3", "content": []any{object{"text": "no such file"}}, "status": "error"}}, object{"cachePoint": object{"type": "default"}}},
	}
	var out []converseExchange
	for n, turn := range script {
		stop := "tool_use"
		if n == len(script)-1 {
			stop = "end_turn"
		}
		x := converseExchange{
			request: asJSON(t, object{
				"messages": messages, "system": []any{object{"text": "Be brief."}}, "inferenceConfig": object{"maxTokens": 100},
				"toolConfig": object{"tools": []any{
					object{"toolSpec": object{"name": "view", "description": "Reads.", "inputSchema": object{"json": json.RawMessage(viewSchema)}}},
					object{"toolSpec": object{"name": "ls", "description": "Lists.", "inputSchema": object{"json": object{"type": "object"}}}},
				}},
			}),
			whole: asJSON(t, object{
				"output": object{"message": say("assistant", converseBlocks(turn)...)}, "stopReason": stop,
				"usage": object{"inputTokens": 7, "outputTokens": 5}, "metrics": object{"latencyMs": 900},
			}),
		}
		kinds, bodies := converseEvents(turn, stop)
		for i, kind := range kinds {
			line := asJSON(t, object{kind: bodies[i]})
			x.lines = append(x.lines, line+"\n"...)
			x.frames = append(x.frames, frame(map[string]string{":event-type": kind, ":message-type": "event"}, []byte(asJSON(t, bodies[i])))...)
			x.chunks = append(x.chunks, frame(map[string]string{":event-type": "chunk", ":message-type": "event"}, []byte(asJSON(t, object{"bytes": []byte(line)})))...)
		}
		out = append(out, x)
		messages = append(messages, say("assistant", converseBlocks(turn)...))
		if n < len(answered) {
			messages = append(messages, say("user", answered[n]...))
		}
	}
	return out
}

// converseVCR keeps the exchanges as VCR.py does; the body is what the function gives.
func converseVCR(t testing.TB, path string, body func(converseExchange) *yaml.Node) string {
	var list []any
	for _, x := range converseExchanges(t) {
		list = append(list, object{
			"request":  object{"method": "POST", "uri": strings.Replace(converseEndpoint, "/converse", path, 1), "body": x.request},
			"response": object{"status": object{"code": 200}, "headers": object{"x-amzn-RequestId": []string{"r-1"}}, "body": object{"string": body(x)}},
		})
	}
	return inYAML(t, object{"interactions": list}) + "version: 1\n"
}

func converseWhole(t testing.TB) string {
	return converseVCR(t, "/converse", func(x converseExchange) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: x.whole}
	})
}

func converseFrames(t testing.TB) string {
	return converseVCR(t, "/converse-stream", func(x converseExchange) *yaml.Node { return binaryNode(x.frames) })
}

func converseChunks(t testing.TB) string {
	return converseVCR(t, "/invoke-with-response-stream", func(x converseExchange) *yaml.Node { return binaryNode(x.chunks) })
}

// converseNock keeps frames as hexadecimal digits.
func converseNock(t testing.TB) string {
	var list []any
	for _, x := range converseExchanges(t) {
		list = append(list, object{
			"scope": "https://bedrock-runtime.us-east-1.amazonaws.com:443", "method": "POST", "path": "/model/model-1/converse-stream", "body": x.request,
			"status": 200, "response": hex.EncodeToString(x.frames), "responseIsBinary": true, "rawHeaders": []string{"content-type", "application/vnd.amazon.eventstream"},
		})
	}
	return indented(t, list)
}

// converseMock keeps frames as text, and marks it nowhere but in the type.
func converseMock(t testing.TB) string {
	var docs []string
	for _, x := range converseExchanges(t) {
		docs = append(docs, inYAML(t, object{
			"when": object{"path": "/model/model-1/converse-stream", "method": "POST", "body": x.request},
			"then": object{"status": 200, "header": []any{object{"name": "content-type", "value": "application/vnd.amazon.eventstream"}}, "body": base64.StdEncoding.EncodeToString(x.frames)},
		}))
	}
	return strings.Join(docs, "---\n")
}

func converseLines(t testing.TB) string {
	var b bytes.Buffer
	for _, x := range converseExchanges(t) {
		b.Write(x.lines)
	}
	return b.String()
}

func converseBare(t testing.TB) string {
	var b bytes.Buffer
	for _, x := range converseExchanges(t) {
		b.Write(x.frames)
	}
	return b.String()
}
