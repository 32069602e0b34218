package dialect

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"toolbench/sim/stream"
)

// chatEncoder writes Chat Completions.
type chatEncoder struct {
	// whole: the calls come in one chunk, as these models' providers send them, whose clients refuse pieces.
	whole bool
}

var wholeCalls = regexp.MustCompile(`(?i)grok|mistral|ministral|magistral|codestral|devstral|pixtral|voxtral`)

var null = json.RawMessage("null")

func (chatEncoder) chunk(g *Encoder, delta json.RawMessage, stop string) stream.Event {
	reason := null
	if stop != "" {
		reason = JSON(stop)
	}
	return stream.Event{Data: object("id", "chatcmpl-"+g.id, "object", "chat.completion.chunk", "created", 0, "model", g.Model,
		"choices", []json.RawMessage{object("index", 0, "delta", delta, "finish_reason", reason)})}
}

func (c *chatEncoder) start(g *Encoder) []stream.Event {
	c.whole = wholeCalls.MatchString(g.Model)
	return []stream.Event{c.chunk(g, object("role", "assistant", "content", text("")), "")}
}

func (c chatEncoder) begin(g *Encoder, b *encodedBlock) []stream.Event {
	if b.kind != "tool_use" || c.whole {
		return nil
	}
	call := b.call("", "index", slices.Index(g.calls(), b))
	return []stream.Event{c.chunk(g, object("tool_calls", []json.RawMessage{call}), "")}
}

func (b *encodedBlock) call(written string, before ...any) json.RawMessage {
	kind, input := b.called()
	return object(append(before, "id", b.id, "type", kind, kind, object("name", b.name, input, text(written)))...)
}

// called is the type of a call, and the name of its input.
func (b *encodedBlock) called() (kind, input string) {
	if b.free {
		return "custom", "input"
	}
	return "function", "arguments"
}

func (c chatEncoder) piece(g *Encoder, b *encodedBlock, piece string) []stream.Event {
	delta := object("content", piece)
	switch b.kind {
	case "thinking":
		delta = object("reasoning_content", piece)
	case "tool_use":
		if c.whole {
			return nil
		}
		kind, input := b.called()
		delta = object("tool_calls", []json.RawMessage{object("index", slices.Index(g.calls(), b), kind, object(input, piece))})
	}
	return []stream.Event{c.chunk(g, delta, "")}
}

func (chatEncoder) end(*Encoder, *encodedBlock) []stream.Event { return nil }

func (c chatEncoder) finish(g *Encoder) []stream.Event {
	var out []stream.Event
	if calls := g.calls(); c.whole && len(calls) > 0 {
		all := each(calls, func(b *encodedBlock) json.RawMessage { return b.call(b.written(), "index", slices.Index(calls, b)) })
		out = append(out, c.chunk(g, object("tool_calls", all), ""))
	}
	out = append(out, c.chunk(g, json.RawMessage("{}"), c.stop(g)))
	if g.Usage {
		out = append(out, stream.Event{Data: object("id", "chatcmpl-"+g.id, "object", "chat.completion.chunk", "created", 0, "model", g.Model,
			"choices", json.RawMessage("[]"), "usage", c.usage(g))})
	}
	return append(out, stream.Event{Data: []byte("[DONE]")})
}

func (chatEncoder) stop(g *Encoder) string {
	return cmp.Or(map[string]string{"tool_use": "tool_calls", "max_tokens": "length", windowFull: "length", "refusal": "content_filter"}[g.stop], "stop")
}

func (chatEncoder) usage(g *Encoder) json.RawMessage {
	return object("prompt_tokens", g.input, "completion_tokens", g.output, "total_tokens", g.input+g.output,
		"prompt_tokens_details", object("cached_tokens", g.cached, "cache_write_tokens", g.wrote))
}

func (c chatEncoder) document(g *Encoder) json.RawMessage {
	content := null
	if said := g.plain("text"); said != "" || len(g.calls()) == 0 {
		content = JSON(said)
	}
	calls := each(g.calls(), func(b *encodedBlock) json.RawMessage { return b.call(b.written()) })
	message := object("role", "assistant", "content", content, "reasoning_content", g.plain("thinking"), "tool_calls", calls, "refusal", null)
	return object("id", "chatcmpl-"+g.id, "object", "chat.completion", "created", 0, "model", g.Model,
		"choices", []json.RawMessage{object("index", 0, "message", message, "logprobs", null, "finish_reason", c.stop(g))}, "usage", c.usage(g))
}

// geminiEncoder writes generateContent's answers, in which calls come whole.
type geminiEncoder struct{}

func (c geminiEncoder) chunk(g *Encoder, part json.RawMessage, stop string) []stream.Event {
	return []stream.Event{{Data: c.answer(g, []json.RawMessage{part}, stop)}}
}

func (geminiEncoder) answer(g *Encoder, parts []json.RawMessage, stop string) json.RawMessage {
	var cached any = json.RawMessage(nil) // without a cache there is no word of it
	if g.cached > 0 {
		cached = g.cached
	}
	candidate := object("content", object("parts", listOf(parts), "role", "model"), "finishReason", stop, "index", 0)
	return object("candidates", []json.RawMessage{candidate}, "usageMetadata", object("promptTokenCount", g.input, "candidatesTokenCount", g.output,
		"totalTokenCount", g.input+g.output, "cachedContentTokenCount", cached), "modelVersion", g.Model, "responseId", cmp.Or(g.id, "response"))
}

func (geminiEncoder) start(*Encoder) []stream.Event                { return nil }
func (geminiEncoder) begin(*Encoder, *encodedBlock) []stream.Event { return nil }

func (c geminiEncoder) piece(g *Encoder, b *encodedBlock, piece string) []stream.Event {
	if b.kind == "tool_use" {
		return nil
	}
	return c.chunk(g, c.part(b, piece), "")
}

func (c geminiEncoder) end(g *Encoder, b *encodedBlock) []stream.Event {
	if b.kind != "tool_use" {
		return nil
	}
	return c.chunk(g, c.part(b, ""), "")
}

func (geminiEncoder) part(b *encodedBlock, piece string) json.RawMessage {
	switch b.kind {
	case "tool_use":
		return object("functionCall", object("name", b.name, "args", b.args()), "thoughtSignature", b.signature)
	case "thinking":
		return object("text", text(piece), "thought", true)
	}
	return object("text", text(piece))
}

func (c geminiEncoder) finish(g *Encoder) []stream.Event {
	return c.chunk(g, object("text", text("")), c.stop(g))
}

func (geminiEncoder) stop(g *Encoder) string {
	return cmp.Or(map[string]string{"max_tokens": "MAX_TOKENS", windowFull: "MAX_TOKENS", "refusal": "SAFETY"}[g.stop], "STOP")
}

func (c geminiEncoder) document(g *Encoder) json.RawMessage {
	parts := each(g.blocks, func(b *encodedBlock) json.RawMessage { return c.part(b, b.text.String()) })
	return c.answer(g, parts, c.stop(g))
}
