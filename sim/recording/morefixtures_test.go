package recording_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/sim/stream"
)

// onTheWire is an exchange as it went over the wire.
func onTheWire(x httpExchange) (request, response string) {
	request = fmt.Sprintf("POST %s HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: %d\r\nContent-Type: application/json\r\n\r\n%s", endpoint, len(x.request), x.request)
	return request, "HTTP/2.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + string(x.response)
}

func httprr(t testing.TB) string {
	var b strings.Builder
	b.WriteString("httprr trace v1\n")
	for _, x := range exchanges(t) {
		request, response := onTheWire(x)
		fmt.Fprintf(&b, "%d %d\n%s%s", len(request), len(response), request, response)
	}
	return b.String()
}

// nock writes what it intercepted: one body as text, one in chunks, one as JSON.
func nock(t testing.TB) string {
	var list []any
	for n, x := range exchanges(t) {
		item := object{
			"scope": "https://api.example.com:443", "method": "POST", "path": "/v1/messages", "body": json.RawMessage(x.request),
			"status": http.StatusOK, "response": string(x.response), "rawHeaders": []string{"Content-Type", "text/event-stream"}, "responseIsBinary": false,
		}
		switch half := len(x.response) / 2; n {
		case 1:
			item["response"] = []string{hex.EncodeToString(x.response[:half]), hex.EncodeToString(x.response[half:])}
		case 2:
			item["response"], item["body"] = json.RawMessage(reply(t, script[n])), x.request
		}
		list = append(list, item)
	}
	out, err := json.MarshalIndent(list, "", "  ")
	require.NoError(t, err)
	return string(out)
}

func phpVCR(t testing.TB) string {
	var list []any
	for _, x := range exchanges(t) {
		list = append(list, object{
			"request":  object{"method": "POST", "url": endpoint, "headers": object{"Host": "api.example.com"}, "body": x.request},
			"response": object{"status": object{"http_version": "1.1", "code": "200", "message": "OK"}, "headers": object{"Content-Type": "text/event-stream"}, "body": string(x.response)},
			"index":    0,
		})
	}
	return "\n" + inYAML(t, list)
}

// reply is a turn as a response that was no stream.
func reply(t testing.TB, turn stream.Turn) string {
	t.Helper()
	blocks := []any{}
	stop := "end_turn"
	for _, b := range turn.Blocks {
		switch b.Kind {
		case stream.Text:
			blocks = append(blocks, object{"type": "text", "text": b.Text})
		case stream.ToolUse:
			stop = "tool_use"
			blocks = append(blocks, object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Input})
		}
	}
	return asJSON(t, object{"id": turn.ID, "type": "message", "role": "assistant", "model": turn.Model, "content": blocks, "stop_reason": stop, "usage": object{"input_tokens": 3, "output_tokens": 5}})
}

func responses(t testing.TB) string {
	var b strings.Builder
	for _, turn := range script {
		b.WriteString(reply(t, turn) + "\n")
	}
	return b.String()
}

// formatted is a file of a value a line as an editor formats it.
func formatted(t testing.TB, lines string) string {
	t.Helper()
	var b bytes.Buffer
	for line := range strings.Lines(lines) {
		require.NoError(t, json.Indent(&b, []byte(line), "", "  "))
	}
	return b.String()
}

func listed(t testing.TB, lines string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte("["+strings.ReplaceAll(strings.TrimSpace(lines), "\n", ",")+"]"), "", "  "))
	return b.String()
}

// history are the messages of the whole conversation.
func history(t testing.TB) []json.RawMessage {
	t.Helper()
	xs := exchanges(t)
	var request struct{ Messages []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(xs[len(xs)-1].request), &request))
	return append(request.Messages, json.RawMessage(`{"role":"assistant","content":"Done."}`))
}

func lastRequest(t testing.TB) string {
	return asJSON(t, object{"model": "model-1", "max_tokens": 5, "messages": history(t)})
}

func spokenLines(t testing.TB) string {
	var b strings.Builder
	for _, m := range history(t) {
		said := object{}
		require.NoError(t, json.Unmarshal(m, &said))
		said["model"] = "model-1"
		b.WriteString(asJSON(t, said) + "\n")
	}
	return b.String()
}
