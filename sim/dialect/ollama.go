package dialect

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// Ollama's own chat: the messages of Chat Completions, with inputs that are objects and
// pictures beside the text. A stream is an answer a line, of which the last is done. Ids of
// calls came late to it, and a result may name no more than its tool.

// isOllama reports whether v is an answer, or a line of a stream.
func isOllama(v gjson.Result) bool {
	return v.Get("message").IsObject() && v.Get("done").IsBool() && v.Get("model").Exists()
}

// ollamaOnly are members that only requests of Ollama's chat have.
var ollamaOnly = []string{"keep_alive", "options", "think"}

func ollamaResults(m gjson.Result, ids *IDs) []json.RawMessage {
	id := ids.result(m.Get("tool_call_id").String(), cmp.Or(m.Get("tool_name").String(), m.Get("name").String()))
	return []json.RawMessage{object("type", "tool_result", "tool_use_id", text(id), "content", ollamaParts(m))}
}

// ollamaParts are a message's text and pictures.
func ollamaParts(m gjson.Result) []json.RawMessage {
	return append(chatParts(m.Get("content")), each(m.Get("images").Array(), func(picture gjson.Result) json.RawMessage {
		return object("type", "image", "source", source(picture.String()))
	})...)
}

// ollamaAnswer is the blocks of a message that the model wrote.
func ollamaAnswer(m gjson.Result, ids *IDs) []json.RawMessage {
	said := chatAnswer(gjson.ParseBytes(object("reasoning", m.Get("thinking").String(), "content", m.Get("content").String())), ids)
	return append(said, each(m.Get("tool_calls").Array(), func(call gjson.Result) json.RawMessage { return ollamaCall(call, ids) })...)
}

func ollamaCall(call gjson.Result, ids *IDs) json.RawMessage {
	name, in := call.Get("function.name").String(), input(call.Get("function.arguments"))
	return object("type", "tool_use", "id", text(ids.call(call.Get("id").String(), name, gjson.ParseBytes(in))), "name", text(name), "input", in)
}

func ollamaUsage(v gjson.Result) json.RawMessage {
	return usage(count(v, "prompt_eval_count"), 0, 0, count(v, "eval_count"))
}

// ollamaStream translates the lines of a stream. Calls come whole.
type ollamaStream struct{ chatStream }

func (o *ollamaStream) add(_ string, v gjson.Result) {
	if failed := v.Get("error"); failed.Exists() {
		o.w.fail("api_error", failed.String())
		return
	}
	if !o.w.begun {
		o.text, o.thought = 0, 0
		o.w.start("", v.Get("model").String())
	}
	m := v.Get("message")
	o.thinks(m.Get("thinking").String())
	o.writes(m.Get("content").String())
	for _, call := range m.Get("tool_calls").Array() {
		o.rest()
		o.w.block(gjson.ParseBytes(ollamaCall(call, o.w.IDs)))
	}
	if v.Get("done").Bool() {
		o.w.usage = ollamaUsage(v)
		o.w.ended(v.Get("done_reason").String())
		o.w.finish()
	}
}

// ollamaEncoder writes Ollama's answers, in which calls come whole.
type ollamaEncoder struct{}

// line is a part of the answer, as the whole is.
func (ollamaEncoder) line(g *Encoder, message json.RawMessage, rest ...any) json.RawMessage {
	return object(append([]any{"model", g.Model, "created_at", "1970-01-01T00:00:00Z", "message", message}, rest...)...)
}

func (o ollamaEncoder) part(g *Encoder, members ...any) []stream.Event {
	message := object(append([]any{"role", "assistant"}, members...)...)
	return []stream.Event{{Data: o.line(g, message, "done", json.RawMessage("false"))}}
}

func (ollamaEncoder) start(*Encoder) []stream.Event                { return nil }
func (ollamaEncoder) begin(*Encoder, *encodedBlock) []stream.Event { return nil }

func (o ollamaEncoder) piece(g *Encoder, b *encodedBlock, piece string) []stream.Event {
	switch b.kind {
	case "text":
		return o.part(g, "content", text(piece))
	case "thinking":
		return o.part(g, "content", text(""), "thinking", piece)
	}
	return nil
}

func (o ollamaEncoder) end(g *Encoder, b *encodedBlock) []stream.Event {
	if b.kind != "tool_use" {
		return nil
	}
	return o.part(g, "content", text(""), "tool_calls", []json.RawMessage{o.call(b)})
}

func (ollamaEncoder) call(b *encodedBlock) json.RawMessage {
	return object("id", b.id, "function", object("name", b.name, "arguments", b.args()))
}

func (o ollamaEncoder) finish(g *Encoder) []stream.Event {
	return []stream.Event{{Data: o.last(g, object("role", "assistant", "content", text("")))}}
}

// last is the line that ends an answer.
func (o ollamaEncoder) last(g *Encoder, message json.RawMessage) json.RawMessage {
	reason := cmp.Or(map[string]string{"max_tokens": "length", windowFull: "length"}[g.stop], "stop")
	return o.line(g, message, "done", true, "done_reason", reason, "prompt_eval_count", g.input, "eval_count", g.output)
}

func (o ollamaEncoder) document(g *Encoder) json.RawMessage {
	said, calls := text(g.plain("text")), each(g.calls(), o.call)
	return o.last(g, object("role", "assistant", "content", said, "thinking", g.plain("thinking"), "tool_calls", calls))
}
