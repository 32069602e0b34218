package recording_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// The conversation of these fixtures: two calls side by side, one more with an error
// for a result, then the end.
var script = []stream.Turn{
	{ID: "msg_a", Model: "model-1", Blocks: []stream.Block{
		{Kind: stream.Thinking, Text: "Two files.", Signature: "c2ln"},
		{Kind: stream.Text, Text: "I read both."},
		{Kind: stream.ToolUse, ID: "call_1", Name: "view", Input: json.RawMessage(`{"path":"/a"}`)},
		{Kind: stream.ToolUse, ID: "call_2", Name: "ls", Input: json.RawMessage(`{}`)},
	}},
	{ID: "msg_b", Model: "model-1", Blocks: []stream.Block{
		{Kind: stream.ToolUse, ID: "call_3", Name: "view", Input: json.RawMessage(`{"path":"/ü"}`)},
	}},
	{ID: "msg_c", Model: "model-1", Blocks: []stream.Block{{Kind: stream.Text, Text: "Done."}}},
}

// results answer the calls of each turn, in the order in which they are sent.
var results = [][]map[string]any{
	{{"type": "tool_result", "tool_use_id": "call_1", "content": "text of a"}, {"type": "tool_result", "tool_use_id": "call_2", "content": []any{map[string]any{"type": "text", "text": "a b"}}}},
	{{"type": "tool_result", "tool_use_id": "call_3", "content": "no such file", "is_error": true}},
}

const viewSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

// httpExchange is one request and its response, as any recorder sees it.
type httpExchange struct {
	request  string
	response []byte
	events   []stream.Event
}

func exchanges(t testing.TB) []httpExchange {
	t.Helper()
	messages := []any{map[string]any{"role": "user", "content": "Look at a."}}
	var out []httpExchange
	for n, turn := range script {
		body, err := json.Marshal(map[string]any{
			"model": "model-1", "max_tokens": 100, "stream": true, "messages": messages,
			"tools": []any{
				map[string]any{"name": "view", "description": "Reads.", "input_schema": json.RawMessage(viewSchema)},
				map[string]any{"name": "ls", "description": "Lists.", "input_schema": map[string]any{"type": "object"}, "annotations": map[string]any{"readOnlyHint": true}},
			},
		})
		require.NoError(t, err)
		events := stream.Script(turn)
		out = append(out, httpExchange{string(body), stream.Bytes(events), events})
		var blocks []any
		for _, b := range turn.Blocks {
			switch b.Kind {
			case stream.Text:
				blocks = append(blocks, map[string]any{"type": "text", "text": b.Text})
			case stream.ToolUse:
				blocks = append(blocks, map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Input})
			}
		}
		messages = append(messages, map[string]any{"role": "assistant", "content": blocks})
		if n < len(results) {
			messages = append(messages, map[string]any{"role": "user", "content": results[n]})
		}
	}
	return out
}

func inYAML(t testing.TB, v any) string {
	t.Helper()
	out, err := yaml.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

type object = map[string]any

const endpoint = "https://api.example.com/v1/messages"

func goVCR(t testing.TB, version int) string {
	var list []any
	for n, x := range exchanges(t) {
		item := object{
			"request":  object{"body": x.request, "form": object{}, "headers": object{}, "url": endpoint, "method": "POST"},
			"response": object{"body": string(x.response), "headers": object{"Content-Type": []string{"text/event-stream"}}, "status": "200 OK", "code": 200, "duration": ""},
		}
		if version == 2 {
			item["id"] = n
			item["response"].(object)["duration"] = "1.25s"
		}
		list = append(list, item)
	}
	return fmt.Sprintf("---\nversion: %d\n%s", version, inYAML(t, object{"interactions": list}))
}

// vcrPy wraps the bodies as the given function does.
func vcrPy(t testing.TB, request, response func(httpExchange) object) string {
	var list []any
	for _, x := range exchanges(t) {
		req, resp := request(x), response(x)
		req["uri"], req["method"] = endpoint, "POST"
		resp["status"] = object{"code": 200, "message": "OK"}
		list = append(list, object{"request": req, "response": resp})
	}
	return inYAML(t, object{"interactions": list}) + "version: 1\n"
}

func textRequest(x httpExchange) object { return object{"body": x.request} }

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// packed is a body as a server sends it under a Content-Encoding.
func packed(t testing.TB, encoding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "br":
		w = brotli.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "zstd":
		z, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		w = z
	}
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func binaryNode(b []byte) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!binary", Value: base64.StdEncoding.EncodeToString(b), Style: yaml.LiteralStyle}
}

// frames writes events as binary frames, each event in base64 inside of JSON.
func frames(events []stream.Event) []byte {
	var out bytes.Buffer
	for _, e := range events {
		payload, _ := json.Marshal(map[string]string{"bytes": base64.StdEncoding.EncodeToString(e.Data), "p": "abc"})
		out.Write(frame(map[string]string{":event-type": "chunk", ":message-type": "event"}, payload))
	}
	return out.Bytes()
}

func frame(headers map[string]string, payload []byte) []byte {
	var h bytes.Buffer
	for _, name := range []string{":event-type", ":exception-type", ":message-type"} {
		if value, ok := headers[name]; ok {
			h.WriteByte(byte(len(name)))
			h.WriteString(name)
			h.WriteByte(7)
			h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(value))))
			h.WriteString(value)
		}
	}
	var b []byte
	b = binary.BigEndian.AppendUint32(b, uint32(16+h.Len()+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Len()))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h.Bytes()...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func rubyVCR(t testing.TB) string {
	var list []any
	for _, x := range exchanges(t) {
		list = append(list, object{
			"request":     object{"method": "post", "uri": endpoint, "body": object{"encoding": "UTF-8", "string": x.request}},
			"response":    object{"status": object{"code": 200, "message": "OK"}, "headers": object{}, "body": object{"encoding": "ASCII-8BIT", "string": &yaml.Node{Kind: yaml.ScalarNode, Tag: "!binary", Value: base64.StdEncoding.EncodeToString(x.response), Style: yaml.LiteralStyle}}},
			"recorded_at": "Wed, 01 Jan 2025 00:00:00 GMT",
		})
	}
	return "---\n" + inYAML(t, object{"http_interactions": list}) + "recorded_with: VCR 6.0.0\n"
}

func httpMock(t testing.TB) string {
	var docs []string
	for _, x := range exchanges(t) {
		docs = append(docs, inYAML(t, object{
			"when": object{"path": "/v1/messages", "method": "POST", "body": x.request},
			"then": object{"status": 200, "header": []any{object{"name": "content-type", "value": "text/event-stream"}}, "body": string(x.response)},
		}))
	}
	return strings.Join(docs, "---\n")
}

// har writes an archive; its entries are in the given order.
func har(t testing.TB, order ...int) string {
	xs := exchanges(t)
	var entries []any
	for _, n := range order {
		entries = append(entries, object{
			"_order": 0, "startedDateTime": fmt.Sprintf("2025-01-01T00:00:%02d.000Z", 10*n),
			"request":  object{"method": "POST", "url": endpoint, "postData": object{"mimeType": "application/json", "text": xs[n].request}},
			"response": object{"status": 200, "headers": []any{}, "content": object{"mimeType": "text/event-stream", "text": string(xs[n].response)}},
			"timings":  object{"blocked": -1, "dns": -1, "connect": 5, "send": 1, "wait": 394, "receive": 2600},
		})
	}
	out, err := json.MarshalIndent(object{"log": object{"version": "1.2", "creator": object{"name": "x"}, "entries": entries}}, "", "  ")
	require.NoError(t, err)
	return string(out)
}

// asYAML writes JSON as YAML.
func asYAML(t testing.TB, text string) string {
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return inYAML(t, v)
}

func txtarOf(t testing.TB) string {
	var b strings.Builder
	b.WriteString("A conversation, file by file.\n\n")
	for n, x := range exchanges(t) {
		fmt.Fprintf(&b, "-- %d/request --\n%s\n-- %d/response --\n%s", n, x.request, n, x.response)
	}
	return b.String()
}

func bareSSE(t testing.TB) string {
	var b bytes.Buffer
	for _, x := range exchanges(t) {
		b.Write(x.response)
	}
	return b.String()
}

func eventLines(t testing.TB) string {
	var b bytes.Buffer
	for _, x := range exchanges(t) {
		for _, e := range x.events {
			b.Write(append(e.Data, '\n'))
		}
	}
	return b.String()
}

func bareFrames(t testing.TB) string {
	var b bytes.Buffer
	for _, x := range exchanges(t) {
		b.Write(frames(x.events))
	}
	return b.String()
}

func jsonLines(t testing.TB, lines ...object) string {
	var b bytes.Buffer
	for _, l := range lines {
		out, err := json.Marshal(l)
		require.NoError(t, err)
		b.Write(append(out, '\n'))
	}
	return b.String()
}

// said is a line of the dialect with a block a line, at a second of the session.
func said(second float64, kind, id string, blocks ...object) object {
	at := fmt.Sprintf("2025-01-01T00:00:%06.3fZ", second)
	return object{
		"type": kind, "sessionId": "session-1", "uuid": fmt.Sprintf("%s-%v-%v", kind, second, blocks), "isSidechain": false, "timestamp": at,
		"message": object{"role": kind, "id": id, "model": "model-1", "content": blocks, "stop_reason": nil},
	}
}

func use(id, name, input string) object {
	return object{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage(input)}
}

func transcript(t testing.TB) string {
	return jsonLines(t,
		object{"type": "summary", "summary": "a file is looked at"},
		said(0, "user", "", object{"type": "text", "text": "Look at a."}),
		said(1, "assistant", "msg_a", object{"type": "thinking", "thinking": "Two files."}),
		said(2, "assistant", "msg_a", object{"type": "text", "text": "I read both."}),
		said(3, "assistant", "msg_a", use("call_1", "view", `{"path":"/a"}`)),
		said(4, "assistant", "msg_a", use("call_2", "ls", `{}`)),
		said(5, "user", "", results[0][0]),
		said(6, "user", "", results[0][1]),
		said(8, "assistant", "msg_b", use("call_3", "view", `{"path":"/ü"}`)),
		said(9, "user", "", results[1][0]),
		said(11, "assistant", "msg_c", object{"type": "text", "text": "Done."}),
	)
}

// spoken is a line of the dialect with a message a line.
func spoken(second int, message object) object {
	return object{"type": "message", "id": fmt.Sprintf("line-%d", second), "timestamp": fmt.Sprintf("2025-01-01T00:00:%02d.000Z", second), "message": message}
}

func sessionLog(t testing.TB) string {
	call := func(id, name, input string) object {
		return object{"type": "toolCall", "id": id, "name": name, "arguments": json.RawMessage(input)}
	}
	result := func(id, name, text string, failed bool) object {
		return object{"role": "toolResult", "toolCallId": id, "toolName": name, "content": []object{{"type": "text", "text": text}}, "isError": failed}
	}
	return jsonLines(t,
		object{"type": "session", "version": 3, "id": "session-1", "cwd": "/repo"},
		object{"type": "model_change", "modelId": "model-1"},
		spoken(0, object{"role": "user", "content": "Look at a."}),
		spoken(4, object{"role": "assistant", "model": "model-1", "stopReason": "toolUse", "content": []object{
			{"type": "thinking", "thinking": "Two files."}, {"type": "text", "text": "I read both."}, call("call_1", "view", `{"path":"/a"}`), call("call_2", "ls", `{}`)}}),
		spoken(5, result("call_1", "view", "text of a", false)),
		spoken(6, result("call_2", "ls", "a b", false)),
		spoken(8, object{"role": "assistant", "model": "model-1", "stopReason": "toolUse", "content": []object{call("call_3", "view", `{"path":"/ü"}`)}}),
		spoken(9, result("call_3", "view", "no such file", true)),
		spoken(11, object{"role": "assistant", "model": "model-1", "stopReason": "stop", "content": []object{{"type": "text", "text": "Done."}}}),
	)
}

// fixture is the conversation in one recorder's words.
type fixture struct {
	name   string
	format recording.Format
	text   string
	// requests and results are what the format holds of them.
	requests, results bool
	// poor: it has neither annotations nor the model's name.
	poor bool
}

func fixtures(t testing.TB) []fixture {
	asText := func(x httpExchange) object { return object{"body": object{"string": string(x.response)}} }
	asGzip := func(x httpExchange) object {
		return object{"headers": object{"Content-Encoding": []string{"gzip"}}, "body": object{"string": binaryNode(gzipped(t, x.response))}}
	}
	asPacked := func(encoding string) func(httpExchange) object {
		return func(x httpExchange) object {
			return object{"headers": object{"content-encoding": []string{encoding}}, "body": object{"string": binaryNode(packed(t, encoding, x.response))}}
		}
	}
	asFrames := func(x httpExchange) object { return object{"body": object{"string": binaryNode(frames(x.events))}} }
	parsed := func(x httpExchange) object {
		var v any
		require.NoError(t, json.Unmarshal([]byte(x.request), &v))
		return object{"parsed_body": v}
	}
	return append([]fixture{
		{"go-vcr 1", recording.GoVCR1, goVCR(t, 1), true, true, false},
		{"go-vcr 2", recording.GoVCR2, goVCR(t, 2), true, true, false},
		{"vcrpy, text", recording.VCRPy, vcrPy(t, textRequest, asText), true, true, false},
		{"vcrpy, gzip", recording.VCRPy, vcrPy(t, textRequest, asGzip), true, true, false},
		{"vcrpy, brotli", recording.VCRPy, vcrPy(t, textRequest, asPacked("br")), true, true, false},
		{"vcrpy, zstd", recording.VCRPy, vcrPy(t, textRequest, asPacked("zstd")), true, true, false},
		{"vcrpy, deflate", recording.VCRPy, vcrPy(t, textRequest, asPacked("deflate")), true, true, false},
		{"vcrpy, binary frames", recording.VCRPy, vcrPy(t, textRequest, asFrames), true, true, false},
		{"vcrpy, parsed bodies", recording.VCRPy, vcrPy(t, parsed, asText), true, true, false},
		{"Ruby VCR", recording.RubyVCR, rubyVCR(t), true, true, false},
		{"httpmock", recording.HTTPMock, httpMock(t), true, true, false},
		{"HAR", recording.HAR, har(t, 0, 1, 2), true, true, false},
		{"HAR, out of order", recording.HAR, har(t, 2, 0, 1), true, true, false},
		{"HAR in YAML", recording.HAR, asYAML(t, har(t, 2, 0, 1)), true, true, false},
		{"txtar", recording.Txtar, txtarOf(t), true, true, false},
		{"server-sent events", recording.SSE, bareSSE(t), false, false, false},
		{"an event a line", recording.EventLines, eventLines(t), false, false, false},
		{"binary frames", recording.EventBytes, bareFrames(t), false, false, false},
		{"transcript", recording.Blocks, transcript(t), false, true, false},
		{"session log", recording.Messages, sessionLog(t), false, true, false},
		{"packed as a whole", recording.SSE, string(gzipped(t, []byte(bareSSE(t)))), false, false, false},
		{"packed as a whole by zstd", recording.SSE, string(packed(t, "zstd", []byte(bareSSE(t)))), false, false, false},
		{"with a byte order mark", recording.Blocks, "\xef\xbb\xbf" + transcript(t), false, true, false},
		{"with carriage returns", recording.EventLines, strings.ReplaceAll(eventLines(t), "\n", "\r\n"), false, false, false},
		{"Converse, whole", recording.VCRPy, converseWhole(t), true, true, true},
		{"Converse, frames", recording.VCRPy, converseFrames(t), true, true, true},
		{"Converse, frames in base64", recording.HTTPMock, converseMock(t), true, true, true},
		{"Converse's words through InvokeModel", recording.VCRPy, converseChunks(t), true, true, true},
		{"Converse, an event a line", recording.EventLines, converseLines(t), false, false, true},
		{"Converse, bare frames", recording.EventBytes, converseBare(t), false, false, true},
		{"httprr", recording.HTTPRR, httprr(t), true, true, false},
		{"nock", recording.Exchanges, nock(t), true, true, false},
		{"WireMock", recording.Exchanges, wireMock(t), true, true, false},
		{"WireMock, documents of YAML", recording.Exchanges, wireMockYAML(t), true, true, false},
		{"a log of requests and responses", recording.Exchanges, traceLog(t), true, true, false},
		{"a library's objects", recording.Exchanges, typedBodies(t), true, true, false},
		{"a log of bodies", recording.Exchanges, bodyLog(t), true, true, false},
		{"vcrpy, in escaped JSON", recording.VCRPy, vcrPyJSON(t), true, true, false},
		{"PHP-VCR", recording.Exchanges, phpVCR(t), true, true, false},
		{"transcript, formatted", recording.Blocks, formatted(t, transcript(t)), false, true, false},
		{"transcript, as a list", recording.Blocks, listed(t, transcript(t)), false, true, false},
		{"responses, formatted", recording.History, formatted(t, responses(t)), false, false, false},
		{"a request with its history", recording.History, lastRequest(t), false, true, false},
		{"the messages of a request, a line each", recording.History, spokenLines(t), false, true, false},
	}, recorders(t)...)
}

// open reads a text with the default limits.
func open(t testing.TB, text string) *recording.Recording {
	t.Helper()
	rec, err := recording.Open("file", strings.NewReader(text), recording.Limits{}, nil)
	require.NoError(t, err)
	return rec
}
