package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// Encoder turns the events of a Messages answer into those of another API, one by one, and into the whole document
// that a client gets which asks for no stream. Events of the Messages API pass as they are.
type Encoder struct {
	API   API
	Model string
	// Usage has Chat Completions count tokens at the end of a stream.
	Usage bool
	// Freeform reports of a tool whether the client takes its input as a text: Responses and Chat
	// Completions then have the call's only argument as that.
	Freeform func(tool string) bool

	id, stop string
	blocks   []*encodedBlock
	part     form

	input, cached, wrote, output int
}

// encodedBlock is a block as far as it was encoded.
type encodedBlock struct {
	index    int64
	kind     string // text, thinking, tool_use
	id, name string
	text     strings.Builder
	free     bool // it is a call whose input is a text for the client
	// signature is of thinking, or of a call.
	signature string
}

// form is one API's part of an Encoder: what a block's begin, piece and end, and the message's begin and end become.
type form interface {
	start(g *Encoder) []stream.Event
	begin(g *Encoder, b *encodedBlock) []stream.Event
	piece(g *Encoder, b *encodedBlock, text string) []stream.Event
	end(g *Encoder, b *encodedBlock) []stream.Event
	finish(g *Encoder) []stream.Event
	// document is the whole answer.
	document(g *Encoder) json.RawMessage
}

// windowFull is a stop reason that others word as that of an answer at its limit.
const windowFull = "model_context_window_exceeded"

// Given reports whether other APIs have blocks of a type.
func Given(kind string) bool { return kind == "text" || kind == "thinking" || kind == "tool_use" }

// forms make what writes an API; the Messages API's events stay as they are.
var forms = map[API]func() form{
	Chat:      func() form { return &chatEncoder{} },
	Responses: func() form { return &responsesEncoder{} },
	Gemini:    func() form { return geminiEncoder{} },
	Ollama:    func() form { return ollamaEncoder{} },
	Converse:  func() form { return converseEncoder{} },
}

// Add gives what an event becomes. One that is no JSON, for a fault made it so, stays.
func (g *Encoder) Add(e stream.Event) []stream.Event {
	made := forms[g.API]
	if made == nil {
		return []stream.Event{e}
	}
	if g.part == nil {
		g.part = made()
	}
	if !json.Valid(e.Data) {
		return []stream.Event{{At: e.At, Data: e.Data}}
	}
	out := g.add(e.Type, gjson.ParseBytes(e.Data))
	for i := range out {
		out[i].At = e.At
	}
	return out
}

func (g *Encoder) add(kind string, v gjson.Result) []stream.Event {
	switch kind {
	case "message_start":
		g.id, g.Model = v.Get("message.id").String(), cmp.Or(g.Model, v.Get("message.model").String())
		g.blocks = nil
		g.counted(v.Get("message.usage"))
		return g.part.start(g)
	case "content_block_start":
		block := v.Get("content_block")
		b := &encodedBlock{index: v.Get("index").Int(), kind: block.Get("type").String(), id: block.Get("id").String(), name: block.Get("name").String(), signature: cmp.Or(block.Get(Signature).String(), block.Get("signature").String())}
		if !Given(b.kind) {
			return nil // of what the provider itself ran, others have other words
		}
		b.free = b.kind == "tool_use" && g.Freeform != nil && g.Freeform(b.name)
		g.blocks = append(g.blocks, b)
		out := g.part.begin(g, b)
		if first := block.Get(b.kind).String(); first != "" {
			out = append(out, g.more(b, first)...)
		}
		if in := block.Get("input"); in.IsObject() && in.Raw != "{}" {
			out = append(out, g.more(b, in.Raw)...)
		}
		return out
	case "content_block_delta":
		b := g.block(v.Get("index").Int())
		d := v.Get("delta")
		text := cmp.Or(d.Get("text").String(), d.Get("thinking").String(), d.Get("partial_json").String())
		if b != nil {
			b.signature += d.Get("signature").String()
		}
		if b == nil || text == "" {
			return nil
		}
		return g.more(b, text)
	case "content_block_stop":
		return g.close(v.Get("index").Int())
	case "message_delta":
		g.stop = v.Get("delta.stop_reason").String()
		g.counted(v.Get("usage"))
	case "message_stop":
		return g.part.finish(g)
	case "error":
		return []stream.Event{g.failed(v.Get("error.type").String(), v.Get("error.message").String())}
	}
	return nil
}

// failed is an error within a stream.
func (g *Encoder) failed(kind, message string) stream.Event {
	status := StatusOf(kind)
	_, body := Refusal(g.API, status, kind, message)
	switch r, ok := g.part.(*responsesEncoder); {
	case ok:
		_, code := openaiKind(status, kind)
		return r.event("error", "code", code, "message", text(message), "param", null)
	case g.API == Converse:
		return Failure(kind, message)
	}
	return stream.Event{Data: body}
}

func (g *Encoder) block(index int64) *encodedBlock {
	at := slices.IndexFunc(g.blocks, func(b *encodedBlock) bool { return b.index == index })
	if at < 0 {
		return nil
	}
	return g.blocks[at]
}

func (g *Encoder) more(b *encodedBlock, text string) []stream.Event {
	b.text.WriteString(text)
	if b.free {
		return nil // the text is known when the JSON around it is whole
	}
	return g.part.piece(g, b, text)
}

// close ends a block; a call without input has an empty object.
func (g *Encoder) close(index int64) (out []stream.Event) {
	b := g.block(index)
	if b == nil {
		return nil
	}
	if b.kind == "tool_use" && b.text.Len() == 0 {
		out = g.more(b, "{}")
	}
	if b.free {
		out = g.part.piece(g, b, b.written())
	}
	return append(out, g.part.end(g, b)...)
}

// counted takes what the provider counted; the cache's part is input too elsewhere.
func (g *Encoder) counted(u gjson.Result) {
	if u.Get("input_tokens").Exists() {
		g.cached = count(u, "cache_read_input_tokens")
		g.wrote = count(u, "cache_creation_input_tokens")
		g.input = count(u, "input_tokens") + g.wrote + g.cached
	}
	g.output = max(g.output, count(u, "output_tokens"))
}

// Document is the answer as a whole, of the events so far; nil without any.
func (g *Encoder) Document() json.RawMessage {
	if g.part == nil {
		return nil
	}
	return g.part.document(g)
}

// of are the blocks of a kind.
func (g *Encoder) of(kind string) []*encodedBlock {
	return slices.DeleteFunc(slices.Clone(g.blocks), func(b *encodedBlock) bool { return b.kind != kind })
}

// plain joins the texts of a kind of block.
func (g *Encoder) plain(kind string) string {
	return strings.Join(each(g.of(kind), (*encodedBlock).written), "")
}

// calls are the blocks that the client has to answer.
func (g *Encoder) calls() []*encodedBlock { return g.of("tool_use") }

// written is the text of a block; that of a call whose input is a text is its only member, or all of it.
func (b *encodedBlock) written() string {
	if !b.free {
		return b.text.String()
	}
	switch members := slices.Collect(maps.Values(gjson.Parse(b.text.String()).Map())); len(members) {
	case 0:
		return ""
	case 1:
		return members[0].String()
	}
	return b.text.String()
}

// args is a call's input; what is no JSON, as of a call that was cut, is a text.
func (b *encodedBlock) args() json.RawMessage {
	if raw := json.RawMessage(b.text.String()); json.Valid(raw) {
		return raw
	}
	return JSON(b.text.String())
}

// StatusOverloaded is the Messages API's for having no time; others have 503.
const StatusOverloaded = 529

// StatusOf is the status of an error of the Messages API.
func StatusOf(kind string) int { return cmp.Or(statuses[kind], http.StatusInternalServerError) }

// statuses are those of the Messages API's errors.
var statuses = map[string]int{
	"overloaded_error": StatusOverloaded, "rate_limit_error": http.StatusTooManyRequests, "invalid_request_error": http.StatusBadRequest,
	"authentication_error": http.StatusUnauthorized, "permission_error": http.StatusForbidden, "not_found_error": http.StatusNotFound,
	"request_too_large": http.StatusRequestEntityTooLarge,
}

// googleStatus are Google's names of a status.
var googleStatus = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

// openaiKind are OpenAI's types and codes of a status.
func openaiKind(status int, kind string) (string, string) {
	switch {
	case status == http.StatusTooManyRequests:
		return "requests", "rate_limit_exceeded"
	case status >= http.StatusInternalServerError:
		return "server_error", "server_error"
	case status == http.StatusNotFound:
		return "invalid_request_error", "not_found"
	}
	return cmp.Or(kind, "invalid_request_error"), ""
}

// Refusal is an error as the API words it, of an error of the Messages API; a status that
// only the Messages API has becomes the one that the other has for it.
func Refusal(api API, status int, kind, message string) (int, json.RawMessage) {
	if status == StatusOverloaded && api != Messages {
		status = http.StatusServiceUnavailable
	}
	switch api {
	case Chat, Responses:
		kind, code := openaiKind(status, kind)
		codeOf := null
		if code != "" {
			codeOf = JSON(code)
		}
		return status, object("error", object("message", text(message), "type", kind, "param", null, "code", codeOf))
	case Gemini:
		return status, object("error", object("code", status, "message", text(message), "status", cmp.Or(googleStatus[status], "INTERNAL")))
	case Converse:
		return status, object("message", text(message))
	case Ollama:
		return status, object("error", text(message))
	}
	return status, object("type", "error", "error", object("type", kind, "message", text(message)))
}

// exceptions are Bedrock's names of a status.
var exceptions = map[int]string{
	400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
	413: "ValidationException", 429: "ThrottlingException", 503: "ServiceUnavailableException",
}

// Exception is Bedrock's name of a status.
func Exception(status int) string { return cmp.Or(exceptions[status], "InternalServerException") }

// itemID is the id of the item that a block is.
func (g *Encoder) itemID(b *encodedBlock) string {
	prefix := map[string]string{"text": "msg", "thinking": "rs", "tool_use": "fc"}[b.kind]
	if b.free {
		prefix = "ctc"
	}
	return fmt.Sprintf("%s_%s_%d", prefix, g.id, slices.Index(g.blocks, b))
}
