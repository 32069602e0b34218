package secret

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// spelled is a text that the deltas of one block spell, and where each stands.
type spelled struct {
	builder
	deltas []delta
}

// delta is what one event adds: the same in the text and in the body.
type delta struct{ at, end, from, to int }

// fields are where deltas carry text, where the number of their block stands, and in which
// of its texts they belong: of the Messages API, then of OpenAI's two and of Gemini's.
var fields = []struct{ path, block, text string }{
	{"delta.text", "index", "text"}, {"delta.partial_json", "index", "input"}, {"delta.thinking", "index", "thinking"},
	{"content_block.text", "index", "text"}, {"content_block.thinking", "index", "thinking"},
	{"choices.0.delta.content", "choices.0.index", "content"},
	{"choices.0.delta.reasoning_content", "choices.0.index", "reasoning"},
	{"choices.0.delta.tool_calls.0.function.arguments", "choices.0.delta.tool_calls.0.index", "arguments"},
	{"delta", "item_id", "delta"},
	{"candidates.0.content.parts.0.text", "candidates.0.index", "parts"},
}

// isStream reports whether this is a body of server-sent events.
func isStream(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, "\ufeff"), "\r\n")
	return strings.HasPrefix(s, "event:") || strings.HasPrefix(s, "data:")
}

// stream finds the secrets of a body of events: those a block's deltas spell between
// them, of which the first delta keeps the mark, and those elsewhere.
func (f *Finder) stream(body string) []piece {
	blocks, lines := spelledTexts(body)
	var out []piece
	var covered []delta
	for _, b := range blocks {
		v := b.view(len(body))
		for _, sp := range f.spans(v.text, layers-2) {
			out = append(out, b.pieces(v, sp)...)
		}
		covered = append(covered, b.deltas...)
	}
	slices.SortFunc(covered, func(a, b delta) int { return cmp.Compare(a.from, b.from) })
	for _, l := range lines {
		if l.to > l.from {
			out = append(out, f.elsewhere(body, l, covered)...)
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	return out
}

// elsewhere finds what is in one line outside of the texts that are spelled.
func (f *Finder) elsewhere(body string, l span, covered []delta) []piece {
	i, _ := slices.BinarySearchFunc(covered, l.from, func(d delta, at int) int { return cmp.Compare(d.from, at) })
	spans := f.spans(body[l.from:l.to], layers)
	for k := range spans {
		spans[k].from += l.from
		spans[k].to += l.from
	}
	spans = slices.DeleteFunc(spans, func(sp span) bool {
		for _, d := range covered[i:] {
			if d.from >= l.to {
				break
			}
			if sp.from < d.to && d.from < sp.to {
				return true
			}
		}
		return false
	})
	if len(spans) > 0 && json.Valid([]byte(body[l.from:l.to])) {
		return fit(body, l.from, l.to, spans)
	}
	return asBlanks(spans)
}

// pieces are a secret's parts in the deltas it is spelled over.
func (b *spelled) pieces(v *view, sp span) []piece {
	var out []piece
	put := Blanked
	for _, d := range b.deltas {
		part := span{max(sp.from, d.at), min(sp.to, d.end), sp.kind}
		if part.from >= part.to {
			continue
		}
		part = v.down(part)
		part.to = min(part.to, d.to)
		out = append(out, piece{part, put})
		put = ""
	}
	return out
}

// spelledTexts reads the texts of all blocks, and gives the payload of each line.
func spelledTexts(body string) (blocks []*spelled, lines []span) {
	byName := map[string]*spelled{}
	block := func(name string) *spelled {
		b := byName[name]
		if b == nil {
			b = &spelled{}
			byName[name] = b
			blocks = append(blocks, b)
		}
		return b
	}
	at := 0
	for text := range strings.Lines(body) {
		line := strings.TrimSuffix(text, "\n")
		data, carries := strings.CutPrefix(line, "data:")
		from := at + len(line) - len(data)
		lines = append(lines, span{from: from, to: from + len(data)})
		at += len(text)
		if !carries {
			continue
		}
		for _, field := range fields {
			r := gjson.Get(data, field.path)
			if r.Type != gjson.String || r.Index == 0 || len(r.Raw) < 2 {
				continue
			}
			b := block(gjson.Get(data, field.block).Raw + field.text)
			b.add(body, from+r.Index+1, from+r.Index+len(r.Raw)-1)
		}
	}
	return blocks, lines
}

// add reads the inside of a JSON text.
func (b *spelled) add(body string, from, to int) {
	d := delta{at: len(b.text), from: from, to: to}
	b.next(from, false)
	for i := from; i < to; {
		if body[i] == '\\' {
			if text, n := backslash(body[i:to]); n > 0 {
				b.next(i, true)
				b.text = append(b.text, text...)
				i += n
				b.next(i, false)
				continue
			}
		}
		b.text = append(b.text, body[i])
		i++
	}
	d.end = len(b.text)
	b.deltas = append(b.deltas, d)
}
