package recording

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// xAI's library calls its models by gRPC. Recorders write its messages in JSON, in words that are nearly those of
// Chat Completions.

// ofGrok makes such a request with its answer, whole or in pieces, an exchange in the words of Chat Completions; v where it is none.
func ofGrok(v gjson.Result) gjson.Result {
	request := firstOf(v, "request_sample.json request_stream.json")
	if !request.Exists() {
		return v
	}
	var messages []any
	for _, m := range request.Get("messages").Array() {
		messages = append(messages, fields{"role": grokWord(m.Get("role").String()), "content": plainText(m.Get("content")),
			"tool_call_id": m.Get("tool_call_id").Value(), "tool_calls": grokCalls(m)})
	}
	pieces := append([]gjson.Result{v.Get("response_sample.json")}, v.Get("response_stream.chunks_json.#.chunk").Array()...)
	reply := pieces[len(pieces)-1]
	var said strings.Builder
	stop, calls := "", []any(nil)
	for _, piece := range pieces {
		for _, output := range piece.Get("outputs").Array() {
			stop = cmp.Or(output.Get("finish_reason").String(), stop)
			m := firstOf(output, "message delta")
			if m.Get("role").String() != "ROLE_TOOL" { // what a tool of the provider's gave
				said.WriteString(m.Get("content").String())
				calls = append(calls, grokCalls(m)...)
			}
		}
	}
	u := reply.Get("usage")
	return gjson.ParseBytes(dialect.JSON(fields{
		"request": fields{"url": "/v1/chat/completions", "body": fields{"model": request.Get("model").String(), "messages": messages, "tools": request.Get("tools.#(function)#").Value()}},
		"response": fields{"status": 200, "body": fields{
			"id": reply.Get("id").String(), "object": "chat.completion", "model": reply.Get("model").String(),
			"choices": []any{fields{"message": fields{"role": "assistant", "content": said.String(), "tool_calls": calls}, "finish_reason": grokWord(stop)}},
			"usage": fields{"prompt_tokens": u.Get("prompt_tokens").Int(), "completion_tokens": u.Get("completion_tokens").Int(),
				"prompt_tokens_details": fields{"cached_tokens": u.Get("cached_prompt_text_tokens").Int()}},
		}},
	}))
}

// grokWord is a value of an enumeration without what it begins with, as in ROLE_USER or REASON_STOP.
func grokWord(s string) string {
	_, word, _ := strings.Cut(s, "_")
	return strings.ToLower(word)
}

// grokCalls are the calls of a message that the client runs.
func grokCalls(m gjson.Result) (out []any) {
	for _, c := range m.Get("tool_calls").Array() {
		if kind := c.Get("type").String(); kind == "" || kind == "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL" {
			out = append(out, looseCall(c))
		}
	}
	return out
}
