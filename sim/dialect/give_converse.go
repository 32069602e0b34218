package dialect

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolbench/sim/stream"
)

// converseGiver writes Bedrock's Converse.
type converseGiver struct{}

func (converseGiver) event(kind string, members ...any) []stream.Event {
	return []stream.Event{{Type: kind, Data: object(members...)}}
}

func (c converseGiver) start(*Giver) []stream.Event {
	return c.event("messageStart", "role", "assistant")
}

// begin opens calls alone: a block of text has no start of its own there.
func (c converseGiver) begin(g *Giver, b *given) []stream.Event {
	if b.kind != "tool_use" {
		return nil
	}
	return c.event("contentBlockStart", "contentBlockIndex", slices.Index(g.blocks, b),
		"start", object("toolUse", object("toolUseId", b.id, "name", b.name)))
}

func (c converseGiver) piece(g *Giver, b *given, piece string) []stream.Event {
	delta := object("text", text(piece))
	switch b.kind {
	case "thinking":
		delta = object("reasoningContent", object("text", text(piece)))
	case "tool_use":
		delta = object("toolUse", object("input", text(piece)))
	}
	return c.delta(g, b, delta)
}

func (c converseGiver) delta(g *Giver, b *given, delta json.RawMessage) []stream.Event {
	return c.event("contentBlockDelta", "contentBlockIndex", slices.Index(g.blocks, b), "delta", delta)
}

// end closes a block, behind the signature of one of thinking.
func (c converseGiver) end(g *Giver, b *given) (out []stream.Event) {
	if b.kind == "thinking" && b.signature != "" {
		out = c.delta(g, b, object("reasoningContent", object("signature", b.signature)))
	}
	return append(out, c.event("contentBlockStop", "contentBlockIndex", slices.Index(g.blocks, b))...)
}

func (c converseGiver) finish(g *Giver) []stream.Event {
	return append(c.event("messageStop", "stopReason", c.stop(g)), c.event("metadata", "usage", c.usage(g), "metrics", c.metrics())...)
}

func (converseGiver) stop(g *Giver) string {
	if g.stop == "refusal" {
		return "content_filtered"
	}
	return cmp.Or(g.stop, "end_turn")
}

// usage gives the counts of tokens; the cache's parts are no input there, as in the Messages API.
func (converseGiver) usage(g *Giver) json.RawMessage {
	return object("inputTokens", g.input-g.cached-g.wrote, "outputTokens", g.output, "totalTokens", g.input+g.output,
		"cacheReadInputTokens", g.cached, "cacheWriteInputTokens", g.wrote)
}

func (converseGiver) metrics() json.RawMessage { return object("latencyMs", 1) }

func (c converseGiver) document(g *Giver) json.RawMessage {
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
