package dialect

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// Bedrock's Converse API, and models that follow it through InvokeModel, write the
// same as the Messages API in other words: members of a block stand for its type. Here
// those words are translated, so that all that follows has one kind.

// isConverse reports whether a request's body is in those words, not the Messages API's.
func isConverse(v gjson.Result) bool {
	if v.Get("toolConfig").IsObject() || v.Get("inferenceConfig").IsObject() {
		return true
	}
	for _, m := range v.Get("messages").Array() {
		for _, b := range m.Get("content").Array() {
			return b.IsObject() && !b.Get("type").Exists() && converseKind(b) != ""
		}
	}
	return false
}

// converseKinds are the members that identify a content block.
var converseKinds = []string{"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "cachePoint", "guardContent", "image", "document", "video", "audio", "searchResult"}

func converseKind(b gjson.Result) string {
	i := slices.IndexFunc(converseKinds, func(kind string) bool { return b.Get(kind).Exists() })
	if i < 0 {
		return ""
	}
	return converseKinds[i]
}

// marked puts a cache breakpoint after the last of some objects.
func marked(list []json.RawMessage) {
	if n := len(list); n > 0 && !gjson.GetBytes(list[n-1], "cache_control").Exists() {
		list[n-1] = append(list[n-1][:len(list[n-1])-1], `,"cache_control":{"type":"ephemeral"}}`...)
	}
}

// converseRequest is a request's body in the Messages API's words, its members in the
// order in which they make up a prompt.
func converseRequest(v gjson.Result) gjson.Result {
	var tools, messages []json.RawMessage
	for _, tool := range v.Get("toolConfig.tools").Array() {
		name := tool.Get("systemTool.name").String()
		switch spec := tool.Get("toolSpec"); {
		case tool.Get("cachePoint").Exists():
			marked(tools)
		case spec.Exists():
			tools = append(tools, object("name", spec.Get("name").String(),
				"description", spec.Get("description").String(), "input_schema", schemaOf(spec.Get("inputSchema.json"))))
		case tool.Get("systemTool").Exists():
			tools = append(tools, object("name", name, "type", name))
		}
	}
	for _, m := range v.Get("messages").Array() {
		messages = append(messages, object("role", text(m.Get("role").String()), "content", listOf(converseBlocks(m.Get("content")))))
	}
	return gjson.ParseBytes(object("max_tokens", raw(v.Get("inferenceConfig.maxTokens")),
		"tools", tools, "system", converseBlocks(v.Get("system")), "messages", messages))
}

// schemaOf gives a tool's schema, which some models take as a text.
func schemaOf(v gjson.Result) json.RawMessage {
	if v.Type == gjson.String && gjson.Valid(v.Str) {
		return json.RawMessage(v.Str)
	}
	return raw(v)
}

// converseReply is a whole answer in the Messages API's words.
func converseReply(v gjson.Result, from Origin) gjson.Result {
	return gjson.ParseBytes(object("type", "message", "id", from.ID, "role", "assistant", "model", from.Model,
		"content", listOf(converseBlocks(v.Get("output.message.content"))),
		"stop_reason", v.Get("stopReason").String(), "usage", converseUsage(v.Get("usage"))))
}

// converseUsage reads the usage, which models give under two sets of names.
func converseUsage(v gjson.Result) json.RawMessage {
	return object(
		"input_tokens", count(v, "inputTokens"),
		"cache_creation_input_tokens", count(v, "cacheWriteInputTokens", "cacheWriteInputTokenCount"),
		"cache_read_input_tokens", count(v, "cacheReadInputTokens", "cacheReadInputTokenCount"),
		"output_tokens", count(v, "outputTokens"),
	)
}

func converseBlocks(content gjson.Result) []json.RawMessage {
	var out []json.RawMessage
	for _, b := range content.Array() {
		if kind := converseKind(b); kind == "cachePoint" {
			marked(out)
		} else {
			out = append(out, converseBlock(kind, b))
		}
	}
	return out
}

func converseBlock(kind string, b gjson.Result) json.RawMessage {
	v := b.Get(kind)
	switch kind {
	case "text":
		return textBlock(v.String())
	case "toolUse":
		return object("type", cmp.Or(v.Get("type").String(), "tool_use"), "id", v.Get("toolUseId").String(),
			"name", v.Get("name").String(), "input", raw(v.Get("input")))
	case "toolResult":
		return object("type", cmp.Or(v.Get("type").String(), "tool_result"), "tool_use_id", v.Get("toolUseId").String(),
			"content", converseResult(v.Get("content")), "is_error", v.Get("status").String() == "error")
	case "reasoningContent":
		if r := v.Get("reasoningText"); r.Exists() {
			return object("type", "thinking", "thinking", text(r.Get("text").String()), "signature", r.Get("signature").String())
		}
		return object("type", "redacted_thinking", "data", v.Get("redactedContent").String())
	case "citationsContent":
		all := ""
		for _, c := range v.Get("content.#.text").Array() {
			all += c.String()
		}
		return textBlock(all)
	case "guardContent":
		return textBlock(v.Get("text.text").String())
	case "":
		return object("type", "unknown")
	}
	return object("type", kind, "name", v.Get("name").String(), "source", raw(v.Get("source")))
}

// converseResult also takes results that are JSON: they are their text.
func converseResult(content gjson.Result) []json.RawMessage {
	var out []json.RawMessage
	for _, b := range content.Array() {
		if v := b.Get("json"); v.Exists() {
			out = append(out, textBlock(v.Raw))
			continue
		}
		out = append(out, converseBlock(converseKind(b), b))
	}
	return out
}
