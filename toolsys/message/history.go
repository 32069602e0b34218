package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"toolbench/toolsys/jsonscan"
)

// Dereference gives history with those tool references replaced that a request may
// not carry: an API refuses, for ever, a history that names a tool the request does not
// have. Text gives what stands in a reference's place, or "" for one that may stay. The
// messages of history are not changed, so that a tool that comes back is referred to
// again, in the same bytes. At are the messages that have references; see [Places].
func Dereference(history []Message, at []int, text func(tool string) string) []Message {
	out := history
	for _, i := range at {
		content, changed := dereferenced(history[i].Content, text)
		if !changed {
			continue
		}
		if &out[0] == &history[0] {
			out = slices.Clone(history)
		}
		out[i].Content = content
	}
	return out
}

// Places finds the messages of a growing history that have a certain block, and reads each
// once.
type Places struct {
	Of   func(Block) bool // reports whether it is such a block
	last []Message        // the history itself, as it was seen last
	from []Message        // what it held
	at   []int
}

// In gives the places of the messages, counted from 0. A history that was
// grown in its place is looked at from its last message on: those before do not change.
func (r *Places) In(history []Message) []int {
	n := 0
	if len(r.last) > 0 && len(history) >= len(r.last) && &history[0] == &r.last[0] {
		n = len(r.last) - 1
	}
	r.last = history
	for n < len(history) && n < len(r.from) && same(history[n], r.from[n]) {
		n++
	}
	known, _ := slices.BinarySearch(r.at, n)
	r.at = r.at[:known]
	for i, m := range history[n:] {
		if slices.ContainsFunc(m.Content, r.Of) {
			r.at = append(r.at, n+i)
		}
	}
	r.from = append(r.from[:n], history[n:]...)
	return r.at
}

// Refers reports whether b has a reference to a tool.
func Refers(b Block) bool {
	return b.Type == TypeToolReference || slices.ContainsFunc(b.Content, Refers) || len(b.Raw) > 0 && bytes.Contains(b.Raw, []byte(`"`+TypeToolReference+`"`))
}

// dereferenced gives blocks with their references replaced, and reports whether there
// were any to replace.
func dereferenced(blocks []Block, text func(string) string) (out []Block, changed bool) {
	out = blocks
	for i, b := range blocks {
		next, touched := b, false
		switch {
		case len(b.Raw) > 0:
			next.Raw, touched = dereferencedRaw(b.Raw, text)
		case b.Type == TypeToolResult:
			next.Content, touched = resultDereferenced(b.Content, text)
		case b.Type == TypeToolReference:
			if instead := text(b.Name); instead != "" {
				next, touched = Text(instead), true
			}
		}
		if touched && !changed {
			out, changed = slices.Clone(blocks), true
		}
		if touched {
			out[i] = next
		}
	}
	return out, changed
}

// resultDereferenced drops references from a result as long as others stay, since an
// API may refuse text beside them; where none is left, the texts stand in their place.
func resultDereferenced(content []Block, text func(string) string) ([]Block, bool) {
	stays := func(b Block) bool { return b.Type == TypeToolReference && text(b.Name) == "" }
	if !slices.ContainsFunc(content, stays) {
		return dereferenced(content, text)
	}
	left := slices.DeleteFunc(slices.Clone(content), func(b Block) bool { return b.Type == TypeToolReference && !stays(b) })
	return left, len(left) < len(content)
}

// dereferencedRaw drops references from a block that is not read here, such as the
// result of a search on the server's side.
func dereferencedRaw(raw json.RawMessage, text func(string) string) (json.RawMessage, bool) {
	if !bytes.Contains(raw, []byte(`"`+TypeToolReference+`"`)) {
		return raw, false
	}
	var block any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&block) != nil {
		return raw, false
	}
	block, dropped := withoutReferences(block, text)
	if !dropped {
		return raw, false
	}
	out, err := jsonscan.Marshal(block)
	if err != nil {
		return raw, false
	}
	return out, true
}

// withoutReferences drops references from the arrays of a JSON value.
func withoutReferences(value any, text func(string) string) (_ any, dropped bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			next, did := withoutReferences(member, text)
			v[name], dropped = next, dropped || did
		}
	case []any:
		kept := slices.DeleteFunc(v, func(item any) bool {
			block, _ := item.(map[string]any)
			tool, named := block["tool_name"].(string)
			return named && block["type"] == TypeToolReference && text(tool) != ""
		})
		dropped = len(kept) < len(v)
		for i, item := range kept {
			next, did := withoutReferences(item, text)
			kept[i], dropped = next, dropped || did
		}
		return kept, dropped
	}
	return value, dropped
}

// Mend gives history such that each call has an id of its own and exactly one result, in the
// message after it and before all else there, and each result its call, as an API demands: a
// session that was killed may leave a call without a result, one that was opened twice the same
// calls again. What it did is listed, a sentence each; a sound history comes back as it is.
func Mend(history []Message) (mended []Message, did []string) {
	history, did = distinct(history, false)
	for i := 0; i < len(history); {
		m := history[i]
		i++
		if m.Role == User { // no call precedes it
			next, notes := m.answering(nil)
			mended, did = append(mended, next), append(did, notes...)
			continue
		}
		open := m.openCalls()
		mended = append(mended, m)
		first := i
		for ; i < len(history) && history[i].Role == User; i++ {
			next, notes := history[i].answering(open)
			mended, did = append(mended, next), append(did, notes...)
		}
		lost := m.lostResults(open)
		for _, b := range lost {
			did = append(did, fmt.Sprintf("call %s of the history had no result", b.ToolUseID))
		}
		before := len(mended) - (i - first)
		blocks := ContentOf(mended[before:])
		late := lateResult(blocks)
		if late {
			did = append(did, "results of the history stood behind other blocks")
		}
		switch {
		case late:
			mended = append(mended[:before], Message{Role: User, Content: m.inCallOrder(slices.Concat(lost, blocks))})
		case len(lost) > 0 && first == i:
			mended = append(mended, Message{Role: User, Content: lost})
		case len(lost) > 0:
			answer := &mended[before]
			answer.Content = m.inCallOrder(slices.Concat(lost, answer.Content))
		}
	}
	if len(did) == 0 {
		return history, nil
	}
	return mended, did
}

// notInID is what an API takes in no id, though others than it give such.
var notInID = regexp.MustCompile("[^A-Za-z0-9_-]")

// distinct gives history in which no two calls share an id, and with plain none has one that
// notInID matches. The results behind a message follow its calls.
func distinct(history []Message, plain bool) (_ []Message, did []string) {
	out, taken, answers := slices.Clone(history), map[string]bool{}, map[string][]string{}
	for i, m := range out {
		if m.Role == Assistant {
			clear(answers)
		}
		out[i].Content = slices.Clone(m.Content)
		for j, b := range m.Content {
			switch id := b.ID; b.Type {
			case TypeToolUse:
				if plain {
					id = notInID.ReplaceAllLiteralString(id, "_")
				}
				for n, first := 2, id; taken[id]; n++ {
					id = fmt.Sprintf("%s-%d", first, n)
				}
				if id != b.ID {
					did = append(did, fmt.Sprintf("call %s of the history is now %s", b.ID, id))
				}
				taken[id], answers[b.ID], out[i].Content[j].ID = true, append(answers[b.ID], id), id
			case TypeToolResult:
				if ids := answers[b.ToolUseID]; len(ids) > 0 {
					out[i].Content[j].ToolUseID, answers[b.ToolUseID] = ids[0], ids[1:]
				}
			}
		}
	}
	if len(did) == 0 {
		return history, nil
	}
	return out, did
}

// ContentOf joins what messages hold.
func ContentOf(messages []Message) (all []Block) {
	for _, m := range messages {
		all = append(all, m.Content...)
	}
	return all
}

// lateResult reports whether a result stands behind a block of another kind, which an API
// refuses: it takes neighbouring messages of the user for one, and results first.
func lateResult(blocks []Block) bool {
	other := slices.IndexFunc(blocks, func(b Block) bool { return b.Type != TypeToolResult })
	return other >= 0 && slices.ContainsFunc(blocks[other:], func(b Block) bool { return b.Type == TypeToolResult })
}

// openCalls are the ids of the calls that the messages after m have to answer.
func (m Message) openCalls() map[string]bool {
	open := map[string]bool{}
	for _, b := range m.Calls() {
		open[b.ID] = true
	}
	return open
}

// answering takes the calls that m answers out of open. A result that answers none of
// them becomes text.
func (m Message) answering(open map[string]bool) (Message, []string) {
	var did []string
	content := m.Content
	for i, b := range m.Content {
		if b.Type != TypeToolResult {
			continue
		}
		if open[b.ToolUseID] {
			delete(open, b.ToolUseID)
			continue
		}
		if len(did) == 0 {
			content = slices.Clone(m.Content)
		}
		content[i] = Text("[A result whose call is not in this conversation: " + PlainText(b.Content) + "]")
		did = append(did, fmt.Sprintf("a result of the history answers no call (%s)", b.ToolUseID))
	}
	m.Content = content
	return m, did
}

// inCallOrder puts the results among blocks first, in the order of m's calls.
func (m Message) inCallOrder(blocks []Block) []Block {
	calls := m.Calls()
	place := func(b Block) int {
		if b.Type != TypeToolResult {
			return len(calls)
		}
		return slices.IndexFunc(calls, func(c Block) bool { return c.ID == b.ToolUseID })
	}
	slices.SortStableFunc(blocks, func(a, b Block) int { return place(a) - place(b) })
	return blocks
}

// lostResults answers the calls of m that are still open, in call order.
func (m Message) lostResults(open map[string]bool) []Block {
	var lost []Block
	for _, c := range m.Calls() {
		if open[c.ID] {
			delete(open, c.ID)
			lost = append(lost, ToolResult(c.ID, true, Text(c.Name+" was cut off: the session ended before its result was kept. Whether it ran, and what it did, is not known.")))
		}
	}
	return lost
}

// Preface puts a text in front of a growing history, and does not copy what it has put together
// before. The zero value is ready.
type Preface struct {
	text      string
	from, out []Message
}

// Of gives history with text as the first block of its first message; history itself where
// there is no text. The messages of history are not changed.
func (l *Preface) Of(history []Message, text string) []Message {
	if text == "" || len(history) == 0 {
		return history
	}
	n := unchanged(l.from, history)
	if text != l.text || n == 0 {
		first := history[0]
		first.Content = append([]Block{Text(text)}, first.Content...)
		l.out, n = []Message{first}, 1
	}
	if n < len(l.out) {
		l.out = slices.Clip(l.out[:n])
	}
	l.text, l.from, l.out = text, history, append(l.out, history[n:]...)
	return slices.Clip(l.out)
}
