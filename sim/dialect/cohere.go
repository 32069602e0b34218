package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Cohere's chat in its second version: requests as Chat Completions has them, answers with a
// plan before their calls, and streams whose events name what begins and ends. Its first version has what
// is asked apart from what was said before, and calls without ids. Both are read and never given.

// cohereEvents are the types of event of its streams.
var cohereEvents = []string{
	"message-start", "content-start", "content-delta", "content-end", "tool-plan-delta",
	"tool-call-start", "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end",
	"stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "citation-generation", "stream-end", // the first version's
}

// isCohere reports whether v is an answer, of either version.
func isCohere(v gjson.Result) bool {
	return v.Get("finish_reason").Type == gjson.String && (v.Get("message.role").String() == "assistant" && v.Get("id").Exists() ||
		v.Get("text").Type == gjson.String && v.Get("generation_id").Exists())
}

func cohereReply(v gjson.Result, from Origin) gjson.Result {
	m := v.Get("message")
	if !m.Exists() {
		m = gjson.ParseBytes(object("content", v.Get("text").String(), "tool_calls", cohereCalls(v.Get("tool_calls"))))
	}
	return reply(from, Either(v, "id", "generation_id").String(), "", chatAnswer(m, from.IDs), v.Get("finish_reason").String(), cohereUsage(Either(v, "usage", "meta")))
}

// cohereBefore is a request of the first version as one of the second. Results may stand with their calls alone.
func cohereBefore(v gjson.Result) gjson.Result {
	said := append([]gjson.Result{gjson.ParseBytes(object("role", "SYSTEM", "message", v.Get("preamble").String()))}, v.Get("chat_history").Array()...)
	called := said[len(said)-1].Get("tool_calls.0").Exists()
	said = append(said, gjson.ParseBytes(object("role", "USER", "message", v.Get("message").String())))
	if calls := v.Get("tool_results.#.call"); !called {
		said = append(said, gjson.ParseBytes(object("role", "CHATBOT", "tool_calls", raw(calls))))
	}
	var messages, tools []json.RawMessage
	for _, m := range append(said, gjson.ParseBytes(object("tool_results", raw(v.Get("tool_results"))))) {
		text, calls := m.Get("message").String(), m.Get("tool_calls")
		if text != "" || calls.Get("0").Exists() {
			role := map[string]string{"CHATBOT": "assistant", "SYSTEM": "system", "USER": "user"}[strings.ToUpper(m.Get("role").String())]
			messages = append(messages, object("role", role, "content", text, "tool_calls", cohereCalls(calls)))
		}
		messages = append(messages, each(m.Get("tool_results").Array(), func(r gjson.Result) json.RawMessage {
			return object("role", "tool", "name", r.Get("call.name").String(), "content", r.Get("outputs").Raw)
		})...)
	}
	for _, t := range v.Get("tools").Array() {
		members, required := map[string]json.RawMessage{}, []string{}
		for name, p := range t.Get("parameter_definitions").Map() {
			members[name] = object("description", p.Get("description").String(), "type", cohereTypes[p.Get("type").String()])
			if p.Get("required").Bool() {
				required = append(required, name)
			}
		}
		slices.Sort(required)
		schema := object("type", "object", "properties", members, "required", required)
		tools = append(tools, object("name", t.Get("name").String(), "description", t.Get("description").String(), "parameters", schema))
	}
	return gjson.ParseBytes(object("model", v.Get("model").String(), "stream", v.Get("stream").Bool(), "max_tokens", limit(v, "max_tokens"), "messages", messages, "tools", tools))
}

// cohereTypes are the types of parameters, which are Python's there; of others anything is taken.
var cohereTypes = map[string]string{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}

func cohereCalls(calls gjson.Result) []json.RawMessage {
	return each(calls.Array(), func(c gjson.Result) json.RawMessage {
		return object("name", c.Get("name").String(), "arguments", raw(c.Get("parameters")))
	})
}

// cohereUsage is what the model read and wrote, of which not all is paid for.
func cohereUsage(u gjson.Result) json.RawMessage {
	return usage(count(u, "tokens.input_tokens", "billed_units.input_tokens"), count(u, "cached_tokens"), 0, count(u, "tokens.output_tokens", "billed_units.output_tokens"))
}

// cohereStream translates the events of a stream.
type cohereStream struct{ chatStream }

func (c *cohereStream) add(_ string, v gjson.Result) {
	kind, delta := Either(v, "event_type", "type").String(), v.Get("delta")
	if failed := cmp.Or(v.Get("error").String(), delta.Get("error").String()); failed != "" {
		c.w.fail("api_error", failed)
		return
	}
	if kind == "message-start" || kind == "stream-start" || !c.w.begun {
		c.w.begun, c.calls, c.text, c.thought = false, nil, 0, 0 // one before it was cut
		c.w.start(Either(v, "id", "generation_id").String(), "")
	}
	m := delta.Get("message")
	switch kind {
	case "text-generation", "tool-calls-chunk":
		c.writes(v.Get("text").String())
	case "tool-calls-generation": // whole, whatever came in pieces
		c.rest()
		for _, call := range chatAnswer(gjson.ParseBytes(object("tool_calls", cohereCalls(v.Get("tool_calls")))), c.w.IDs) {
			c.w.block(gjson.ParseBytes(call))
		}
	case "tool-plan-delta":
		c.writes(m.Get("tool_plan").String())
	case "content-start", "content-delta":
		c.thinks(m.Get("content.thinking").String())
		c.writes(m.Get("content.text").String())
	case "content-end":
		c.rest()
	case "tool-call-start", "tool-call-delta":
		call := m.Get("tool_calls")
		c.piece(v.Get("index"), call.Get("id").String(), call.Get("function.name").String(), call.Get("function.arguments"), false)
	case "tool-call-end":
		if p := c.find(v.Get("index"), "", "", false); p != nil && p.begun {
			c.w.close(p.block)
		}
	case "stream-end", "message-end": // the first version's, and the second's
		c.w.usage = cohereUsage(Either(v, "response.meta", "delta.usage"))
		c.w.ended(Either(v, "finish_reason", "delta.finish_reason").String())
		c.w.finish()
	}
}
