package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// chatStream translates the pieces of Chat Completions' streams. A message has no end
// of its own there: what it cost, and nothing, follow its stop reason.
type chatStream struct {
	w *writer
	// id is the message's, calls those that it has begun; text and thought are 1 more
	// than the index of the block that is open.
	id            string
	calls         []*chatPiece
	text, thought int
	// said is what each kind of block has so far.
	said map[string]string
}

// chatPiece is a call on its way. Its block begins when its name is known.
type chatPiece struct {
	index    gjson.Result
	id, name string
	given    string // the arguments so far
	block    int
	begun    bool
	// free: what is given is a text, and no JSON. It becomes a member of the input, which is whole when the answer ends.
	free bool
}

func (c *chatStream) add(_ string, v gjson.Result) {
	if failed := v.Get("error"); failed.Exists() && failed.Type != gjson.Null {
		c.w.fail(cmp.Or(failed.Get("type").String(), failed.Get("code").String(), "api_error"), cmp.Or(failed.Get("message").String(), failed.String()))
		return
	}
	if inner := within(v); inner.Exists() {
		v = inner
	}
	id, choice := v.Get("id").String(), Either(v, "choices.#(index==0)", "choices.0")
	if c.w.stopped && id != c.id && Either(choice, "delta", "message").Exists() { // else usage, or what a filter found
		c.w.finish()
	}
	if !c.w.begun {
		if !choice.Exists() {
			return // what some send before or after a message
		}
		c.calls, c.text, c.thought, c.said = nil, 0, 0, map[string]string{}
		c.w.start(id, v.Get("model").String())
	}
	c.id = id // some gateways change it after their first piece
	if n := choice.Get("index"); !n.Exists() || n.Int() == 0 {
		c.choice(choice)
	}
	if u := chatUsage(v); u != nil {
		c.w.usage = u
	}
}

func (c *chatStream) choice(choice gjson.Result) {
	d := Either(choice, "delta", "message")
	c.thinks(thought(d))
	switch content := d.Get("content"); {
	case content.Type == gjson.String:
		c.writes(content.Str)
	case content.IsArray():
		for _, p := range content.Array() {
			if p.Get("type").String() == "thinking" {
				c.thinks(joinedTexts(p.Get("thinking")))
			} else {
				c.writes(p.Get("text").String())
			}
		}
	}
	c.writes(cmp.Or(d.Get("refusal").String(), d.Get("audio.transcript").String()))
	for _, piece := range d.Get("tool_calls").Array() {
		c.call(piece)
	}
	if f := d.Get("function_call"); f.IsObject() {
		c.piece(gjson.Result{}, "", f.Get("name").String(), f.Get("arguments"), false)
	}
	reason := choice.Get("finish_reason").String()
	if reason == "" || reason == "null" { // as DashScope has what is none
		return
	}
	for _, call := range c.calls {
		if call.free && call.begun && reason != "length" {
			c.w.input(call.block, `"}`)
			call.free = false
		}
	}
	c.w.ended(reason)
}

func (c *chatStream) thinks(s string) { c.says(&c.thought, "thinking", s) }

func (c *chatStream) writes(s string) { c.says(&c.text, "text", s) }

// says adds to the block of a kind, which it begins unless it is open.
func (c *chatStream) says(open *int, kind, s string) {
	if c.w.IDs.soFar {
		s = strings.TrimPrefix(s, c.said[kind])
		c.said[kind] += s
	}
	if s == "" {
		return
	}
	if *open == 0 {
		c.rest()
		*open = 1 + c.w.begin(object("type", kind, kind, text("")))
	}
	c.w.delta(*open-1, kind+"_delta", kind, s)
}

// rest closes what another block follows. A call whose arguments are no JSON yet may
// still get more of them, for calls may come in turn.
func (c *chatStream) rest() {
	for _, open := range []*int{&c.text, &c.thought} {
		c.w.close(*open - 1)
		*open = 0
	}
	for _, call := range c.calls {
		if call.begun && c.w.open[call.block] && json.Valid([]byte(call.given)) {
			c.w.close(call.block)
		}
	}
}

func (c *chatStream) call(piece gjson.Result) {
	f, custom := Either(piece, "function", "@this"), piece.Get("custom")
	free := custom.IsObject() && f.Get("name").String() == ""
	if free {
		f = custom
	}
	c.piece(piece.Get("index"), piece.Get("id").String(), f.Get("name").String(), Either(f, "arguments", "input"), free)
}

// piece takes a piece of a call. Calls are told apart by their index; some providers
// give all the same, or none, so that another id begins another call.
func (c *chatStream) piece(index gjson.Result, id, name string, arguments gjson.Result, free bool) {
	p := c.find(index, id, name, arguments.String() != "")
	if p == nil {
		p = &chatPiece{index: index, id: id}
		c.calls = append(c.calls, p)
	}
	p.id = cmp.Or(p.id, id)
	p.name = cmp.Or(p.name, name)
	given := arguments.String() // an object, of those who do not write a text, is its JSON
	switch {
	case free:
		given = strings.TrimSuffix(string(JSON(given)), `"`)[1:]
		if !p.free {
			p.free, given = true, `{"input":"`+given
		}
	case given == "null" && (p.given == "" || p.given == "{}"): // there are none; behind others it is a piece of them
		given = ""
	case c.w.IDs.soFar:
		given = strings.TrimPrefix(given, p.given)
	}
	if p.given == "{}" && given != "" {
		p.given = "" // it stood for the arguments until they came
	}
	p.given += given
	if !p.begun {
		if p.name == "" {
			return
		}
		c.rest()
		p.begun, given = true, p.given // with what came before the name
		p.block = c.w.call(c.w.IDs.optional(p.id, p.name, nil), p.name, "")
	}
	if c.w.open[p.block] && (given != "{}" || p.given != given) {
		c.w.input(p.block, given)
	}
}

func (c *chatStream) find(index gjson.Result, id, name string, some bool) *chatPiece {
	for i := len(c.calls) - 1; i >= 0; i-- {
		p := c.calls[i]
		switch {
		case id != "" && p.id != "" && id != p.id && (name != "" || !index.Exists()): // without a name it is a piece that some give an id of its own
		case index.Exists() && p.index.Exists() && index.Int() != p.index.Int():
		case id == "" && !index.Exists() && name != "" && p.begun: // neither: a name begins a call
		case id == "" && name != "" && some && p.begun && json.Valid([]byte(p.given)): // whole ones under one index
		default:
			return p
		}
	}
	return nil
}
