package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"toolbench/toolsys/jsonscan"
)

// event is one event of a stream as the assembler takes it. Its bytes belong to the
// event's data or to the reader's buffer, and hold until the next one is read.
type event struct {
	kind    string
	index   int
	block   []byte // the JSON of content_block
	message *startedMessage
	delta   delta
	usage   *Usage
	cleared []Cleared
	fault   StreamError
}

// startedMessage is the message that message_start brings.
type startedMessage struct {
	id, model, stop, container string
	content                    []Block
	usage                      Usage
}

type delta struct {
	kind                            string
	text, json, thinking, signature []byte
	citation                        []byte // JSON
	stop, container                 string
}

// eventReader reads events. What an event nearly always looks like it reads in place;
// all else, and whatever is wrong, is left to encoding/json.
type eventReader struct {
	jsonscan.Cursor
	ev    event
	begun startedMessage
	usage Usage
	text  []byte // texts that have escapes
}

// read gives the event of data, until the next call.
func (r *eventReader) read(data []byte) (*event, error) {
	*r = eventReader{Cursor: jsonscan.Cursor{JSON: data}, text: r.text[:0]}
	r.Space()
	if r.event() && r.End() {
		return &r.ev, nil
	}
	return general(data)
}

type wireEvent struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Block   json.RawMessage `json:"content_block"`
	Message *struct {
		ID      string  `json:"id"`
		Model   string  `json:"model"`
		Content []Block `json:"content"`
		Usage   Usage   `json:"usage"`
		Stop    string  `json:"stop_reason"`
		wireContainer
	} `json:"message"`
	Delta struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		PartialJSON string          `json:"partial_json"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
		wireContainer
	} `json:"delta"`
	Usage   *Usage `json:"usage"`
	Editing *struct {
		Applied []Cleared `json:"applied_edits"`
	} `json:"context_management"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type wireContainer struct {
	Container *struct {
		ID string `json:"id"`
	} `json:"container"`
}

func (w wireContainer) id() string {
	if w.Container == nil {
		return ""
	}
	return w.Container.ID
}

// general reads any event.
func general(data []byte) (*event, error) {
	var w wireEvent
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("malformed stream event: %w", err)
	}
	d := &w.Delta
	ev := &event{
		kind: w.Type, index: w.Index, block: w.Block, usage: w.Usage, fault: StreamError{Kind: w.Error.Type, Message: w.Error.Message},
		delta: delta{
			kind: d.Type, text: []byte(d.Text), json: []byte(d.PartialJSON), thinking: []byte(d.Thinking),
			signature: []byte(d.Signature), citation: d.Citation, stop: d.StopReason, container: d.id(),
		},
	}
	if w.Editing != nil {
		ev.cleared = w.Editing.Applied
	}
	if m := w.Message; m != nil {
		ev.message = &startedMessage{id: m.ID, model: m.Model, stop: m.Stop, content: m.Content, usage: m.Usage, container: m.id()}
	}
	return ev, nil
}

// event reads what the cursor stands at. A member that is not read here is passed over;
// one of an error is for the general reader.
func (r *eventReader) event() bool {
	var seen readMembers
	return r.Members(func(name []byte, plain bool) bool {
		switch string(name) {
		case "type":
			return seen.first(0) && r.keyword(&r.ev.kind)
		case "index":
			return seen.first(1) && r.count(&r.ev.index)
		case "content_block":
			return seen.first(2) && r.raw(&r.ev.block)
		case "message":
			r.ev.message = &r.begun
			return seen.first(3) && r.message(&r.begun)
		case "delta":
			return seen.first(4) && r.delta(&r.ev.delta)
		case "usage":
			r.ev.usage = &r.usage
			return seen.first(5) && r.tokens(&r.usage)
		case "error":
			return false
		case "context_management":
			return r.Word("null") // what was cleared is for the general reader
		}
		return plain && unlike(name) && r.Skip()
	})
}

func (r *eventReader) message(m *startedMessage) bool {
	var seen readMembers
	return r.Members(func(name []byte, plain bool) bool {
		switch string(name) {
		case "id":
			return seen.first(0) && r.string(&m.id)
		case "model":
			return seen.first(1) && r.string(&m.model)
		case "content":
			return seen.first(2) && r.Items(func(int) bool { return false }) // blocks are for the general reader
		case "usage":
			return seen.first(3) && r.tokens(&m.usage)
		case "stop_reason":
			return seen.first(4) && (r.Word("null") || r.keyword(&m.stop))
		case "container":
			return r.Word("null")
		}
		return plain && unlike(name) && r.Skip()
	})
}

func (r *eventReader) delta(d *delta) bool {
	var seen readMembers
	return r.Members(func(name []byte, plain bool) bool {
		switch string(name) {
		case "type":
			return seen.first(0) && r.keyword(&d.kind)
		case "text":
			return seen.first(1) && r.value(&d.text)
		case "partial_json":
			return seen.first(2) && r.value(&d.json)
		case "thinking":
			return seen.first(3) && r.value(&d.thinking)
		case "signature":
			return seen.first(4) && r.value(&d.signature)
		case "citation":
			return seen.first(5) && r.raw(&d.citation)
		case "stop_reason":
			return seen.first(6) && (r.Word("null") || r.keyword(&d.stop))
		case "container":
			return r.Word("null")
		}
		return plain && unlike(name) && r.Skip()
	})
}

func (r *eventReader) tokens(u *Usage) bool {
	var seen readMembers
	return r.Members(func(name []byte, plain bool) bool {
		switch string(name) {
		case "input_tokens":
			return seen.first(0) && r.count(&u.Input)
		case "output_tokens":
			return seen.first(1) && r.count(&u.Output)
		case "cache_read_input_tokens":
			return seen.first(2) && r.count(&u.CacheRead)
		case "cache_creation_input_tokens":
			return seen.first(3) && r.count(&u.CacheWrite)
		}
		return plain && unlike(name) && r.Skip()
	})
}

// readMembers has a bit for each member that was read: one that comes twice is for the general
// reader, which joins the two.
type readMembers uint8

func (o *readMembers) first(bit uint8) bool {
	again := *o&(1<<bit) != 0
	*o |= 1 << bit
	return !again
}

// unlike reports whether a name cannot be one of ours in other letters: encoding/json
// matches names without regard to case.
func unlike(name []byte) bool {
	return !slices.ContainsFunc(name, func(b byte) bool { return b >= utf8.RuneSelf || 'A' <= b && b <= 'Z' })
}

// value reads a text; one with escapes is put into the reader's buffer.
func (r *eventReader) value(into *[]byte) bool {
	body, plain, ok := r.Text()
	if !ok {
		return false
	}
	if *into = body; !plain || !utf8.Valid(body) {
		from := len(r.text)
		r.text = jsonscan.AppendText(r.text, body)
		*into = r.text[from:]
	}
	return true
}

func (r *eventReader) string(into *string) bool {
	var value []byte
	ok := r.value(&value)
	*into = string(value)
	return ok
}

// keyword reads a text that is nearly always one of a few.
func (r *eventReader) keyword(into *string) bool {
	var value []byte
	ok := r.value(&value)
	*into = keyword(value)
	return ok
}

// keyword is string(word), without allocating for the words that every stream has.
func keyword(word []byte) string {
	for _, known := range keywords {
		if string(word) == known {
			return known
		}
	}
	return string(word)
}

var keywords = [...]string{
	"content_block_delta", "input_json_delta", "text_delta", "thinking_delta", "content_block_start", "content_block_stop",
	TypeToolUse, TypeText, "message_start", "message_delta", "message_stop", "signature_delta", "end_turn", "ping",
}

func (r *eventReader) raw(into *[]byte) bool {
	start := r.At
	ok := r.Skip()
	*into = r.JSON[start:r.At]
	return ok
}

// count reads an integer of a usual size.
func (r *eventReader) count(into *int) bool {
	token, digitsOnly, ok := r.Number()
	if !ok || !digitsOnly || len(token) > 18 {
		return false
	}
	n, err := strconv.Atoi(string(token))
	*into = n
	return err == nil
}

// plainBlock reads a text or a call that has no members beside the usual ones. Its input
// belongs to the event's data.
func (r *eventReader) plainBlock(data []byte) (b Block, ok bool) {
	c := eventReader{Cursor: jsonscan.Cursor{JSON: data}, text: r.text[:0]}
	c.Space()
	var seen readMembers
	ok = c.Members(func(name []byte, _ bool) bool {
		switch string(name) {
		case "type":
			return seen.first(0) && c.keyword(&b.Type)
		case "text":
			return seen.first(1) && c.string(&b.Text)
		case "id":
			return seen.first(2) && c.string(&b.ID)
		case "name":
			return seen.first(3) && c.string(&b.Name)
		case "input":
			return seen.first(4) && c.raw((*[]byte)(&b.Input))
		}
		return false
	})
	r.text = c.text
	switch b.Type {
	case TypeText:
		return b, ok && c.End() && seen&^0b00011 == 0
	case TypeToolUse:
		return b, ok && c.End() && seen&^0b11101 == 0
	}
	return b, false
}

// blockOf reads the block that a content_block_start brings.
func (r *eventReader) blockOf(data []byte) (Block, error) {
	if b, ok := r.plainBlock(data); ok {
		if string(b.Input) == "{}" { // its input is to come, and is that where none comes
			b.Input = nil
		}
		b.Input = bytes.Clone(b.Input)
		return b, nil
	}
	var b Block
	err := b.UnmarshalJSON(data)
	return b, err
}
