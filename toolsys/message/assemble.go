package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"toolbench/toolsys/jsonscan"
)

// ErrIncomplete is returned when a stream ended without message_stop. Nothing of
// such a message may be committed (J5).
var ErrIncomplete = errors.New("the stream ended before message_stop")

// StreamError is an error event sent inside a stream.
type StreamError struct{ Kind, Message string }

func (e *StreamError) Error() string {
	return fmt.Sprintf("the stream sent an error: %s: %s", e.Kind, e.Message)
}

// Usage counts tokens as the API reports them.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// take puts later counts in the place of earlier ones, which they include. Many gateways know
// the input only at the end, and others leave out at the end what they gave at the start.
func (u *Usage) take(later Usage) {
	u.Input, u.Output = cmp.Or(later.Input, u.Input), cmp.Or(later.Output, u.Output)
	u.CacheRead, u.CacheWrite = cmp.Or(later.CacheRead, u.CacheRead), cmp.Or(later.CacheWrite, u.CacheWrite)
}

// Reply is a complete message from the model.
type Reply struct {
	ID, Model  string
	StopReason string
	Usage      Usage
	Message    Message
	// Container is where the API ran the model's code; "" when it ran none.
	Container string
	// Cleared is what the API cleared out of the request.
	Cleared []Cleared
}

// Assembler turns stream events into blocks. It keeps the raw deltas and takes a
// block as complete only at its content_block_stop, because a call cut at `{"a":`
// must never look like `{}`.
type Assembler struct {
	reply   Reply
	reader  eventReader
	begun   bool
	blocks  []blockAt
	places  map[int]int // of the indices, once they are not 0, 1, 2 and so on
	spare   []*openBlock
	one     [1]Block
	stopped bool
	moved   bool
}

// blockAt is a block of the reply by its index: open until it is complete.
type blockAt struct {
	index int
	open  *openBlock
	block Block
}

type openBlock struct {
	start json.RawMessage // what the block began as, of one that travels unread
	text  []byte
	sig   []byte
	json  []byte
	cites []json.RawMessage
	begun bool // it had a delta
}

// Add takes the data of one event and gives the blocks it completed, nearly
// always none or one; they hold until the next event. A *StreamError means that the
// stream reported a failure.
func (a *Assembler) Add(data []byte) ([]Block, error) {
	a.moved = true
	ev, err := a.reader.read(data)
	if err != nil {
		return nil, err
	}
	switch ev.kind {
	case "message_start":
		return a.begin(ev.message)
	case "content_block_start":
		return nil, a.start(ev.index, ev.block)
	case "content_block_delta":
		return nil, a.delta(ev.index, &ev.delta)
	case "content_block_stop":
		return a.stop(ev.index)
	case "message_delta":
		a.finish(ev)
	case "message_stop":
		a.stopped = true
	case "error":
		return nil, new(ev.fault)
	default: // pings and events of a later API version
		a.moved = false
	}
	return nil, nil
}

// Moved reports whether the last event brought the reply further. Pings, events of an
// unknown type and deltas of nothing do not: they show that a connection is open, not
// that a model is at work. The first delta of a block counts even when it is empty, as
// it often is.
func (a *Assembler) Moved() bool { return a.moved }

// begin also takes blocks that stand complete in message_start.
func (a *Assembler) begin(m *startedMessage) ([]Block, error) {
	if a.begun {
		return nil, errors.New("a second message_start")
	}
	a.begun = true
	if m == nil {
		return nil, nil
	}
	a.reply = Reply{ID: m.id, Model: m.model, Usage: m.usage, StopReason: m.stop, Container: m.container}
	for i := range m.content {
		if b := &m.content[i]; b.Type == TypeToolUse {
			b.Input, b.Invalid = completeInput(b.Input, nil)
		}
		a.enter(i).block = m.content[i]
	}
	return m.content, nil
}

// enter adds a place for the block of an index that has none.
func (a *Assembler) enter(index int) *blockAt {
	n := len(a.blocks)
	if index != n && a.places == nil {
		a.places = make(map[int]int, n+1)
		for i := range a.blocks {
			a.places[i] = i
		}
	}
	if a.places != nil {
		a.places[index] = n
	}
	a.blocks = append(a.blocks, blockAt{index: index})
	return &a.blocks[n]
}

// at is the place of the block of an index, or nil.
func (a *Assembler) at(index int) *blockAt {
	if a.places != nil {
		if place, ok := a.places[index]; ok {
			return &a.blocks[place]
		}
		return nil
	}
	if index < 0 || index >= len(a.blocks) {
		return nil
	}
	return &a.blocks[index]
}

func (a *Assembler) start(index int, raw []byte) error {
	if !a.begun {
		return errors.New("content_block_start before message_start")
	}
	if a.at(index) != nil {
		return fmt.Errorf("content block %d started twice", index)
	}
	b, err := a.reader.blockOf(raw)
	if err != nil {
		return err
	}
	place := a.enter(index)
	place.block, place.open = b, a.fresh()
	if len(b.Raw) > 0 {
		place.open.start = bytes.Clone(raw)
	}
	return nil
}

// fresh is an open block, with the room of one that is complete where there is one.
func (a *Assembler) fresh() *openBlock {
	n := len(a.spare)
	if n == 0 {
		return &openBlock{}
	}
	o := a.spare[n-1]
	a.spare = a.spare[:n-1]
	*o = openBlock{text: o.text[:0], sig: o.sig[:0], json: o.json[:0]}
	return o
}

func (a *Assembler) delta(index int, d *delta) error {
	place := a.at(index)
	if place == nil || place.open == nil {
		return fmt.Errorf("delta for content block %d, which is not open", index)
	}
	o := place.open
	a.moved = !o.begun || max(len(d.text), len(d.json), len(d.thinking), len(d.signature), len(d.citation)) > 0
	o.begun = true
	switch d.kind {
	case "text_delta", "thinking_delta":
		if (d.kind == "text_delta") == (place.block.Type == TypeText) { // the other's is passed over, as the API's own libraries do
			o.text = append(append(o.text, d.text...), d.thinking...)
		}
	case "input_json_delta":
		o.json = append(o.json, d.json...)
	case "signature_delta":
		o.sig = append(o.sig, d.signature...)
	case "citations_delta":
		o.cites = append(o.cites, bytes.Clone(d.citation))
	}
	return nil
}

func (a *Assembler) stop(index int) ([]Block, error) {
	place := a.at(index)
	if place == nil || place.open == nil {
		return nil, fmt.Errorf("content_block_stop for block %d, which is not open", index)
	}
	b, err := place.open.complete(place.block)
	if err != nil {
		return nil, err
	}
	a.spare = append(a.spare, place.open)
	place.block, place.open = b, nil
	a.one[0] = b
	return a.one[:], nil
}

func (o *openBlock) complete(b Block) (_ Block, err error) {
	switch {
	case b.Type == TypeText:
		b.Text += string(o.text)
		b.Extra, err = withCitations(b.Extra, o.cites)
	case b.Type == TypeToolUse:
		b.Input, b.Invalid = completeInput(b.Input, o.json)
	case len(b.Raw) > 0:
		b.Raw, err = o.completeRaw()
	}
	return b, err
}

// withCitations adds streamed citations to a text block's further members.
func withCitations(extra json.RawMessage, cites []json.RawMessage) (json.RawMessage, error) {
	if len(cites) == 0 {
		return extra, nil
	}
	members := map[string]json.RawMessage{}
	if len(extra) > 0 {
		if err := json.Unmarshal(extra, &members); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(cites)
	if err != nil {
		return nil, err
	}
	members["citations"] = raw
	return jsonscan.Marshal(members)
}

// completeInput joins what stood in the start with the deltas: deltas win, and no
// deltas at all means the start's input, or {}. What is no JSON object is given
// back as invalid, in the model's own words.
func completeInput(start, deltas []byte) (input json.RawMessage, invalid string) {
	text := bytes.TrimSpace(deltas)
	if len(text) == 0 {
		text = bytes.TrimSpace(start)
	}
	switch {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), ""
	case text[0] != '{' || !valid(text):
		return json.RawMessage("{}"), string(text)
	}
	return bytes.Clone(text), ""
}

// valid is json.Valid, for what has the usual depth without a machine of states.
func valid(text []byte) bool {
	c := jsonscan.Cursor{JSON: text}
	return c.Skip() && c.End() || json.Valid(text)
}

// completeRaw puts the streamed text of a block we do not interpret (thinking,
// server calls) back into it, so that it can be sent on unchanged.
func (o *openBlock) completeRaw() (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(o.start, &members); err != nil {
		return nil, err
	}
	if len(o.text) > 0 {
		var begun string
		if raw, ok := members["thinking"]; ok {
			if err := json.Unmarshal(raw, &begun); err != nil {
				return nil, err
			}
		}
		members["thinking"] = quote(begun + string(o.text))
	}
	if len(o.sig) > 0 {
		members["signature"] = quote(string(o.sig))
	}
	if len(o.json) > 0 {
		members["input"], _ = completeInput(nil, o.json)
	}
	return jsonscan.Marshal(members)
}

func (a *Assembler) finish(ev *event) {
	a.reply.StopReason = cmp.Or(ev.delta.stop, a.reply.StopReason)
	if u := ev.usage; u != nil {
		a.reply.Usage.take(*u)
	}
	a.reply.Container = cmp.Or(ev.delta.container, a.reply.Container)
	a.reply.Cleared = append(a.reply.Cleared, ev.cleared...)
}

// Open names the calls that have begun and are not complete; when the stream
// ends they are what was cut off.
func (a *Assembler) Open() []Block {
	var cut []Block
	for i := range a.blocks {
		if p := &a.blocks[i]; p.open != nil && p.block.Type == TypeToolUse {
			b := p.block
			b.Invalid = string(p.open.json)
			cut = append(cut, b)
		}
	}
	return cut
}

// End gives the reply, without blocks that were cut off, in the order of
// their indices. It returns ErrIncomplete when the stream broke off.
func (a *Assembler) End() (Reply, error) {
	blocks := a.blocks
	if a.places != nil {
		blocks = slices.SortedFunc(slices.Values(blocks), func(x, y blockAt) int { return cmp.Compare(x.index, y.index) })
	}
	a.reply.Message = Message{Role: Assistant}
	for i := range blocks {
		if blocks[i].open == nil {
			a.reply.Message.Content = append(slices.Grow(a.reply.Message.Content, len(blocks)-i), blocks[i].block)
		}
	}
	if !a.stopped {
		return a.reply, ErrIncomplete
	}
	return a.reply, nil
}
