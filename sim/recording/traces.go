package recording

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// spans takes traces as OpenTelemetry writes them in JSON. A span of a model's turn has
// its messages as attributes: by the conventions for generative AI as of version 1.37, or by
// those of OpenInference or OpenLLMetry, a member an attribute, or as Vercel's AI SDK has them.
func (ls *lineScan) spans(v gjson.Result) error {
	var turns []gjson.Result
	for _, s := range v.Get("resourceSpans.#.scopeSpans.#.spans|@flatten|@flatten").Array() {
		if named(s)["gen_ai.output.messages"].Exists() || isFlat(s) || isVercel(s) {
			turns = append(turns, s)
		} else if s.IsObject() {
			ls.s.ignore("spans without gen_ai.output.messages")
		}
	}
	start := func(s gjson.Result) int64 { return s.Get("startTimeUnixNano").Int() }
	slices.SortStableFunc(turns, func(a, b gjson.Result) int { return cmp.Compare(start(a), start(b)) })
	for _, s := range turns {
		from, to := nanos(s.Get("startTimeUnixNano")), nanos(s.Get("endTimeUnixNano"))
		take := ls.conventional
		switch {
		case isVercel(s):
			take = ls.vercel
		case isFlat(s):
			take = ls.flat
		}
		if err := take(s, from, to); err != nil {
			return err
		}
	}
	return nil
}

func nanos(v gjson.Result) time.Time {
	if n := v.Int(); n > 0 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}

// conventional takes a span with messages as the conventions have them.
func (ls *lineScan) conventional(s gjson.Result, from, to time.Time) error {
	at := named(s)
	request := fields{"model": at["gen_ai.request.model"].String(), "messages": parted(at["gen_ai.input.messages"])}
	if d := at["gen_ai.tool.definitions"]; d.IsArray() {
		_, tools, _ := dialect.Request("/chat/completions", []byte(`{"messages":[],"tools":`+d.Raw+`}`), &dialect.IDs{})
		request["tools"] = json.RawMessage(cmp.Or(tools.Get("tools").Raw, "[]"))
	}
	answer := at["gen_ai.output.messages"].Get("0")
	blocks := blocksOf(answer)
	stop := dialect.StopReason(cmp.Or(answer.Get("finish_reason").String(), "stop"), slices.ContainsFunc(blocks, func(b any) bool { return b.(fields)["type"] == "tool_use" }))
	return ls.exchanged(dialect.JSON(request), dialect.JSON(fields{"type": "message", "id": at["gen_ai.response.id"].String(), "model": at["gen_ai.response.model"].String(),
		"content": blocks, "stop_reason": stop, "usage": fields{"input_tokens": at["gen_ai.usage.input_tokens"].Int(), "output_tokens": at["gen_ai.usage.output_tokens"].Int()}}), from, to)
}

// named are a span's attributes by name; a text of JSON is what it means.
func named(span gjson.Result) map[string]gjson.Result {
	out := map[string]gjson.Result{}
	eachAttribute(span, func(name string, v gjson.Result) bool {
		out[name] = parsed(v)
		return true
	})
	return out
}

// parted are messages whose parts name their kinds as the conventions do.
func parted(messages gjson.Result) []any {
	out := []any{}
	for _, m := range messages.Array() {
		role := m.Get("role").String()
		if role == "tool" {
			role = "user"
		}
		if role == "user" || role == "assistant" {
			out = append(out, fields{"role": role, "content": blocksOf(m)})
		}
	}
	return out
}

func blocksOf(m gjson.Result) []any {
	out := []any{}
	if c := m.Get("content"); c.Type == gjson.String {
		out = append(out, textOf(c.Str))
	}
	for _, p := range m.Get("parts").Array() {
		switch p.Get("type").String() {
		case "text":
			out = append(out, textOf(p.Get("content").String()))
		case "reasoning":
			out = append(out, fields{"type": "thinking", "thinking": p.Get("content").String()})
		case "tool_call":
			out = append(out, callOf(p.Get("id").String(), p.Get("name").String(), p.Get("arguments")))
		case "tool_call_response":
			out = append(out, resultOf(p.Get("id").String(), dialect.Either(p, "response", "result").String(), p.Get("is_error").Bool()))
		default:
			out = append(out, fields{"type": cmp.Or(p.Get("type").String(), "unknown")})
		}
	}
	return out
}

// isVercel reports whether a span is a request that Vercel's AI SDK made, rather than all the requests of a step.
func isVercel(s gjson.Result) bool {
	asked, answered := false, false
	eachAttribute(s, func(name string, _ gjson.Result) bool {
		asked = asked || name == "ai.prompt.messages"
		answered = answered || name == "ai.response.text" || name == "ai.response.toolCalls"
		return !asked || !answered
	})
	return asked && answered
}

// vercel takes such a span.
func (ls *lineScan) vercel(s gjson.Result, from, to time.Time) error {
	at := named(s)
	answer := gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": at["ai.response.text"].String(), "tool_calls": json.RawMessage(cmp.Or(at["ai.response.toolCalls"].Raw, "[]"))}))
	count := func(a, b string) int64 { return cmp.Or(at["ai.usage."+a].Int(), at["ai.usage."+b].Int()) }
	return ls.generated(generation{
		id: at["ai.response.id"].String(), model: at["ai.model.id"].String(), answered: at["ai.response.model"].String(), messages: at["ai.prompt.messages"],
		tools: at["ai.prompt.tools"], answer: answer, input: count("inputTokens", "promptTokens"), output: count("outputTokens", "completionTokens"), from: from, to: to,
	})
}

// flatMarks begin the names of attributes that only a span of a model's turn has, where each
// member of a message is an attribute of its own: OpenInference's, and OpenLLMetry's.
var flatMarks = []string{"llm.output_messages.", "gen_ai.completion."}

func isFlat(span gjson.Result) bool {
	found := false
	eachAttribute(span, func(name string, _ gjson.Result) bool {
		found = slices.ContainsFunc(flatMarks, func(mark string) bool { return strings.HasPrefix(name, mark) })
		return !found
	})
	return found
}

// eachAttribute goes through the attributes of a span: a list of keys and values, or an object.
func eachAttribute(span gjson.Result, yield func(name string, value gjson.Result) bool) {
	all := span.Get("attributes")
	all.ForEach(func(name, v gjson.Result) bool {
		if all.IsObject() {
			return yield(name.Str, v)
		}
		return yield(v.Get("key").String(), valueOf(v.Get("value")))
	})
}

// valueOf is the value of an attribute, be it a list or a mapping.
func valueOf(v gjson.Result) gjson.Result {
	if list := v.Get("arrayValue"); list.IsObject() {
		all := []any{}
		for _, one := range list.Get("values").Array() {
			all = append(all, json.RawMessage(cmp.Or(valueOf(one).Raw, "null")))
		}
		return gjson.ParseBytes(dialect.JSON(all))
	}
	if mapping := v.Get("kvlistValue"); mapping.IsObject() {
		all := fields{}
		for _, member := range mapping.Get("values").Array() {
			all[member.Get("key").String()] = json.RawMessage(cmp.Or(valueOf(member.Get("value")).Raw, "null"))
		}
		return gjson.ParseBytes(dialect.JSON(all))
	}
	return dialect.Either(v, "stringValue", "intValue", "doubleValue", "boolValue")
}

// flat takes a span whose messages are spread over its attributes.
func (ls *lineScan) flat(s gjson.Result, from, to time.Time) error {
	whole := map[string]any{}
	eachAttribute(s, func(name string, v gjson.Result) bool {
		if strings.HasPrefix(name, "llm.") || strings.HasPrefix(name, "gen_ai.") {
			spread(whole, strings.Split(name, "."), v)
		}
		return true
	})
	v := gjson.ParseBytes(dialect.JSON(inOrder(whole)))
	answer := dialect.Either(v, "llm.output_messages.0", "gen_ai.completion.0")
	return ls.generated(generation{
		id:    v.Get("gen_ai.response.id").String(),
		model: dialect.Either(v, "llm.model_name", "gen_ai.request.model").String(), answered: v.Get("gen_ai.response.model").String(),
		messages: dialect.Either(v, "llm.input_messages", "gen_ai.prompt"), tools: dialect.Either(v, "llm.tools", "llm.request.functions"), answer: answer, stop: answer.Get("finish_reason").String(),
		input:  dialect.Either(v, "llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens").Int(),
		output: dialect.Either(v, "llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens").Int(),
		from:   from, to: to,
	})
}

// flatTexts are attributes whose values stay texts, also where these are JSON.
var flatTexts = map[string]bool{"content": true, "text": true, "arguments": true}

// spread puts an attribute's value where its name says: members by name, items by number.
func spread(into map[string]any, name []string, v gjson.Result) {
	for _, part := range name[:len(name)-1] {
		inner, ok := into[part].(map[string]any)
		if !ok {
			if into[part] != nil {
				return // a value stands there
			}
			inner = map[string]any{}
			into[part] = inner
		}
		into = inner
	}
	last := name[len(name)-1]
	if into[last] != nil {
		return
	}
	switch s := strings.TrimSpace(v.String()); {
	case !flatTexts[last] && len(s) > 0 && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)), v.Type != gjson.String && json.Valid([]byte(v.Raw)):
		into[last] = json.RawMessage(s)
	default:
		into[last] = v.String()
	}
}

// inOrder makes lists of objects whose names are all numbers.
func inOrder(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	numbers := len(object) > 0
	for name, inner := range object {
		object[name] = inOrder(inner)
		_, err := strconv.ParseUint(name, 10, 16)
		numbers = numbers && err == nil
	}
	if !numbers {
		return object
	}
	var out []any
	for _, name := range slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}) {
		out = append(out, object[name])
	}
	return out
}

// adkSession takes a session of Google's agent development kit: what the user, the agents and
// their tools said, in Gemini's words. Pieces of a stream come again as a whole.
func (ls *lineScan) adkSession(v gjson.Result) error {
	ls.logs = logs{key: "adk\x00" + strings.Clone(v.Get("id").String()), model: strings.Clone(v.Get("events.#(modelVersion).modelVersion").String())}
	return each(v.Get("events"), func(e gjson.Result) error {
		content := e.Get("content")
		if e.Get("partial").Bool() || !content.Get("parts").IsArray() {
			return nil
		}
		role := cmp.Or(content.Get("role").String(), "model")
		results := content.Get("parts.#(functionResponse).functionResponse").Exists() || content.Get("parts.#(function_response).function_response").Exists()
		if e.Get("author").String() == "user" || results {
			role = "user"
		}
		content = gjson.ParseBytes(dialect.JSON(fields{"role": role, "parts": json.RawMessage(content.Get("parts").Raw)}))
		return ls.contents(content, stamp(e.Get("timestamp")))
	})
}
