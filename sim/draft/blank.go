package draft

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
)

// pieces are the members of deltas that together make one text.
var pieces = []string{"text", "thinking", "partial_json"}

// blankEvents blanks secrets in a stream. A secret may be cut in two by the events, so
// that a block's text is looked at as a whole: where it holds one, all of it comes with
// the block's first piece.
func blankEvents(events []stream.Event, secrets []string) []stream.Event {
	blank := func(s string) string { return cassette.Blank(s, secrets...) }
	whole := map[string]*strings.Builder{}
	for _, e := range events {
		if key, _, text := piece(e); key != "" {
			if whole[key] == nil {
				whole[key] = &strings.Builder{}
			}
			whole[key].WriteString(text)
		}
	}
	given := map[string]bool{}
	out := make([]stream.Event, len(events))
	for i, e := range events {
		key, member, _ := piece(e)
		switch {
		case key != "" && blank(whole[key].String()) != whole[key].String():
			text := ""
			if !given[key] {
				text = blank(whole[key].String())
			}
			given[key] = true
			e.Data = delta(e.Data, member, text)
		default:
			e.Data = []byte(blank(string(e.Data)))
		}
		out[i] = e
	}
	return out
}

// piece tells which text an event goes on with; key is "" when it is none.
func piece(e stream.Event) (key, member, text string) {
	v := gjson.ParseBytes(e.Data)
	if v.Get("type").Str != "content_block_delta" {
		return "", "", ""
	}
	for _, member := range pieces {
		if t := v.Get("delta." + member); t.Type == gjson.String {
			return v.Get("index").Raw + "/" + member, member, t.Str
		}
	}
	return "", "", ""
}

// delta writes an event anew with another text.
func delta(data []byte, member, text string) []byte {
	v := gjson.ParseBytes(data)
	raw, err := json.Marshal(map[string]any{
		"type": "content_block_delta", "index": json.RawMessage(v.Get("index").Raw),
		"delta": map[string]string{"type": v.Get("delta.type").Str, member: text},
	})
	if err != nil {
		return []byte(`{"type":"ping"}`) // an index that is no JSON: the stream was broken before
	}
	return raw
}
