package recording_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"toolbench/sim/recording"
)

func indented(t testing.TB, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	return string(out)
}

func wireMock(t testing.TB) string {
	list := mappings(t)
	return indented(t, object{"mappings": list, "meta": object{"total": len(list)}})
}

// wireMockYAML is a document for each of them.
func wireMockYAML(t testing.TB) string {
	var all strings.Builder
	for _, m := range mappings(t) {
		var document yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(asJSON(t, m)), &document))
		document.Content[0].Style = 0
		all.WriteString("---\n" + inYAML(t, &document))
	}
	return all.String()
}

func mappings(t testing.TB) (list []any) {
	for n, x := range exchanges(t) {
		request := object{"urlPath": "/v1/messages", "method": "POST", "bodyPatterns": []any{object{"equalToJson": x.request, "ignoreArrayOrder": false}}}
		response := object{"status": 200, "headers": object{"Content-Type": "text/event-stream"}, "body": string(x.response)}
		switch n {
		case 1:
			response = object{"status": 200, "base64Body": base64.StdEncoding.EncodeToString(x.response)}
		case 2:
			request["bodyPatterns"] = []any{object{"equalToJson": json.RawMessage(x.request)}}
			response = object{"status": 200, "jsonBody": json.RawMessage(reply(t, script[n]))}
		}
		list = append(list, object{"id": fmt.Sprint(n), "request": request, "response": response})
	}
	return list
}

// recorders have an exchange for each of a list, in words of their own.
func recorders(t testing.TB) (all []fixture) {
	in64 := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	value := func(v any) []object { return []object{{"matcher": "exact", "value": v}} }
	sse := object{"Content-Type": "text/event-stream"}
	for name, one := range map[string]func(x httpExchange) object{
		"a test proxy": func(x httpExchange) object {
			return object{"RequestUri": endpoint, "RequestMethod": "POST", "RequestHeaders": object{}, "RequestBody": json.RawMessage(x.request),
				"StatusCode": 200, "ResponseHeaders": sse, "ResponseBody": string(x.response)}
		},
		"ExVCR": func(x httpExchange) object {
			return object{"request": object{"url": endpoint, "method": "post", "body": "", "request_body": x.request, "headers": object{}, "options": []any{}},
				"response": object{"status_code": 200, "type": "ok", "binary": false, "headers": object{}, "body": string(x.response)}}
		},
		"EasyVCR": func(x httpExchange) object {
			return object{"Duration": 1, "Request": object{"Method": "POST", "Uri": endpoint, "RequestHeaders": object{}, "Body": x.request},
				"Response": object{"Status": object{"Code": 200}, "ResponseHeaders": sse, "Body": string(x.response)}}
		},
		"WireMock.Net": func(x httpExchange) object {
			return object{"Request": object{"Path": object{"Matchers": []object{{"Name": "WildcardMatcher", "Pattern": "/v1/messages"}}},
				"Body": object{"Matcher": object{"Name": "JsonMatcher", "Pattern": x.request}}}, "Response": object{"StatusCode": 200, "Headers": sse, "Body": string(x.response)}}
		},
		"undici": func(x httpExchange) object {
			return object{"hash": "h", "snapshot": object{"request": object{"method": "POST", "url": endpoint, "headers": object{}, "body": x.request},
				"responses": []object{{"statusCode": 200, "headers": object{"content-type": "text/event-stream"}, "body": in64(x.response)}}}}
		},
		"MockServer": func(x httpExchange) object {
			return object{"httpRequest": object{"method": "POST", "path": "/v1/messages", "body": object{"type": "JSON", "json": json.RawMessage(x.request)}},
				"httpResponse": object{"statusCode": 200, "headers": sse, "body": string(x.response)}}
		},
		"Charles": func(x httpExchange) object {
			return object{"host": "api.example.com", "path": "/v1/messages", "request": object{"body": object{"text": x.request}},
				"response": object{"status": 200, "header": object{"headers": []object{{"name": "Content-Type", "value": "text/event-stream"}}}, "body": object{"text": string(x.response)}}}
		},
		"Hoverfly": func(x httpExchange) object {
			return object{"request": object{"path": value("/v1/messages"), "body": value(x.request)},
				"response": object{"status": 200, "body": in64(x.response), "encodedBody": true, "headers": object{"Content-Type": []string{"text/event-stream"}}}}
		},
		"a list of lines": func(x httpExchange) object {
			lines := strings.SplitAfter(strings.TrimSpace(string(x.response))+"\n", "\n")
			if n := len(lines) - 1; x.response[0] == 'e' { // some leave the blank lines out
				lines = slices.DeleteFunc(lines[:n], func(l string) bool { return l == "\n" || strings.HasPrefix(l, "event:") })
			}
			return object{"filename": "t", "request": object{"method": "POST", "path": "/v1/messages", "body": json.RawMessage(x.request)},
				"response": object{"status_code": 101, "headers": object{"transport": "websocket"}, "sse": lines}}
		},
		"a table of bodies": func(x httpExchange) object {
			return object{"request_body": json.RawMessage(x.request), "response_body": string(x.response), "response_status": 200, "request_path": endpoint}
		},
	} {
		var list []any
		for _, x := range exchanges(t) {
			list = append(list, one(x))
		}
		whole := map[string]any{"a test proxy": object{"Entries": list, "Variables": object{}}, "Hoverfly": object{"data": object{"pairs": list}, "meta": object{}}, "a list of lines": object{"turns": list}}[name]
		if whole == nil {
			whole = list
		}
		all = append(all, fixture{name, recording.Exchanges, indented(t, whole), true, true, false})
		if name == "a list of lines" {
			all = append(all, fixture{name + " in YAML", recording.Exchanges, "---\n" + indented(t, whole), true, true, false})
		}
	}
	return all
}

// traceLog is a line for each exchange, the stream as it came.
func traceLog(t testing.TB) string {
	var b strings.Builder
	for _, x := range exchanges(t) {
		b.WriteString(asJSON(t, object{
			"request":   object{"timestamp": 1735689600.5, "method": "POST", "url": endpoint, "headers": object{}, "body": json.RawMessage(x.request)},
			"response":  object{"timestamp": 1735689603.5, "status_code": 200, "headers": object{"content-type": "text/event-stream"}, "body": nil, "body_raw": string(x.response)},
			"logged_at": "2025-01-01T00:00:04Z",
		}) + "\n")
	}
	return b.String()
}

func bodyLog(t testing.TB) string {
	var b strings.Builder
	for n, x := range exchanges(t) {
		b.WriteString(asJSON(t, object{"request": json.RawMessage(x.request), "response": json.RawMessage(reply(t, script[n]))}) + "\n")
	}
	return b.String()
}

// vcrPyJSON is in JSON as it may be escaped, and YAML may not.
func vcrPyJSON(t testing.TB) string {
	var list []any
	for _, x := range exchanges(t) {
		list = append(list, object{
			"request":  object{"uri": endpoint, "method": "POST", "body": strings.Replace(x.request, "Look at a.", "Look at a. \U0001F600", 1)},
			"response": object{"status": object{"code": 200}, "body": object{"string": string(x.response)}},
		})
	}
	var b bytes.Buffer
	for _, r := range indented(t, object{"version": 1, "interactions": list}) {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r == '\U0001F600':
			b.WriteString(`\ud83d\ude00`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// typedBodies are exchanges as recorders of a library's objects keep them: each with the name of
// its type, a stream as a list of its events, or of its lines.
func typedBodies(t testing.TB) string {
	typed := func(data any) object { return object{"__type__": "openai.types.Message", "__data__": data} }
	var list []any
	for n, x := range exchanges(t) {
		request := object{"url": endpoint, "method": "POST", "body": json.RawMessage(x.request)}
		var events []any
		for _, e := range x.events {
			events = append(events, typed(json.RawMessage(e.Data)))
		}
		body := any(events)
		switch n {
		case 1:
			request["payload"] = request["body"]
			delete(request, "body")
			body = strings.Split(string(x.response), "\n")
		case 2:
			body = typed(json.RawMessage(reply(t, script[n])))
		}
		list = append(list, object{"test_id": fmt.Sprint(n), "request": request, "response": object{"body": body, "is_streaming": n < 2}})
	}
	return indented(t, list)
}
