package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"toolbench/sim/replay"
	"toolbench/sim/stream"
)

type object = map[string]any

const sec = time.Second

// line is a line of a transcript, at a second of the session.
func line(second float64, kind, id string, blocks ...object) object {
	return object{
		"type": kind, "sessionId": "s", "timestamp": fmt.Sprintf("2025-01-01T00:%02d:%06.3fZ", int(second)/60, second-float64(int(second)/60*60)),
		"message": object{"role": kind, "id": id, "content": blocks},
	}
}

func prompt(second float64) object {
	return line(second, "user", "", object{"type": "text", "text": "Go."})
}

func call(second float64, message, id, name string, input object) object {
	if input == nil {
		input = object{}
	}
	return line(second, "assistant", message, object{"type": "tool_use", "id": id, "name": name, "input": input})
}

func result(second float64, id string) object {
	return line(second, "user", "", object{"type": "tool_result", "tool_use_id": id, "content": "done"})
}

func text(second float64, message string) object {
	return line(second, "assistant", message, object{"type": "text", "text": "Well."})
}

func transcript(t testing.TB, lines ...object) string {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		raw, err := json.Marshal(l)
		require.NoError(t, err)
		b.Write(append(raw, '\n'))
	}
	return b.String()
}

// cassette is a conversation in documents of httpmock: the answers in a row, their calls answered in order.
func cassette(t testing.TB, tools []object, turns ...stream.Turn) string {
	t.Helper()
	var docs []string
	messages := []object{{"role": "user", "content": "Go."}}
	for _, turn := range turns {
		body, err := json.Marshal(object{"messages": messages, "tools": tools})
		require.NoError(t, err)
		quoted, err := json.Marshal(string(body))
		require.NoError(t, err)
		answer, err := json.Marshal(string(stream.Bytes(stream.Script(turn))))
		require.NoError(t, err)
		docs = append(docs, fmt.Sprintf("when: {path: /v1/messages, body: %s}\nthen: {status: 200, body: %s}\n", quoted, answer))
		var said, results []object
		for _, b := range turn.Blocks {
			if b.Kind == stream.ToolUse {
				said = append(said, object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Input})
				results = append(results, object{"type": "tool_result", "tool_use_id": b.ID, "content": "done"})
			}
		}
		messages = append(messages, object{"role": "assistant", "content": said}, object{"role": "user", "content": results})
	}
	return strings.Join(docs, "---\n")
}

func use(id, name, input string) stream.Block {
	return stream.Block{Kind: stream.ToolUse, ID: id, Name: name, Input: json.RawMessage(input)}
}

func definition(name string) object {
	return object{"name": name, "description": "A tool.", "input_schema": object{"type": "object", "properties": object{"path": object{"type": "string"}}, "additionalProperties": false}}
}

// run replays a text.
func run(t testing.TB, text string, o replay.Options) replay.Report {
	t.Helper()
	rep := replay.Recording(t.Context(), "file", strings.NewReader(text), o)
	require.NoError(t, rep.Err)
	return rep
}

// only gives the one conversation of a replay.
func only(t testing.TB, text string, o replay.Options) replay.Conversation {
	t.Helper()
	rep := run(t, text, o)
	require.Len(t, rep.Conversations, 1)
	return rep.Conversations[0]
}

// figures words the makespans of a conversation.
func figures(c replay.Conversation) map[string]string {
	out := map[string]string{}
	for _, f := range c.Figures {
		out[f.Name] = fmt.Sprintf("%s %.4g%% %s", f.Makespan, f.Hidden, f.Basis)
	}
	if c.Measured != nil {
		out["recorded"] = fmt.Sprintf("%s %.4g%% %s", c.Measured.Makespan, c.Measured.Hidden, c.Measured.Basis)
	}
	return out
}
