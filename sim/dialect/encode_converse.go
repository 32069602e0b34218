package dialect

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolbench/sim/stream"
)

// converseEncoder writes Bedrock's Converse.
type converseEncoder struct{}

func (converseEncoder) event(kind string, members ...any) []stream.Event {
	return []stream.Event{{Type: kind, Data: object(members...)}}
}

func (c converseEncoder) start(*Encoder) []stream.Event {
	return c.event("messageStart", "role", "assistant")
}

// begin opens calls alone: a block of text has no start of its own there.
func (c converseEncoder) begin(g *Encoder, b *encodedBlock) []stream.Event {
	if b.kind != "tool_use" {
		return nil
	}
	return c.event("contentBlockStart", "contentBlockIndex", slices.Index(g.blocks, b),
		"start", object("toolUse", object("toolUseId", b.id, "name", b.name)))
}

func (c converseEncoder) piece(g *Encoder, b *encodedBlock, piece string) []stream.Event {
	delta := object("text", text(piece))
	switch b.kind {
	case "thinking":
		delta = object("reasoningContent", object("text", text(piece)))
	case "tool_use":
		delta = object("toolUse", object("input", text(piece)))
	}
	return c.delta(g, b, delta)
}

func (c converseEncoder) delta(g *Encoder, b *encodedBlock, delta json.RawMessage) []stream.Event {
	return c.event("contentBlockDelta", "contentBlockIndex", slices.Index(g.blocks, b), "delta", delta)
}

// end closes a block, behind the signature of one of thinking.
func (c converseEncoder) end(g *Encoder, b *encodedBlock) (out []stream.Event) {
	if b.kind == "thinking" && b.signature != "" {
		out = c.delta(g, b, object("reasoningContent", object("signature", b.signature)))
	}
	return append(out, c.event("contentBlockStop", "contentBlockIndex", slices.Index(g.blocks, b))...)
}

func (c converseEncoder) finish(g *Encoder) []stream.Event {
	return append(c.event("messageStop", "stopReason", c.stop(g)), c.event("metadata", "usage", c.usage(g), "metrics", c.metrics())...)
}

func (converseEncoder) stop(g *Encoder) string {
	if g.stop == "refusal" {
		return "content_filtered"
	}
	return cmp.Or(g.stop, "end_turn")
}

// usage gives the counts of tokens; the cache's parts are no input there, as in the Messages API.
func (converseEncoder) usage(g *Encoder) json.RawMessage {
	return object("inputTokens", g.input-g.cached-g.wrote, "outputTokens", g.output, "totalTokens", g.input+g.output,
		"cacheReadInputTokens", g.cached, "cacheWriteInputTokens", g.wrote)
}

func (converseEncoder) metrics() json.RawMessage { return object("latencyMs", 1) }

func (c converseEncoder) document(g *Encoder) json.RawMessage {
	var content []json.RawMessage
	for _, b := range g.blocks {
		switch b.kind {
		case "tool_use":
			content = append(content, object("toolUse", object("toolUseId", b.id, "name", b.name, "input", b.args())))
		case "thinking":
			content = append(content, object("reasoningContent", object("reasoningText", object("text", text(b.text.String()), "signature", b.signature))))
		default:
			content = append(content, object("text", text(b.text.String())))
		}
	}
	return object("output", object("message", object("role", "assistant", "content", listOf(content))),
		"stopReason", c.stop(g), "usage", c.usage(g), "metrics", c.metrics())
}
