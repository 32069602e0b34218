package serve

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// inWords gives the conversation in a client's words: with the names of its tools, and the
// paths of its world. Times and everything else stay.
func (c *Conversation) inWords(n naming, world func(string) string) *Conversation {
	if len(n.tools) == 0 && world == nil {
		return c
	}
	out := *c
	out.Answers = make([]Answer, len(c.Answers))
	for i, a := range c.Answers {
		events := rewriteCalls(a.Events, func(name string, input json.RawMessage) (string, json.RawMessage) {
			if world != nil {
				input = withStrings(input, world)
			}
			if r, ok := n.tools[name]; ok {
				return r.name, r.input(input)
			}
			return name, input
		})
		own := NewAnswer(events)
		own.Whole, own.Why, own.Results = a.Whole, a.Why, a.Results
		out.Answers[i] = own
	}
	return &out
}

// withoutIDs gives the conversation as clients see it whose API has no ids: calls are named
// as the translation of their requests names them. Back leads to the ids of before.
func (c *Conversation) withoutIDs() (out *Conversation, back map[string]string) {
	type call struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	var parts []map[string]call
	for _, a := range c.Answers {
		for _, b := range a.Calls() {
			parts = append(parts, map[string]call{"functionCall": {b.Name, b.Input}})
		}
	}
	body := dialect.JSON(map[string]any{"contents": []any{map[string]any{"role": "model", "parts": parts}}})
	_, v, _ := dialect.Request(":generateContent", body, &dialect.IDs{})
	named, back := v.Get("messages.0.content").Array(), map[string]string{}
	own := *c
	own.Answers = make([]Answer, len(c.Answers))
	for i, a := range c.Answers {
		names := map[string]string{} // of this answer: another may have the same ids
		for _, b := range a.Calls() {
			names[b.ID], back[named[0].Get("id").Str] = named[0].Get("id").Str, b.ID
			named = named[1:]
		}
		events := append([]stream.Event(nil), a.Events...)
		for k, e := range events {
			if id := gjson.GetBytes(e.Data, "content_block.id").Str; names[id] != "" {
				events[k].Data = replaced(e.Data, "content_block.id", names[id])
			}
		}
		now := NewAnswer(events)
		now.Whole, now.Why, now.Results = a.Whole, a.Why, map[string]recording.Result{}
		for id, r := range a.Results {
			now.Results[cmp.Or(names[id], id)] = r
		}
		own.Answers[i] = now
	}
	return &own, back
}

// rewriteCalls gives the events with other names and inputs of calls. An input that is no
// whole JSON, as of a call that was cut off, stays.
func rewriteCalls(events []stream.Event, f func(name string, input json.RawMessage) (string, json.RawMessage)) []stream.Event {
	out := append([]stream.Event(nil), events...)
	for i, e := range out {
		block := gjson.GetBytes(e.Data, "content_block")
		if e.Type != "content_block_start" || block.Get("type").Str != "tool_use" {
			continue
		}
		places := deltas(out[i+1:], gjson.GetBytes(e.Data, "index").Int())
		var text string
		for k := range places {
			places[k] += i + 1
			text += gjson.GetBytes(out[places[k]].Data, deltaText).Str
		}
		input := json.RawMessage(text)
		if text == "" {
			input = json.RawMessage(block.Get("input").Raw)
		}
		if !json.Valid(input) {
			continue
		}
		name, now := f(block.Get("name").Str, input)
		out[i].Data = replaced(e.Data, "content_block.name", name)
		switch {
		case bytes.Equal(now, input):
			continue
		case len(places) == 0: // the block begins with its input
			was := gjson.GetBytes(out[i].Data, "content_block.input")
			out[i].Data = bytes.Join([][]byte{out[i].Data[:was.Index], now, out[i].Data[was.Index+len(was.Raw):]}, nil)
			continue
		}
		for k, piece := range cutInto(string(now), len(places)) {
			out[places[k]].Data = replaced(out[places[k]].Data, deltaText, piece)
		}
	}
	return out
}

const deltaText = "delta.partial_json"

// deltas are the places of the input's pieces of the block with this index.
func deltas(events []stream.Event, index int64) (places []int) {
	for i, e := range events {
		if gjson.GetBytes(e.Data, "index").Int() != index {
			continue
		}
		switch e.Type {
		case "content_block_delta":
			if gjson.GetBytes(e.Data, deltaText).Exists() {
				places = append(places, i)
			}
		case "content_block_stop", "content_block_start":
			return places
		}
	}
	return places
}

// replaced puts a text in the place of a member of JSON; the other bytes stay.
func replaced(data []byte, path, text string) []byte {
	was := gjson.GetBytes(data, path)
	if was.Index == 0 || was.Str == text {
		return data
	}
	raw, _ := json.Marshal(text) // a text never fails
	return bytes.Join([][]byte{data[:was.Index], raw, data[was.Index+len(was.Raw):]}, nil)
}

// cutInto cuts a text into n pieces of about the same length, between characters.
func cutInto(text string, n int) []string {
	runes := []rune(text)
	out := make([]string, n)
	for i := range out {
		out[i] = string(runes[i*len(runes)/n : (i+1)*len(runes)/n])
	}
	return out
}

// withStrings gives JSON with every text in it rewritten, not the names of members.
func withStrings(raw json.RawMessage, f func(string) string) json.RawMessage {
	var b bytes.Buffer
	v := gjson.ParseBytes(raw)
	switch {
	case v.Type == gjson.String:
		text := f(v.Str)
		if text == v.Str {
			return raw
		}
		out, _ := json.Marshal(text)
		return out
	case !v.IsArray() && !v.IsObject():
		return raw
	}
	v.ForEach(func(key, value gjson.Result) bool {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if v.IsObject() {
			b.WriteString(key.Raw + ":")
		}
		b.Write(withStrings(json.RawMessage(value.Raw), f))
		return true
	})
	if v.IsObject() {
		return json.RawMessage("{" + b.String() + "}")
	}
	return json.RawMessage("[" + b.String() + "]")
}
