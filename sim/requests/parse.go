package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// errFull is the end of a parser's room.
var errFull = errors.New("full")

// parser reads the bodies of requests and keeps equal texts once.
type parser struct {
	texts map[string]string
	room  int
}

func newParser(room int) *parser { return &parser{map[string]string{}, room} }

// own gives the text that is kept for a text.
func (p *parser) own(text string) string {
	kept, ok := p.texts[text]
	if !ok {
		kept = strings.Clone(text)
		p.texts[kept] = kept
		p.room -= len(kept)
	}
	return kept
}

// request reads a body. The error is errFull.
func (p *parser) request(body string) (*Request, error) {
	v := gjson.Parse(body)
	r := &Request{Model: p.own(v.Get("model").String())}
	definitions := map[string]string{}
	for _, t := range v.Get("tools").Array() {
		tool := p.tool(t)
		r.Tools = append(r.Tools, tool)
		if tool.Deferred {
			definitions[tool.Name] = tool.Text
		}
	}
	r.System = p.pieces("system prompt", v.Get("system"), nil)
	for i, m := range v.Get("messages").Array() {
		name := fmt.Sprintf("message %d (%s)", i+1, m.Get("role").String())
		r.Messages = append(r.Messages, p.pieces(name, m.Get("content"), definitions)...)
	}
	if n := len(r.Messages); n > 0 && v.Get("cache_control").IsObject() {
		r.Messages[n-1].Breakpoint = true // the API's own choice of place
	}
	if p.room < 0 {
		return nil, errFull
	}
	return r, nil
}

func (p *parser) tool(t gjson.Result) Tool {
	tool := Tool{
		Name: p.own(t.Get("name").String()), Description: p.own(t.Get("description").String()), Kind: p.own(t.Get("type").String()),
		Text: p.own(less(t, "cache_control", "defer_loading")), Breakpoint: t.Get("cache_control").IsObject(), Deferred: t.Get("defer_loading").Bool(),
	}
	if tool.Kind == "custom" {
		tool.Kind = ""
	}
	if s := t.Get("input_schema"); s.IsObject() {
		tool.Schema = p.own(compact(s.Raw))
	}
	return tool
}

// pieces reads a content: a text, or blocks. A reference to a deferred tool becomes its
// definition in the prompt, so that is added to the block's text; that of a tool which
// is sent whole as well is taken to stand in the prompt once.
func (p *parser) pieces(name string, content gjson.Result, definitions map[string]string) []Piece {
	if content.Type == gjson.String {
		return []Piece{{Name: name, Text: p.own(`{"type":"text","text":` + compact(content.Raw) + "}")}}
	}
	var out []Piece
	for _, b := range content.Array() {
		text := less(b, "cache_control")
		for _, referred := range references(b) {
			text += definitions[referred]
		}
		out = append(out, Piece{Name: name, Text: p.own(text), Breakpoint: b.Get("cache_control").IsObject()})
	}
	return out
}

// references names the tools that a result brings into the prompt: of the client's
// own search, or of the API's.
func references(b gjson.Result) []string {
	var names []string
	list := b.Get("content")
	if found := b.Get("content.tool_references"); found.IsArray() {
		list = found
	}
	if !list.IsArray() {
		return nil
	}
	for _, r := range list.Array() {
		if r.Get("type").String() == "tool_reference" {
			names = append(names, r.Get("tool_name").String())
		}
	}
	return names
}

// less is an object's compact JSON without some members.
func less(v gjson.Result, without ...string) string {
	var b strings.Builder
	v.ForEach(func(key, value gjson.Result) bool {
		for _, name := range without {
			if key.Str == name {
				return true
			}
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(key.Raw + ":" + compact(value.Raw))
		return true
	})
	return "{" + b.String() + "}"
}

// compact takes the blanks out of valid JSON.
func compact(raw string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(raw)) != nil {
		return raw
	}
	return out.String()
}
