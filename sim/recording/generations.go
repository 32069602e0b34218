package recording

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// generation is one request to a model with its answer, as traces and logs keep them: more or
// less in the words of Chat Completions.
type generation struct {
	id, model, answered, stop string
	messages, tools, answer   gjson.Result
	// input leaves out what was cached, and what was made for the cache.
	input, output, cached, made int64
	from, to                    time.Time
}

// generated makes a request with its answer of it.
func (ls *lineScan) generated(g generation) error {
	request := dialect.JSON(fields{"model": g.model, "messages": loose(g.messages), "tools": definitions(g.tools.Array())})
	answer := gjson.ParseBytes(dialect.JSON(fields{"choices": []any{fields{"message": looseMessage(g.answer), "finish_reason": g.stop}}}))
	return ls.translated("/chat/completions", request, answer, g)
}

// definitions are tools in the words of Chat Completions, which some leave the wrapping out of, or write as texts,
// and whose schema has other names elsewhere.
func definitions(tools []gjson.Result) []any {
	out := []any{}
	for _, t := range tools {
		t = firstOf(parsed(t), "tool.json_schema @this")
		if name := t.Get("name"); name.Exists() && !t.Get("function").IsObject() {
			f := fields{"name": name.String(), "description": t.Get("description").String()}
			if schema := firstOf(t, "parameters inputSchema input_schema"); schema.Exists() {
				f["parameters"] = json.RawMessage(schema.Raw)
			}
			out = append(out, fields{"type": "function", "function": f})
		} else if t.Get("function.name").Exists() {
			out = append(out, json.RawMessage(t.Raw))
		}
	}
	return out
}

// offeredIn are the tools of a list in such words, which may be a text.
func offeredIn(list gjson.Result) []Definition {
	_, request, _ := dialect.Request("/chat/completions", dialect.JSON(fields{"messages": []any{}, "tools": definitions(parsed(list).Array())}), &dialect.IDs{})
	return mapped(request.Get("tools").Array(), definition)
}

// translated takes a request and its answer in the words of any API. Of the answer's id, model and
// usage, those of g count where it has none.
func (ls *lineScan) translated(address string, body []byte, reply gjson.Result, g generation) error {
	ids := &dialect.IDs{}
	_, request, ok := dialect.Request(address, body, ids)
	_, answer, whole := dialect.Reply(reply, dialect.Origin{IDs: ids})
	if !ok || !whole {
		ls.s.ignore("requests to a model without an answer")
		return nil
	}
	m := fields{}
	answer.ForEach(func(name, v gjson.Result) bool {
		m[name.Str] = json.RawMessage(v.Raw)
		return true
	})
	if !strings.ContainsAny(answer.Get("usage").Raw, "123456789") {
		m["usage"] = fields{"input_tokens": g.input, "output_tokens": g.output, "cache_read_input_tokens": g.cached, "cache_creation_input_tokens": g.made}
	}
	m["id"], m["model"] = cmp.Or(answer.Get("id").String(), g.id), cmp.Or(answer.Get("model").String(), g.answered, g.model)
	ls.s.format = Logs
	ls.exchanges.number++
	x := &exchange{number: ls.exchanges.number, line: ls.at, url: "/v1/messages", status: 200, made: true, request: []byte(request.Raw), response: dialect.JSON(m)}
	if !g.from.IsZero() && g.to.After(g.from) {
		x.sent, x.last = g.from, Moment{since(g.from, g.to), true}
	}
	return ls.exchanges.chains.take(x)
}

// chatted takes a message of a conversation in the words of Chat Completions.
func (ls *lineScan) chatted(m gjson.Result, at time.Time) error {
	return ls.said("/chat/completions", dialect.JSON(fields{"messages": []any{looseMessage(m)}}), at)
}

func loose(list gjson.Result) []any {
	out := []any{}
	for _, m := range list.Array() {
		results := m.Get(`parts.#(type=="tool_call_response")#`).Array() // of OpenTelemetry's
		out = append(out, mapped(results, func(r gjson.Result) any {
			return fields{"role": "tool", "tool_call_id": r.Get("id").String(), "content": firstOf(r, "response result").String(), "is_error": r.Get("is_error").Bool()}
		})...)
		if len(results) == 0 || len(results) < int(m.Get("parts.#").Int()) {
			out = append(out, looseMessage(m))
		}
	}
	return out
}

// roles are other words for who wrote a message.
var roles = map[string]string{"human": "user", "ai": "assistant", "model": "assistant", "HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant",
	"SystemMessage": "system", "ToolMessage": "tool", "tool_result": "tool",
	"TurnBegin": "user", "SteerInput": "user", "ContentPart": "assistant", "content.part": "assistant", "ToolCall": "assistant", "tool.call": "assistant", "ToolResult": "tool", "tool.result": "tool",
	"user.message": "user", "assistant.message": "assistant", "tool.execution_complete": "tool"}

// spokenBy are all words for who wrote a message but a tool's own name.
var spokenBy = append(slices.Collect(maps.Keys(roles)), "user", "assistant", "system", "developer", "tool", "function")

// looseMessage writes a message as Chat Completions has it, whoever's variant it is: with a
// call's name and input beside its id, with parts of another name, or in another object.
func looseMessage(m gjson.Result) fields {
	kind := cmp.Or(m.Get("role").String(), m.Get("type").String())
	for _, inner := range []string{"kwargs", "data", "message"} {
		if in := m.Get(inner); in.IsObject() {
			if id := m.Get("id"); id.IsArray() { // a class of LangChain's
				kind = path.Base(strings.ReplaceAll(id.Get("@reverse.0").String(), ".", "/"))
			}
			m = in
			break
		}
	}
	role := cmp.Or(m.Get("role").String(), kind)
	if m.Get("additional_kwargs").Exists() && !slices.Contains(spokenBy, role) { // LangChain's tools answer in their own name
		m = gjson.ParseBytes(dialect.JSON(fields{"content": json.RawMessage(cmp.Or(m.Get("content").Raw, "null")), "name": role}))
		role = "tool"
	}
	out := fields{"role": cmp.Or(roles[role], role)}
	if parts := looseParts(dialect.Either(m, "content", "contents", "result.content", "parts"), m.Get("tool_calls.0").Exists() || m.Get("parts").IsArray()); parts != nil {
		out["content"] = parts
	}
	if thought := dialect.Either(m, "reasoning_content", "reasoning"); thought.Type == gjson.String {
		out["reasoning_content"] = thought.Str
	}
	calls := dialect.Either(m, "tool_calls", "additional_kwargs.tool_calls", "toolRequests", "toolCalls", `parts.#(type=="tool_call")#`).Array()
	if len(calls) > 0 {
		out["tool_calls"] = mapped(calls, looseCall)
	}
	if out["role"] == "tool" {
		looseResult(m, out)
	}
	return out
}

func looseCall(c gjson.Result) fields {
	c = dialect.Either(c, "tool_call", "@this")
	f := c
	if inner := c.Get("function"); inner.IsObject() {
		f = inner
	}
	name := dialect.Either(f, "name", "toolName").String()
	if direct := c.Get("function"); direct.Type == gjson.String {
		name = direct.Str
	}
	text := dialect.Either(f, "arguments", "args", "input").String() // of what is no text, its JSON
	return fields{"id": firstOf(c, "id toolCallId tool_id").String(), "type": "function", "function": fields{"name": name, "arguments": text}}
}

// looseResult adds whose result a message is, and whether it is an error.
func looseResult(m gjson.Result, out fields) {
	id := firstOf(m, "tool_call_id toolCallId tool_id").String()
	if id == "" && m.Get("requestor").Exists() {
		id = m.Get("id").String()
	}
	out["tool_call_id"], out["name"] = id, dialect.Either(m, "function", "name").String()
	failed := m.Get("error")
	out["is_error"] = failed.IsObject() || failed.Bool() || m.Get("is_error").Bool() || m.Get("status").String() == "error"
	if said := failed.Get("message").String(); said != "" && cmp.Or(m.Get("content").String(), said) == said {
		out["content"] = said
	}
}

// looseParts is a content: a text, or parts of one. Nil where there is none. Called is whether
// the message has its calls besides, so that those among the parts are the same once more; and
// those of a provider's own tools are none of the client's.
func looseParts(content gjson.Result, called bool) any {
	if !content.IsArray() {
		if content.Type == gjson.Null {
			return nil
		}
		return content.String()
	}
	out := []any{}
	for _, p := range content.Array() {
		p = dialect.Either(p, "message_content", "@this")
		switch kind := p.Get("type").String(); {
		case kind == "reasoning":
			out = append(out, fields{"type": "thinking", "thinking": dialect.Either(p, "reasoning", "summary", "content").String()})
		case kind == "text" && p.Get("content").Type == gjson.String:
			out = append(out, textOf(p.Get("content").Str))
		case (kind == "tool_use" || kind == "tool_call") && (called || p.Get("tool_type").Exists()), kind == "tool_call_response":
		case kind == "image" && p.Get("image").Exists():
			out = append(out, fields{"type": "image_url", "image_url": fields{"url": cmp.Or(p.Get("image.image.url").String(), p.Get("image.url").String(), p.Get("image").String())}})
		default:
			out = append(out, json.RawMessage(p.Raw))
		}
	}
	return out
}
