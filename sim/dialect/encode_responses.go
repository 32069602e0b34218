package dialect

import (
	"encoding/json"
	"slices"

	"toolbench/sim/stream"
)

// responsesEncoder writes Responses: each block is an item, and each event has a number.
type responsesEncoder struct{ number int }

func (r *responsesEncoder) event(kind string, members ...any) stream.Event {
	members = append([]any{"type", kind, "sequence_number", r.number}, members...)
	r.number++
	return stream.Event{Type: kind, Data: object(members...)}
}

func (r *responsesEncoder) start(g *Encoder) []stream.Event {
	g.stop = ""
	return []stream.Event{
		r.event("response.created", "response", r.response(g, "in_progress", nil)),
		r.event("response.in_progress", "response", r.response(g, "in_progress", nil)),
	}
}

// item is a block as an item of the output; done is false while it is written.
func (r *responsesEncoder) item(g *Encoder, b *encodedBlock, done bool) json.RawMessage {
	status, written := "in_progress", ""
	if done {
		status, written = "completed", b.written()
	}
	id := g.itemID(b)
	switch {
	case b.free:
		return object("id", id, "type", "custom_tool_call", "status", status, "input", text(written), "call_id", b.id, "name", b.name)
	case b.kind == "tool_use":
		return object("id", id, "type", "function_call", "status", status, "arguments", text(written), "call_id", b.id, "name", b.name)
	case b.kind == "thinking":
		var summary []json.RawMessage
		if done {
			summary = append(summary, object("type", "summary_text", "text", text(written)))
		}
		return object("id", id, "type", "reasoning", "summary", listOf(summary), "encrypted_content", b.signature)
	}
	var content []json.RawMessage
	if done {
		content = append(content, outputText(written))
	}
	return object("id", id, "type", "message", "status", status, "content", listOf(content), "role", "assistant")
}

func outputText(s string) json.RawMessage {
	none := json.RawMessage("[]")
	return object("type", "output_text", "annotations", none, "logprobs", none, "text", text(s))
}

// at are the members that place an event: its item, and the part within it.
func (r *responsesEncoder) at(g *Encoder, b *encodedBlock) []any {
	place := []any{"item_id", g.itemID(b), "output_index", slices.Index(g.blocks, b)}
	if part := map[string]string{"text": "content_index", "thinking": "summary_index"}[b.kind]; part != "" {
		place = append(place, part, 0)
	}
	return place
}

func (r *responsesEncoder) begin(g *Encoder, b *encodedBlock) []stream.Event {
	n := slices.Index(g.blocks, b)
	out := []stream.Event{r.event("response.output_item.added", "output_index", n, "item", r.item(g, b, false))}
	return append(out, r.part(g, b, "added", "")...)
}

// part is the event of a block's part that begins or ends; a call has none.
func (r *responsesEncoder) part(g *Encoder, b *encodedBlock, step, written string) []stream.Event {
	switch b.kind {
	case "thinking":
		summary := object("type", "summary_text", "text", text(written))
		return []stream.Event{r.event("response.reasoning_summary_part."+step, append(r.at(g, b), "part", summary)...)}
	case "text":
		return []stream.Event{r.event("response.content_part."+step, append(r.at(g, b), "part", outputText(written))...)}
	}
	return nil
}

func (r *responsesEncoder) piece(g *Encoder, b *encodedBlock, piece string) []stream.Event {
	kind, _ := b.event()
	return []stream.Event{r.event(kind+".delta", append(r.at(g, b), "delta", text(piece))...)}
}

// kinds are the kinds of event of a block's pieces, and the members that have all of them in the end.
var kinds = map[string][2]string{"text": {"response.output_text", "text"}, "thinking": {"response.reasoning_summary_text", "text"}, "tool_use": {"response.function_call_arguments", "arguments"}}

func (b *encodedBlock) event() (kind, member string) {
	if b.free {
		return "response.custom_tool_call_input", "input"
	}
	return kinds[b.kind][0], kinds[b.kind][1]
}

func (r *responsesEncoder) end(g *Encoder, b *encodedBlock) []stream.Event {
	kind, member := b.event()
	written := b.written()
	out := []stream.Event{r.event(kind+".done", append(r.at(g, b), member, text(written))...)}
	out = append(out, r.part(g, b, "done", written)...)
	return append(out, r.event("response.output_item.done", "output_index", slices.Index(g.blocks, b), "item", r.item(g, b, true)))
}

func (r *responsesEncoder) finish(g *Encoder) []stream.Event {
	return []stream.Event{r.event("response."+r.status(g), "response", r.document(g))}
}

func (*responsesEncoder) status(g *Encoder) string {
	if incomplete[g.stop] != "" {
		return "incomplete"
	}
	return "completed"
}

// incomplete are the reasons for which a response is not complete.
var incomplete = map[string]string{"max_tokens": "max_output_tokens", windowFull: "max_output_tokens", "refusal": "content_filter"}

func (r *responsesEncoder) document(g *Encoder) json.RawMessage {
	items := each(g.blocks, func(b *encodedBlock) json.RawMessage { return r.item(g, b, true) })
	return r.response(g, r.status(g), items)
}

func (r *responsesEncoder) response(g *Encoder, status string, items []json.RawMessage) json.RawMessage {
	usage, why := null, null
	if status != "in_progress" {
		usage = object("input_tokens", g.input, "input_tokens_details", object("cached_tokens", g.cached, "cache_write_tokens", g.wrote),
			"output_tokens", g.output, "output_tokens_details", object("reasoning_tokens", 0), "total_tokens", g.input+g.output)
	}
	if status == "incomplete" {
		why = object("reason", incomplete[g.stop])
	}
	none, yes := json.RawMessage("[]"), json.RawMessage("true")
	return object("id", "resp_"+g.id, "object", "response", "created_at", 0, "status", status, "error", null, "incomplete_details", why,
		"instructions", null, "metadata", json.RawMessage("{}"), "model", g.Model, "output", listOf(items), "parallel_tool_calls", yes,
		"temperature", 1, "tool_choice", "auto", "tools", none, "top_p", 1, "usage", usage)
}
