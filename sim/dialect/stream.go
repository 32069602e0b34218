package dialect

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// Stream turns the events of any provider's streams into those of the Messages API.
// Which API it is shows in the events; those of the Messages API pass as they are.
type Stream struct {
	Origin
	// Emit takes the events.
	Emit func(stream.Event) error

	api  API
	w    *writer
	part translator
}

// translator is one API's part of a Stream. It takes an event's type and its data; errors stay with its writer.
type translator interface {
	add(kind string, v gjson.Result)
}

// API is that of the events so far, Messages where nothing was translated.
func (s *Stream) API() API { return cmp.Or(s.api, Messages) }

// Add takes the next event.
func (s *Stream) Add(e stream.Event) error {
	api := s.apiOf(e)
	if api == Messages || api == "" || !json.Valid(e.Data) {
		return s.Emit(e)
	}
	if api != s.api {
		if err := s.End(); err != nil {
			return err
		}
		s.Origin = s.complete()
		s.w = &writer{Origin: s.Origin, emit: s.Emit}
		s.api, s.part = api, translatorOf(api, s.w)
	}
	s.w.at = e.At
	s.part.add(e.Type, gjson.ParseBytes(e.Data))
	return s.w.err
}

// End closes an answer that the model has ended; one that is cut stays open.
func (s *Stream) End() error {
	if s.w == nil {
		return nil
	}
	s.w.finish()
	return s.w.err
}

// Done takes the mark that ends a stream of Chat Completions, and with it a message that has no stop reason.
func (s *Stream) Done() error {
	if s.api == Chat && s.w.begun && !s.w.stopped {
		s.w.ended("stop")
	}
	return s.End()
}

func translatorOf(api API, w *writer) translator {
	switch api {
	case Chat:
		return &chatStream{w: w}
	case Responses:
		return &responsesStream{w: w}
	case Gemini:
		return &geminiStream{w: w}
	case Ollama:
		return &ollamaStream{chatStream{w: w}}
	case Cohere:
		return &cohereStream{chatStream{w: w}}
	case Interactions:
		return &stepStream{responsesStream{w: w}}
	}
	return &converser{w: w}
}

// apiOf is the API of an event. One that shows none, as an error, is of the API of those before it.
func (s *Stream) apiOf(e stream.Event) API {
	if IsConverseEvent(e.Type) {
		return Converse
	}
	v := gjson.ParseBytes(e.Data)
	if api := EventAPI(v); api != "" {
		return api
	}
	if s.api != "" && s.api != Converse {
		return s.api
	}
	if v.Get("choices.0.delta").IsObject() { // beside the message so far, as Perplexity has it
		return Chat
	}
	if e.Type == "" || e.Type == "error" {
		if v.Get("error").IsObject() && v.Get("type").String() != "error" {
			return Chat
		} else if e.Type == "error" && !v.Get("error").Exists() && v.Get("message").Exists() {
			return Responses
		}
	}
	return ""
}

// EventAPI is the API of an event or a piece of a stream by its data alone: "" where
// they do not show it, as with the Messages API's.
func EventAPI(v gjson.Result) API {
	switch {
	case strings.HasPrefix(v.Get("type").String(), "response."):
		return Responses
	case v.Get("object").String() == "chat.completion.chunk", isChoice(v) && !v.Get("type").Exists(), within(v).Exists():
		return Chat
	case isGenerated(v):
		return Gemini
	case isOllama(v):
		return Ollama
	case slices.Contains(cohereEvents, Either(v, "event_type", "type").String()) &&
		(v.Get("delta").IsObject() || v.Get("index").Exists() || v.Get("event_type").Exists()): // other libraries have events of these types too
		return Cohere
	case slices.Contains(stepEvents, v.Get("event_type").Str):
		return Interactions
	}
	return ""
}

// isChoice reports whether a piece has a choice's next part, or none as the first and the last
// may; lists of choices that are something else are those of a question.
func isChoice(v gjson.Result) bool {
	first := v.Get("choices.0")
	return v.Get("choices").IsArray() && (!first.Exists() || Either(first, "delta", "index", "finish_reason", "text").Exists() && !first.Get("message").IsObject())
}

// writer writes the events of one message after the other. Its first error stays.
type writer struct {
	Origin
	emit func(stream.Event) error

	at    time.Duration
	err   error
	begun bool
	// next is the index of the next block, open those that are not complete.
	next  int
	open  map[int]bool
	calls bool
	// stop is the model's own stop reason, once it is known that it ended.
	stop    string
	stopped bool
	usage   json.RawMessage
}

// put emits an event of the Messages API.
func (w *writer) put(kind string, members ...any) {
	if w.err == nil {
		w.err = w.emit(stream.Event{At: w.at, Type: kind, Data: object(append([]any{"type", kind}, members...)...)})
	}
}

func (w *writer) start(id, model string) {
	if w.begun {
		return
	}
	w.begun, w.next, w.open, w.calls = true, 0, map[int]bool{}, false
	w.stop, w.stopped, w.usage = "", false, nil
	w.put("message_start", "message", object("type", "message", "id", cmp.Or(id, w.ID), "role", "assistant", "model", cmp.Or(model, w.Model), "content", listOf(nil)))
}

// begin opens a block and gives its index.
func (w *writer) begin(block json.RawMessage) int {
	n := w.next
	w.next++
	w.open[n] = true
	w.put("content_block_start", "index", n, "content_block", block)
	return n
}

// call opens a call that the client has to answer, with the signature that it sends back, if there is one.
func (w *writer) call(id, name, signature string) int {
	w.calls = true
	return w.begin(object("type", "tool_use", "id", text(id), "name", text(name), "input", json.RawMessage("{}"), Signature, signature))
}

func (w *writer) delta(n int, kind, member, piece string) {
	w.put("content_block_delta", "index", n, "delta", object("type", kind, member, text(piece)))
}

func (w *writer) input(n int, piece string) {
	if piece != "" {
		w.delta(n, "input_json_delta", "partial_json", piece)
	}
}

// close ends a block, of which nothing is done for one that is not open.
func (w *writer) close(n int) {
	if w.open[n] {
		delete(w.open, n)
		w.put("content_block_stop", "index", n)
	}
}

// block writes a block that came in one piece.
func (w *writer) block(b gjson.Result) {
	switch b.Get("type").Str {
	case "text":
		n := w.begin(textBlock(""))
		w.delta(n, "text_delta", "text", b.Get("text").String())
		w.close(n)
	case "tool_use":
		n := w.call(b.Get("id").String(), b.Get("name").String(), b.Get(Signature).String())
		w.input(n, b.Get("input").Raw)
		w.close(n)
	default:
		w.close(w.begin(raw(b)))
	}
}

// ended notes that the model has ended, for a reason in its provider's words.
func (w *writer) ended(reason string) { w.stop, w.stopped = reason, true }

// fail ends the message with an error.
func (w *writer) fail(kind, why string) {
	if w.err == nil {
		e := Failure(kind, why)
		e.At = w.at
		w.err = w.emit(e)
	}
	w.begun, w.stopped = false, false
}

// finish closes a message that the model has ended.
func (w *writer) finish() {
	if !w.begun || !w.stopped {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(w.open)) {
		w.close(n)
	}
	w.put("message_delta", "delta", object("stop_reason", StopReason(w.stop, w.calls)), "usage", w.usage)
	w.put("message_stop")
	w.begun, w.stopped = false, false
}

// stops are the stop reasons of all APIs in the Messages API's words.
var stops = map[string]string{
	"requires_action": "tool_use", "stop": "end_turn", "eos": "end_turn", "eos_token": "end_turn", "model_length": "max_tokens", "tool_calls": "tool_use", "tool_call": "tool_use", "function_call": "tool_use", "length": "max_tokens", "content_filter": "refusal",
	"content_filtered": "refusal", "guardrail_intervened": "refusal",
	"completed": "end_turn", "max_output_tokens": "max_tokens", "COMPLETE": "end_turn", "TOOL_CALL": "tool_use", "STOP_SEQUENCE": "stop_sequence",
	"STOP": "end_turn", "MAX_TOKENS": "max_tokens", "SAFETY": "refusal", "RECITATION": "refusal", "BLOCKLIST": "refusal",
	"PROHIBITED_CONTENT": "refusal", "SPII": "refusal", "IMAGE_SAFETY": "refusal",
}

// StopReason translates a stop reason; an unknown one stays as it is. Many providers
// end a message with calls as one without.
func StopReason(reason string, calls bool) string {
	translated, known := stops[reason]
	switch {
	case calls && (translated == "end_turn" || reason == ""):
		return "tool_use"
	case known:
		return translated
	}
	return reason
}
