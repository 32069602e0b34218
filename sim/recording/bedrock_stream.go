package recording

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// converseEvents are the types of event of Converse's streams.
var converseEvents = []string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}

// converseFailures are the errors that come in place of one.
var converseFailures = []string{"internalServerException", "modelStreamErrorException", "serviceUnavailableException", "throttlingException", "validationException"}

// converseEvent finds the event in an object whose only member names it, but for
// what the service adds.
func converseEvent(v gjson.Result) (e stream.Event, ok bool) {
	members := 0
	v.ForEach(func(name, _ gjson.Result) bool {
		if name.Str != "p" && name.Str != "amazon-bedrock-invocationMetrics" {
			members++
		}
		return members < 2
	})
	if members != 1 {
		return e, false
	}
	for _, kind := range converseEvents {
		if body := v.Get(kind); body.IsObject() {
			return stream.Event{Type: kind, Data: []byte(body.Raw)}, true
		}
	}
	for _, kind := range converseFailures {
		if body := v.Get(kind); body.IsObject() {
			return failure(kind, body.Get("message").String()), true
		}
	}
	return e, false
}

func failure(kind, text string) stream.Event {
	return stream.Event{Type: errorEvent, Data: stream.Error{Type: kind, Message: text}.JSON()}
}

// converser turns the events of Converse's streams into those of the Messages API.
// Others pass as they are. A block of text has no start of its own there, what a
// message cost follows its end, and it has neither an id nor the model's name.
type converser struct {
	id, model string
	emit      func(stream.Event) error

	open    map[int64]bool
	stop    string
	stopped bool
	usage   *translatedUsage
}

// isConverseEvent reports whether an event has to be translated.
func isConverseEvent(kind string) bool {
	switch kind {
	case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
		return true
	}
	return false
}

func (c *converser) add(e stream.Event) error {
	if !isConverseEvent(e.Type) {
		return c.emit(e)
	}
	v := gjson.ParseBytes(e.Data)
	index := v.Get("contentBlockIndex").Int()
	switch e.Type {
	case "messageStart":
		return c.start()
	case "contentBlockStart":
		return c.begin(index, converseStart(v.Get("start")))
	case "contentBlockDelta":
		return c.delta(index, v.Get("delta"))
	case "contentBlockStop":
		if !c.open[index] {
			return nil // a block of which nothing was sent
		}
		delete(c.open, index)
		return c.put(wireEvent{Type: "content_block_stop", Index: &index})
	case "messageStop":
		c.stop, c.stopped = v.Get("stopReason").String(), true
	case "metadata":
		c.usage = converseUsage(v.Get("usage"))
	}
	if c.stopped && c.usage != nil {
		return c.end()
	}
	return nil
}

// wireEvent is an event of the Messages API.
type wireEvent struct {
	Type    string           `json:"type"`
	Index   *int64           `json:"index,omitempty"`
	Message *translated      `json:"message,omitempty"`
	Block   *translatedBlock `json:"content_block,omitempty"`
	Delta   *wireDelta       `json:"delta,omitempty"`
	Usage   *translatedUsage `json:"usage,omitempty"`
}

type wireDelta struct {
	Type      string          `json:"type,omitempty"`
	Text      *string         `json:"text,omitempty"`
	JSON      *string         `json:"partial_json,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Citation  json.RawMessage `json:"citation,omitempty"`
	Stop      string          `json:"stop_reason,omitempty"`
}

func (c *converser) put(e wireEvent) error {
	return c.emit(stream.Event{Type: e.Type, Data: words(e)})
}

func (c *converser) start() error {
	if err := c.end(); err != nil {
		return err
	}
	c.open, c.usage = map[int64]bool{}, nil
	return c.put(wireEvent{Type: messageStart, Message: &translated{Type: "message", ID: c.id, Role: "assistant", Model: c.model, Content: &[]*translatedBlock{}}})
}

func (c *converser) begin(index int64, b *translatedBlock) error {
	if c.open == nil {
		c.open = map[int64]bool{}
	}
	c.open[index] = true
	return c.put(wireEvent{Type: "content_block_start", Index: &index, Block: b})
}

// end closes a message that the model has ended; one that is cut stays open.
func (c *converser) end() error {
	if !c.stopped {
		return nil
	}
	err := c.put(wireEvent{Type: "message_delta", Delta: &wireDelta{Stop: c.stop}, Usage: c.usage})
	c.stop, c.stopped, c.usage, c.open = "", false, nil, nil
	if err != nil {
		return err
	}
	return c.put(wireEvent{Type: messageStop})
}

// converseStart is the block that begins; calls name themselves there.
func converseStart(start gjson.Result) *translatedBlock {
	kind := converseKind(start)
	switch kind {
	case "", "text":
		return textBlock("")
	case "toolUse":
		b := converseBlock(kind, start)
		b.Input = []byte("{}")
		return b
	}
	return converseBlock(kind, start)
}

// delta is a piece of a block, which it opens where nothing else has.
func (c *converser) delta(index int64, d gjson.Result) error {
	thought := d.Get("reasoningContent")
	if b := opened(d, thought); !c.open[index] && b != nil {
		if err := c.begin(index, b); err != nil {
			return err
		}
	}
	piece := conversePiece(d, thought)
	if piece == nil {
		return nil
	}
	return c.put(wireEvent{Type: "content_block_delta", Index: &index, Delta: piece})
}

// opened is the block that a piece is the first of; nil for a call, which is none
// without its name.
func opened(d, thought gjson.Result) *translatedBlock {
	switch {
	case d.Get("toolUse").Exists():
		return nil
	case thought.Get("redactedContent").Exists():
		return converseBlock("reasoningContent", d)
	case thought.Exists():
		return &translatedBlock{Type: "thinking", Thinking: new("")}
	}
	return textBlock("")
}

func conversePiece(d, thought gjson.Result) *wireDelta {
	switch {
	case d.Get("text").Exists():
		return &wireDelta{Type: "text_delta", Text: new(d.Get("text").String())}
	case d.Get("toolUse").Exists():
		return &wireDelta{Type: "input_json_delta", JSON: new(d.Get("toolUse.input").String())}
	case thought.Get("signature").Exists():
		return &wireDelta{Type: "signature_delta", Signature: new(thought.Get("signature").String())}
	case thought.Get("text").Exists():
		return &wireDelta{Type: "thinking_delta", Thinking: new(thought.Get("text").String())}
	case d.Get("citation").Exists():
		return &wireDelta{Type: "citations_delta", Citation: raw(d.Get("citation"))}
	}
	return nil
}
