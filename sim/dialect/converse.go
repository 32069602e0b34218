package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
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
	var tools []json.RawMessage
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
	messages := each(v.Get("messages").Array(), func(m gjson.Result) json.RawMessage {
		return object("role", text(m.Get("role").String()), "content", listOf(converseBlocks(m.Get("content"))))
	})
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
			"name", v.Get("name").String(), "input", json.RawMessage(cmp.Or(v.Get("input").Raw, "{}")))
	case "toolResult":
		return object("type", cmp.Or(v.Get("type").String(), "tool_result"), "tool_use_id", v.Get("toolUseId").String(),
			"content", converseResult(v.Get("content")), "is_error", v.Get("status").String() == "error")
	case "reasoningContent":
		if r := v.Get("reasoningText"); r.Exists() {
			return thinking(r.Get("text").String(), r.Get("signature").String())
		}
		return object("type", "redacted_thinking", "data", v.Get("redactedContent").String())
	case "citationsContent":
		return textBlock(joinedTexts(v.Get("content")))
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
		} else {
			out = append(out, converseBlock(converseKind(b), b))
		}
	}
	return out
}

// converseEvents are the types of event of Converse's streams.
var converseEvents = []string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}

// converseFailures are the errors that come in place of one.
var converseFailures = []string{"internalServerException", "modelStreamErrorException", "serviceUnavailableException", "throttlingException", "validationException"}

// ConverseEvent finds the event in an object whose only member names it, but for what the service adds.
func ConverseEvent(v gjson.Result) (e stream.Event, ok bool) {
	members := 0
	v.ForEach(func(name, _ gjson.Result) bool {
		if name.Str != "p" && !strings.HasPrefix(name.Str, "amazon-bedrock-") {
			members++
		}
		return members < 2
	})
	if members != 1 {
		return e, false
	}
	for _, kind := range converseEvents {
		if body := v.Get(kind); body.IsObject() {
			return stream.Event{Type: kind, Data: []byte(body.Raw)}, true
		}
	}
	for _, kind := range converseFailures {
		if body := v.Get(kind); body.IsObject() {
			return Failure(kind, body.Get("message").String()), true
		}
	}
	return e, false
}

// Failure is an error in a stream, as the Messages API has it.
func Failure(kind, text string) stream.Event {
	return stream.Event{Type: "error", Data: stream.Error{Type: kind, Message: text}.JSON()}
}

// converser translates the events of Converse's streams. A block of text has no start of its
// own there, what a message cost follows its end, and it has neither an id nor the model's name.
type converser struct{ w *writer }

// IsConverseEvent reports whether an event of that type is Converse's.
func IsConverseEvent(kind string) bool { return slices.Contains(converseEvents, kind) }

func (c *converser) add(kind string, v gjson.Result) {
	index := int(v.Get("contentBlockIndex").Int())
	switch kind {
	case "messageStart":
		c.w.finish()
		c.w.begun = false // one before it was cut
		c.w.start("", "")
	case "contentBlockStart":
		block := textBlock("")
		if kind := converseKind(v.Get("start")); kind != "" && kind != "text" { // calls name themselves there
			block = converseBlock(kind, v.Get("start"))
		}
		c.begin(index, block)
	case "contentBlockDelta":
		c.delta(index, v.Get("delta"))
	case "contentBlockStop":
		c.w.close(index) // or of nothing that was sent
	case "messageStop":
		clear(c.w.open) // what is not closed was cut
		c.w.ended(v.Get("stopReason").String())
	case "metadata":
		c.w.usage = converseUsage(v.Get("usage"))
	}
	if c.w.usage != nil {
		c.w.finish()
	}
}

// begin opens a block, and the message where that has no start of its own.
func (c *converser) begin(index int, b json.RawMessage) {
	c.w.start("", "")
	c.w.next = index
	c.w.begin(b)
}

// delta is a piece of a block, which it opens where nothing else has.
func (c *converser) delta(index int, d gjson.Result) {
	thought := d.Get("reasoningContent")
	if b := opened(d, thought); !c.w.open[index] && b != nil {
		c.begin(index, b)
	}
	if piece := conversePiece(d, thought); piece != nil {
		c.w.put("content_block_delta", "index", index, "delta", piece)
	}
}

// opened is the block that a piece is the first of; nil for a call, which is none without its name.
func opened(d, thought gjson.Result) json.RawMessage {
	switch {
	case d.Get("toolUse").Exists():
		return nil
	case thought.Get("redactedContent").Exists():
		return converseBlock("reasoningContent", d)
	case thought.Exists():
		return thinking("", "")
	}
	return textBlock("")
}

func conversePiece(d, thought gjson.Result) json.RawMessage {
	for _, p := range []struct {
		kind, member string
		v            gjson.Result
	}{
		{"text_delta", "text", d.Get("text")},
		{"input_json_delta", "partial_json", d.Get("toolUse")},
		{"signature_delta", "signature", thought.Get("signature")},
		{"thinking_delta", "thinking", thought.Get("text")},
	} {
		if p.v.IsObject() {
			p.v = p.v.Get("input")
		}
		if p.v.Exists() {
			return object("type", p.kind, p.member, text(p.v.String()))
		}
	}
	if c := d.Get("citation"); c.Exists() {
		return object("type", "citations_delta", "citation", raw(c))
	}
	return nil
}
