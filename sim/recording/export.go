package recording

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/toolsys/message"
)

// Export is a form of whole conversations that other tools read.
type Export string

// The exports.
const (
	// ATIF is the Agent Trajectory Interchange Format.
	ATIF Export = "atif"
	// GenAI is OpenTelemetry's JSON: a span a turn, with its messages as attributes.
	GenAI Export = "gen_ai"
)

// The versions that are written.
const (
	atifVersion  = "ATIF-v1.6"
	genAIVersion = "https://opentelemetry.io/schemas/1.37.0"
)

// Write gives conversations as a document of that form; blank takes secrets out of a text. Answers that did not come
// to their end are left out, and counted: neither form has a mark for them.
func (form Export) Write(conversations []*Conversation, blank func(string) string) (doc []byte, left int) {
	trajectories, spans := []any{}, []any{}
	for _, c := range conversations {
		w := exporter{form: form, c: c, blank: blank, clock: time.Unix(0, 0)}
		for _, t := range c.Turns {
			if t.Ending != Whole {
				left++
				continue
			}
			w.turn(t)
		}
		if spans = append(spans, w.spans...); len(w.steps) > 0 { // a trajectory has one at least
			trajectories = append(trajectories, w.trajectory())
		}
	}
	if form == ATIF {
		return dialect.JSON(trajectories), left
	}
	return dialect.JSON(fields{"resourceSpans": []any{fields{"resource": fields{"attributes": attributes("service.name", "toolbench")},
		"scopeSpans": []any{fields{"scope": fields{"name": "toolbench"}, "spans": spans, "schemaUrl": genAIVersion}}}}}), left
}

// exporter writes one conversation.
type exporter struct {
	form  Export
	c     *Conversation
	blank func(string) string
	model string
	steps []any
	// history is what the next turn's request has, as the elements of a list in JSON: each is written once, however
	// many requests have it. spans are the turns'.
	history []byte
	spans   []any
	clock   time.Time
}

func (w *exporter) id() string {
	if w.c.Agent != "" {
		return w.c.ID + "/" + w.c.Agent
	}
	return w.c.ID + "#" + strconv.Itoa(w.c.Number)
}

func (w *exporter) trajectory() any {
	return fields{"schema_version": atifVersion, "session_id": w.id(),
		"agent": fields{"name": "recorded", "version": "unknown", "model_name": w.model}, "steps": w.steps}
}

func (w *exporter) step(step fields, t *Turn) {
	step["step_id"] = len(w.steps) + 1
	if !t.Sent.IsZero() {
		step["timestamp"] = t.Sent.UTC().Format(time.RFC3339Nano)
	}
	w.steps = append(w.steps, step)
}

func (w *exporter) turn(t *Turn) {
	for _, text := range t.UserTexts {
		w.step(fields{"source": "user", "message": w.blank(text)}, t)
		w.remember(fields{"role": "user", "parts": []any{fields{"type": "text", "content": w.blank(text)}}})
	}
	w.model = cmp.Or(t.Model, w.model)
	said, thought := w.texts(t)
	calls, results, parts, answered := []any{}, []any{}, []any{}, []any{} // the conventions want lists, also of nothing
	if thought != "" {
		parts = append(parts, fields{"type": "reasoning", "content": thought})
	}
	if said != "" {
		parts = append(parts, fields{"type": "text", "content": said})
	}
	for _, c := range t.Calls {
		input := w.input(c)
		calls = append(calls, fields{"tool_call_id": c.ID, "function_name": c.Name, "arguments": input})
		parts = append(parts, fields{"type": "tool_call", "id": c.ID, "name": c.Name, "arguments": input})
	}
	for _, r := range t.Results {
		text := w.blank(r.Text)
		results = append(results, fields{"source_call_id": r.Call, "content": text, "extra": fields{"is_error": r.IsError}})
		answered = append(answered, fields{"type": "tool_call_response", "id": r.Call, "response": text, "is_error": r.IsError})
	}
	step := fields{"source": "agent", "model_name": w.model, "message": said, "reasoning_content": thought}
	if len(calls) > 0 {
		step["tool_calls"], step["observation"] = calls, fields{"results": results}
	}
	usage := Usage{}
	if t.Usage != nil {
		usage = *t.Usage
		step["metrics"] = fields{"prompt_tokens": usage.Input + usage.Written + usage.Read, "completion_tokens": usage.Output, "cached_tokens": usage.Read}
	}
	w.step(step, t)
	if w.form == GenAI { // each span repeats what came before it
		w.span(t, parts, usage)
	}
	if len(answered) > 0 {
		w.remember(fields{"role": "tool", "parts": answered})
	}
}

// span is the turn with what its request held; what is said next is part of the history.
func (w *exporter) span(t *Turn, said []any, usage Usage) {
	finish := t.Stop
	if len(t.Calls) > 0 {
		finish = "tool_call"
	}
	answer := fields{"role": "assistant", "parts": said, "finish_reason": finish}
	if w.clock = w.clock.Add(time.Second); t.Sent.After(w.clock) {
		w.clock = t.Sent
	}
	n := len(w.spans) + 1
	w.spans = append(w.spans, fields{"traceId": fmt.Sprintf("%032x", w.c.Number), "spanId": fmt.Sprintf("%08x%08x", w.c.Number, n), "name": "chat " + w.model, "kind": 3,
		"startTimeUnixNano": strconv.FormatInt(w.clock.UnixNano(), 10), "endTimeUnixNano": strconv.FormatInt(w.clock.UnixNano()+1, 10),
		"attributes": attributes("gen_ai.operation.name", "chat", "gen_ai.conversation.id", w.id(), "gen_ai.request.model", w.model, "gen_ai.response.model", w.model, "gen_ai.response.id", t.ID,
			"gen_ai.usage.input_tokens", usage.Input+usage.Written+usage.Read, "gen_ai.usage.output_tokens", usage.Output,
			"gen_ai.usage.cache_read.input_tokens", usage.Read, "gen_ai.usage.cache_creation.input_tokens", usage.Written,
			"gen_ai.input.messages", "["+string(bytes.TrimPrefix(w.history, []byte(",")))+"]", "gen_ai.output.messages", string(dialect.JSON([]any{answer})))})
	w.remember(answer)
}

// remember adds a message to the history.
func (w *exporter) remember(message fields) {
	w.history = append(append(w.history, ','), dialect.JSON(message)...)
}

// texts are what a turn said and thought.
func (w *exporter) texts(t *Turn) (said, thought string) {
	var blocks message.Assembler
	for _, e := range t.Events {
		if _, err := blocks.Add(e.Data); err != nil {
			break // what came before it counts
		}
	}
	reply, _ := blocks.End() // a whole turn has one
	for _, b := range reply.Message.Content {
		switch b.Type {
		case "text":
			said += b.Text
		case "thinking":
			thought += gjson.GetBytes(b.Raw, "thinking").String()
		}
	}
	return w.blank(said), w.blank(thought)
}

// input is a call's input without its secrets.
func (w *exporter) input(c Call) json.RawMessage {
	if text := w.blank(string(c.Input)); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("{}")
}

// attributes are names and values as OpenTelemetry's JSON has them.
func attributes(pairs ...any) (out []any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		value := fields{"stringValue": pairs[i+1]}
		if n, ok := pairs[i+1].(int); ok {
			value = fields{"intValue": strconv.Itoa(n)}
		}
		out = append(out, fields{"key": pairs[i], "value": value})
	}
	return out
}
