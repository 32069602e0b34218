package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Reply is a complete message from the model.
type Reply struct {
	ID, Model  string
	StopReason string
	Usage      Usage
	Message    Message
}

// Assembler turns stream events into blocks. It keeps the raw deltas and takes a
// block as complete only at its content_block_stop, because a call cut at `{"a":`
// must never look like `{}`.
type Assembler struct {
	reply   Reply
	open    map[int]*openBlock
	order   []int
	done    map[int]Block
	stopped bool
	moved   bool
}

type openBlock struct {
	start json.RawMessage
	block Block
	text  strings.Builder
	sig   strings.Builder
	json  bytes.Buffer
	cites []json.RawMessage
	begun bool // it had a delta
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
	} `json:"message"`
	Delta struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		PartialJSON string          `json:"partial_json"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Usage *Usage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// Add takes the data of one event and gives the blocks it completed, nearly
// always none or one. A *StreamError means that the stream reported a failure.
func (a *Assembler) Add(data []byte) ([]Block, error) {
	var ev wireEvent
	a.moved = true
	if err := json.Unmarshal(data, &ev); err != nil {
		return nil, fmt.Errorf("malformed stream event: %w", err)
	}
	switch ev.Type {
	case "message_start":
		return a.begin(ev)
	case "content_block_start":
		return nil, a.start(ev.Index, ev.Block)
	case "content_block_delta":
		return nil, a.delta(ev)
	case "content_block_stop":
		return a.stop(ev.Index)
	case "message_delta":
		a.finish(ev)
	case "message_stop":
		a.stopped = true
	case "error":
		return nil, &StreamError{Kind: ev.Error.Type, Message: ev.Error.Message}
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
func (a *Assembler) begin(ev wireEvent) ([]Block, error) {
	if a.open != nil {
		return nil, errors.New("a second message_start")
	}
	a.open, a.done = map[int]*openBlock{}, map[int]Block{}
	if ev.Message == nil {
		return nil, nil
	}
	m := ev.Message
	a.reply = Reply{ID: m.ID, Model: m.Model, Usage: m.Usage, StopReason: m.Stop}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == TypeToolUse {
			b.Input, b.Invalid = completeInput(b.Input, nil)
		}
		a.order = append(a.order, i)
		a.done[i] = m.Content[i]
	}
	return m.Content, nil
}

func (a *Assembler) start(index int, raw json.RawMessage) error {
	if a.open == nil {
		return errors.New("content_block_start before message_start")
	}
	if _, again := a.done[index]; again || a.open[index] != nil {
		return fmt.Errorf("content block %d started twice", index)
	}
	var b Block
	if err := b.UnmarshalJSON(raw); err != nil {
		return err
	}
	a.order = append(a.order, index)
	a.open[index] = &openBlock{start: bytes.Clone(raw), block: b}
	return nil
}

func (a *Assembler) delta(ev wireEvent) error {
	o := a.open[ev.Index]
	if o == nil {
		return fmt.Errorf("delta for content block %d, which is not open", ev.Index)
	}
	d := &ev.Delta
	a.moved = !o.begun || d.Text+d.PartialJSON+d.Thinking+d.Signature != "" || len(d.Citation) > 0
	o.begun = true
	switch ev.Delta.Type {
	case "text_delta":
		o.text.WriteString(ev.Delta.Text)
	case "input_json_delta":
		o.json.WriteString(ev.Delta.PartialJSON)
	case "thinking_delta":
		o.text.WriteString(ev.Delta.Thinking)
	case "signature_delta":
		o.sig.WriteString(ev.Delta.Signature)
	case "citations_delta":
		o.cites = append(o.cites, ev.Delta.Citation)
	}
	return nil
}

func (a *Assembler) stop(index int) ([]Block, error) {
	o := a.open[index]
	if o == nil {
		return nil, fmt.Errorf("content_block_stop for block %d, which is not open", index)
	}
	delete(a.open, index)
	b, err := o.complete()
	if err != nil {
		return nil, err
	}
	a.done[index] = b
	return []Block{b}, nil
}

func (o *openBlock) complete() (b Block, err error) {
	b = o.block
	switch {
	case b.Type == TypeText:
		b.Text += o.text.String()
		b.Extra, err = withCitations(b.Extra, o.cites)
	case b.Type == TypeToolUse:
		b.Input, b.Invalid = completeInput(b.Input, o.json.Bytes())
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
	return marshalSorted(members)
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
	case text[0] != '{' || !json.Valid(text):
		return json.RawMessage("{}"), string(text)
	}
	return bytes.Clone(text), ""
}

// completeRaw puts the streamed text of a block we do not interpret (thinking,
// server calls) back into it, so that it can be sent on unchanged.
func (o *openBlock) completeRaw() (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(o.start, &members); err != nil {
		return nil, err
	}
	if o.text.Len() > 0 {
		var begun string
		if raw, ok := members["thinking"]; ok {
			if err := json.Unmarshal(raw, &begun); err != nil {
				return nil, err
			}
		}
		members["thinking"] = quote(begun + o.text.String())
	}
	if o.sig.Len() > 0 {
		members["signature"] = quote(o.sig.String())
	}
	if o.json.Len() > 0 {
		members["input"], _ = completeInput(nil, o.json.Bytes())
	}
	return marshalSorted(members)
}

func (a *Assembler) finish(ev wireEvent) {
	if ev.Delta.StopReason != "" {
		a.reply.StopReason = ev.Delta.StopReason
	}
	if ev.Usage != nil {
		a.reply.Usage.Output = ev.Usage.Output
	}
}

// Open names the calls that have begun and are not complete; when the stream
// ends they are what was cut off.
func (a *Assembler) Open() []Block {
	var cut []Block
	for _, i := range a.order {
		if o := a.open[i]; o != nil && o.block.Type == TypeToolUse {
			b := o.block
			b.Invalid = o.json.String()
			cut = append(cut, b)
		}
	}
	return cut
}

// End gives the reply, without blocks that were cut off, in the order of
// their indices. It returns ErrIncomplete when the stream broke off.
func (a *Assembler) End() (Reply, error) {
	a.reply.Message = Message{Role: Assistant}
	for _, i := range slices.Sorted(slices.Values(a.order)) {
		if b, ok := a.done[i]; ok {
			a.reply.Message.Content = append(a.reply.Message.Content, b)
		}
	}
	if !a.stopped {
		return a.reply, ErrIncomplete
	}
	return a.reply, nil
}
