package dialect

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// responsesStream translates the events of Responses' streams, which name the item that each belongs to.
type responsesStream struct {
	w     *writer
	items map[string]*itemPiece
	// failed: the last response has, which streams have once more as its end.
	failed bool
}

// itemPiece is an item on its way.
type itemPiece struct {
	kind string
	// block is 1 more than the index of the open block: a call's, thinking's, or that of
	// the part of a message which is written.
	block int
	part  string
	some  bool // a piece of it was written
	whole bool // it was written
}

func (r *responsesStream) add(kind string, v gjson.Result) {
	kind = cmp.Or(v.Get("type").String(), kind)
	if kind == "error" || v.Get("error").IsObject() {
		r.failed = true
		r.w.fail(cmp.Or(v.Get("error.type").String(), v.Get("error.code").String(), v.Get("code").String(), "api_error"),
			cmp.Or(v.Get("error.message").String(), v.Get("message").String()))
		return
	}
	if response := v.Get("response"); response.IsObject() {
		r.response(strings.TrimPrefix(kind, "response."), response)
		return
	}
	kind, ours := strings.CutPrefix(kind, "response.")
	if !ours { // a keepalive, which may come after the end too
		return
	}
	r.begin(v)
	switch kind {
	case "output_item.added":
		p := r.item(v)
		if p.whole { // some give all items one place
			*p = itemPiece{}
		}
		r.added(p, v.Get("item"))
	case "output_item.done":
		r.done(r.item(v), v.Get("item"))
	case "function_call_arguments.delta", "function_call_arguments.done":
		if p, given := r.item(v), v.Get("delta"); p.block > 0 && (given.Exists() || !p.some) {
			p.some = true
			r.w.input(p.block-1, Either(v, "delta", "arguments").String())
		}
	case "output_text.delta", "refusal.delta", "text.delta", "output_audio_transcript.delta", "audio_transcript.delta": // the last three of realtime models
		r.piece(r.item(v), "text "+v.Get("content_index").String(), v.Get("delta").String())
	case "reasoning_summary_text.delta", "reasoning_text.delta":
		r.thinks(r.item(v), v.Get("summary_index").String()+" "+v.Get("content_index").String(), v.Get("delta").String())
	}
}

// begin begins a message, unless one has begun.
func (r *responsesStream) begin(v gjson.Result) {
	if !r.w.begun {
		r.items, r.failed = map[string]*itemPiece{}, false
		r.w.start(v.Get("id").String(), v.Get("model").String())
	}
}

// response takes an event of the response as a whole.
func (r *responsesStream) response(kind string, v gjson.Result) {
	if v.Get("status").String() == "failed" {
		kind = "failed"
	}
	switch kind {
	case "created", "in_progress", "queued":
		if r.w.begun && kind == "created" {
			r.w.begun = false // the one before was cut
		}
		r.begin(v)
	case "failed":
		if r.failed {
			return
		}
		r.begin(v)
		failed := Either(v, "error", "status_details.error")
		r.w.fail(cmp.Or(failed.Get("code").String(), "api_error"), failed.Get("message").String())
	case "completed", "incomplete", "done", "cancelled":
		r.begin(v)
		all, known := v.Get("output").Array(), len(r.items)
		for i, item := range all { // of those who send no events of their items, or not that one ended
			if p := r.items[strconv.Itoa(i)]; known == 0 || p != nil && known == len(all) {
				r.done(cmp.Or(p, &itemPiece{}), item)
			}
		}
		r.w.usage = responsesUsage(v.Get("usage"))
		r.w.ended(responseStop(v))
		r.w.finish()
	}
}

// item finds an event's item: by its place, for some providers change its id.
func (r *responsesStream) item(v gjson.Result) *itemPiece {
	key := cmp.Or(v.Get("output_index").String(), v.Get("item_id").String(), v.Get("item.id").String())
	p := r.items[key]
	if p == nil {
		p = &itemPiece{}
		r.items[key] = p
	}
	return p
}

func (r *responsesStream) added(p *itemPiece, item gjson.Result) {
	p.kind = item.Get("type").String()
	if p.kind == "function_call" && p.block == 0 {
		id, name, _ := itemCall(item, r.w.IDs)
		p.block = 1 + r.w.call(id, name, item.Get("signature").String())
		if given := item.Get("arguments").String(); given != "" && given != "{}" {
			p.some = true
			r.w.input(p.block-1, given)
		}
	}
}

// piece writes a piece of one part of a message.
func (r *responsesStream) piece(p *itemPiece, part, s string) {
	if p.part != part {
		r.w.close(p.block - 1)
		p.block = 0
	}
	if p.block == 0 {
		p.part, p.block = part, 1+r.w.begin(textBlock(""))
	}
	p.some = true
	r.w.delta(p.block-1, "text_delta", "text", s)
}

func (r *responsesStream) thinks(p *itemPiece, part, s string) {
	if p.block == 0 {
		p.block = 1 + r.w.begin(thinking("", ""))
	} else if part != p.part {
		r.w.delta(p.block-1, "thinking_delta", "thinking", "\n\n")
	}
	p.part, p.some = part, true
	r.w.delta(p.block-1, "thinking_delta", "thinking", s)
}

// done ends an item; what it holds that no event had is written now.
func (r *responsesStream) done(p *itemPiece, item gjson.Result) {
	if p.whole {
		return
	}
	p.whole = true
	kind := item.Get("type").String()
	switch {
	case kind == "function_call":
		r.added(p, item)
		if !p.some {
			r.w.input(p.block-1, item.Get("arguments").String())
		}
	case kind == "reasoning" && p.some:
		if sealed := item.Get("encrypted_content").String(); sealed != "" {
			r.w.delta(p.block-1, "signature_delta", "signature", sealed)
		}
	case !p.some:
		hosted := func(string) bool { return item.Get("environment.type").Str == "container_reference" } // for what follows is not known yet
		for _, b := range outputItem(item, hosted, r.w.IDs) {
			r.w.block(gjson.ParseBytes(b))
		}
	}
	r.w.close(p.block - 1)
}

// stepEvents are the types of event of Interactions' streams.
var stepEvents = []string{"interaction.created", "interaction.status_update", "step.start", "step.delta", "step.stop", "interaction.completed"}

// stepStream translates these. What a step is, shows at its start alone.
type stepStream struct{ responsesStream }

func (s *stepStream) add(kind string, v gjson.Result) {
	whole, index := v.Get("interaction"), v.Get("index").String()
	if v.Get("error").IsObject() {
		s.responsesStream.add(kind, v)
		return
	}
	kind = v.Get("event_type").String()
	if whole.IsObject() {
		s.response(strings.TrimPrefix(kind, "interaction."), whole)
		return
	}
	s.begin(v)
	p := s.items[index]
	switch d := v.Get("delta"); {
	case kind == "step.start":
		s.items[index] = &itemPiece{}
		s.step(s.items[index], v.Get("step"))
	case p == nil:
	case kind == "step.stop" && p.block > 0:
		s.w.close(p.block - 1)
	case d.Get("type").Str == "text":
		s.piece(p, "text", d.Get("text").String())
	case d.Get("type").Str == "thought_summary":
		s.thinks(p, "summary", d.Get("content.text").String())
	case d.Get("type").Str == "thought_signature":
		s.thinks(p, "summary", "")
		s.w.delta(p.block-1, "signature_delta", "signature", d.Get("signature").String())
	case d.Get("type").Str == "arguments_delta" && p.block > 0:
		s.w.input(p.block-1, d.Get("arguments").String())
	}
}

// step takes what is there of a step at its start.
func (s *stepStream) step(p *itemPiece, step gjson.Result) {
	switch step.Get("type").Str {
	case "function_call":
		s.added(p, step)
	case "thought":
		if thought := joinedTexts(step.Get("summary")); thought != "" {
			s.thinks(p, "summary", thought)
		}
	case "model_output":
		for _, part := range step.Get("content").Array() {
			s.piece(p, "text", part.Get("text").String())
		}
	default:
		s.done(p, step)
	}
}
