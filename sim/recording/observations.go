package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// A trace that Langfuse exports is a list of observations. Those that are generations are
// requests to a model, in whatever words the library had that was observed, as JSON or as a
// text of it.

// generationKind is the type of an observation that is a request to a model.
const generationKind = "GENERATION"

// isObservation reports whether v is a part of such a trace.
func isObservation(v gjson.Result) bool {
	return (v.Get("traceId").Exists() || v.Get("parentObservationId").Exists()) && v.Get("startTime").Exists() && v.Get("type").Type == gjson.String
}

// observations takes the generations of a list, in the order in which they began. One within another is the same request as
// two libraries observed it: the inner is nearer to what was sent, and the outer counts where the inner has no answer in JSON.
func (ls *lineScan) observations(list gjson.Result) error {
	all := list.Array()
	slices.SortStableFunc(all, func(a, b gjson.Result) int { return stamp(a.Get("startTime")).Compare(stamp(b.Get("startTime"))) })
	outer := map[string]bool{}
	for _, o := range all {
		outer[o.Get("id").String()] = o.Get("type").Str == generationKind
	}
	twice := map[string]bool{}
	for _, o := range all {
		if parent := o.Get("parentObservationId").String(); outer[parent] && o.Get("type").Str == generationKind {
			inner := parsed(o.Get("output"))
			twice[o.Get("id").String()], twice[parent] = !inner.IsObject() && !inner.IsArray(), inner.IsObject() || inner.IsArray()
		}
	}
	for _, o := range all {
		if twice[o.Get("id").String()] {
			ls.s.ignore("generations that were observed twice")
		} else if err := ls.observation(o); err != nil {
			return err
		}
	}
	return nil
}

// observation takes one if it is a generation. What OpenInference's conventions say of it counts first: a library's own
// messages may have been printed.
func (ls *lineScan) observation(o gjson.Result) error {
	from, to := stamp(o.Get("startTime")), stamp(o.Get("endTime"))
	if kind := o.Get("type").Str; kind != generationKind {
		ls.s.ignore(fmt.Sprintf("observations of type %q", kind[:min(len(kind), 40)]))
		return nil
	}
	if spread := parsed(o.Get("metadata")); spread.Get(`attributes.llm\.output_messages\.0\.message\.role`).Exists() {
		return ls.flat(spread, from, to)
	}
	usage := fields{}
	for _, of := range [][2]string{{"input", "input_tokens"}, {"output", "output_tokens"}, {"cache_read_input_tokens", ""}, {"cache_creation_input_tokens", ""}} {
		if n := o.Get("usageDetails." + of[0]).Int(); n > 0 {
			usage[cmp.Or(of[1], of[0])] = n
		}
	}
	address, request := asked(parsed(o.Get("input")), o.Get("model").String())
	return ls.translated(address, request, answered(parsed(o.Get("output"))), fields{"id": o.Get("id").String(), "model": o.Get("model").String(), "usage": usage}, from, to)
}

// parsed is a value, or what its text means if that is JSON.
func parsed(v gjson.Result) gjson.Result {
	if s := strings.TrimSpace(v.String()); v.Type == gjson.String && len(s) > 0 && (s[0] == '[' || s[0] == '{') && json.Valid([]byte(s)) {
		return gjson.Parse(s)
	}
	return v
}

// asked is the body of a request that was observed, with an address that tells whose words it has.
// LangChain's definitions of tools stand among its messages.
func asked(v gjson.Result, model string) (address string, body []byte) {
	switch {
	case v.IsArray() && v.Get(`#(type%"function_call*").type`).Exists():
		return "/responses", dialect.JSON(fields{"input": json.RawMessage(v.Raw), "model": model})
	case v.Type == gjson.String, isMessage(v):
		v = gjson.ParseBytes(dialect.JSON(fields{"messages": []any{fields{"role": "user", "content": cmp.Or(v.Str, v.Get("content").String())}}}))
	case v.IsArray():
		v = gjson.ParseBytes(dialect.JSON(fields{"messages": json.RawMessage(v.Raw)}))
	}
	list := v.Get("messages")
	switch {
	case !list.IsArray() && (v.Get("contents").Exists() || v.Get("input").IsArray()), list.Get(`#.content|@flatten|#(type%"tool[_-]*").type`).Exists():
		return "", []byte(v.Raw)
	case !list.IsArray() && v.Get("prompt").Type == gjson.String:
		list = gjson.ParseBytes(dialect.JSON([]any{fields{"role": "user", "content": v.Get("prompt").Str}}))
	}
	messages, tools := []any{}, slices.Clone(v.Get("tools").Array())
	for _, m := range list.Array() {
		if m.Get("content.function.name").Exists() {
			tools = append(tools, m.Get("content"))
			continue
		}
		messages = append(messages, looseMessage(m))
	}
	return "/chat/completions", dialect.JSON(fields{"messages": messages, "tools": definitions(tools), "model": model})
}

// answered is a whole answer: one of an API's, or a message by itself in the words of whatever library.
func answered(v gjson.Result) gjson.Result {
	switch {
	case v.Get("0.toolName").Exists():
		v = gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "tool_calls": json.RawMessage(v.Raw)}))
	case v.IsArray():
		v = v.Get("0")
	}
	if _, _, whole := dialect.Reply(v, dialect.Origin{}); whole {
		return v
	}
	switch {
	case v.Get("content.parts").IsArray():
		return gjson.ParseBytes(dialect.JSON(fields{"candidates": []any{json.RawMessage(v.Raw)}, "usage_metadata": json.RawMessage(cmp.Or(v.Get("usage_metadata").Raw, "{}"))}))
	case v.Get(`content.#(type=="tool_use").id`).Exists():
		return gjson.ParseBytes(dialect.JSON(fields{"type": "message", "role": "assistant", "content": json.RawMessage(v.Get("content").Raw)}))
	case v.Type == gjson.String && v.Str != "":
		v = gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": v.Str}))
	case !v.Get("role").Exists() && !v.Get("type").Exists():
		return gjson.Result{}
	}
	return gjson.ParseBytes(dialect.JSON(fields{"choices": []any{fields{"message": looseMessage(v), "finish_reason": v.Get("finish_reason").String()}}}))
}
