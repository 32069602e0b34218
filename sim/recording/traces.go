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

// spans takes traces as OpenTelemetry writes them in JSON, of which those of a model's turns have its messages.
func (ls *lineScan) spans(v gjson.Result) error {
	return each(v.Get("resourceSpans.#.scopeSpans.#.spans|@flatten|@flatten"), func(s gjson.Result) error {
		if isTurn(s) {
			return ls.observe(s)
		}
		if s.IsObject() {
			ls.s.ignore("spans without gen_ai.output.messages")
		}
		return nil
	})
}

// isTurn reports whether a span is a model's turn with its messages as attributes: by the conventions for generative AI
// as of version 1.37, by those of OpenInference or OpenLLMetry, a member an attribute, or as Vercel's AI SDK has
// each request of a step.
func isTurn(span gjson.Result) bool {
	asked, answered := false, false
	eachAttribute(span, func(name string, _ gjson.Result) bool {
		both := name == "gen_ai.output.messages" || strings.HasPrefix(name, "llm.output_messages.") || strings.HasPrefix(name, "gen_ai.completion.")
		asked = asked || both || name == "ai.prompt.messages"
		answered = answered || both || name == "ai.response.text" || name == "ai.response.toolCalls"
		return !asked || !answered
	})
	return asked && answered
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
	inner := func(v gjson.Result) json.RawMessage { return json.RawMessage(cmp.Or(valueOf(v).Raw, "null")) }
	if list := v.Get("arrayValue"); list.IsObject() {
		return gjson.ParseBytes(dialect.JSON(mapped(list.Get("values").Array(), inner)))
	}
	if mapping := v.Get("kvlistValue"); mapping.IsObject() {
		all := fields{}
		for _, member := range mapping.Get("values").Array() {
			all[member.Get("key").String()] = inner(member.Get("value"))
		}
		return gjson.ParseBytes(dialect.JSON(all))
	}
	return dialect.Either(v, "stringValue", "intValue", "doubleValue", "boolValue")
}

// flat takes a span, whose messages may be spread over its attributes.
func (ls *lineScan) flat(s gjson.Result, from, to time.Time) error {
	whole := map[string]any{}
	eachAttribute(s, func(name string, v gjson.Result) bool {
		if strings.HasPrefix(name, "llm.") || strings.HasPrefix(name, "gen_ai.") || strings.HasPrefix(name, "ai.") {
			spread(whole, strings.Split(name, "."), v)
		}
		return true
	})
	v := gjson.ParseBytes(dialect.JSON(inOrder(whole)))
	answer := firstOf(v, "llm.output_messages.0 gen_ai.completion.0 gen_ai.output.messages.0")
	if !answer.Exists() {
		calls := json.RawMessage(cmp.Or(v.Get("ai.response.toolCalls").Raw, "[]"))
		answer = gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": v.Get("ai.response.text").String(), "tool_calls": calls}))
	}
	input := firstOf(v, "llm.token_count.prompt gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens ai.usage.inputTokens ai.usage.promptTokens").Int()
	cached := firstOf(v, "llm.token_count.prompt_details.cache_read gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_read_input_tokens ai.usage.inputTokenDetails.cacheReadTokens ai.usage.cachedInputTokens").Int()
	made := firstOf(v, "llm.token_count.prompt_details.cache_write gen_ai.usage.cache_creation.input_tokens gen_ai.usage.cache_creation_input_tokens ai.usage.inputTokenDetails.cacheWriteTokens").Int()
	if cached+made <= input {
		input -= cached + made
	}
	return ls.generated(generation{
		id: firstOf(v, "gen_ai.response.id ai.response.id").String(), model: firstOf(v, "llm.model_name ai.model.id gen_ai.request.model").String(),
		answered: firstOf(v, "ai.response.model gen_ai.response.model").String(), stop: answer.Get("finish_reason").String(), answer: answer,
		messages: firstOf(v, "llm.input_messages gen_ai.prompt gen_ai.input.messages ai.prompt.messages"),
		tools:    firstOf(v, "llm.tools llm.request.functions gen_ai.tool.definitions ai.prompt.tools"),
		input:    input, cached: max(0, cached), made: max(0, made),
		output: firstOf(v, "llm.token_count.completion gen_ai.usage.output_tokens gen_ai.usage.completion_tokens ai.usage.outputTokens ai.usage.completionTokens").Int(),
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
	names := slices.SortedFunc(maps.Keys(object), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return mapped(names, func(name string) any { return object[name] })
}

// adkSession takes a session of Google's agent development kit: what the user, the agents and
// their tools said, in Gemini's words. Pieces of a stream come again as a whole.
func (ls *lineScan) adkSession(v gjson.Result) error {
	ls.logs = logs{key: "adk\x00" + strings.Clone(v.Get("id").String()), model: strings.Clone(v.Get("events.#(modelVersion).modelVersion").String())}
	return each(v.Get("events"), func(e gjson.Result) error {
		if e.Get("partial").Bool() {
			return nil
		}
		return ls.adkSaid(e.Get("author").String(), e.Get("content"), stamp(e.Get("timestamp")))
	})
}

// adkSaid takes what one of them said, of which results are the user's for the model.
func (ls *lineScan) adkSaid(author string, content gjson.Result, at time.Time) error {
	parts := content.Get("parts")
	if len(parts.Array()) == 0 {
		return nil
	}
	role := cmp.Or(content.Get("role").String(), "model")
	if author == "user" || firstOf(parts, "#(functionResponse.name).functionResponse #(function_response.name).function_response").Exists() {
		role = "user"
	}
	return ls.contents(gjson.ParseBytes(dialect.JSON(fields{"role": role, "parts": json.RawMessage(parts.Raw)})), at)
}
