// Package message holds the blocks of the Messages API: what the model streams,
// what is stored, and what is sent back. It exists so that every other package
// describes calls and results in one vocabulary with one JSON form. Bytes are
// canonical (fixed member order, no HTML escapes), because a prompt cache and a
// cassette both compare bytes (D3).
//
// It uses neither HTTP nor tools.
package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolbench/toolsys/jsonscan"
)

// Roles of a message.
const (
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn's contribution to the conversation.
type Message struct {
	Role    string
	Content []Block
}

// UserText is a user message of one text block.
func UserText(text string) Message { return Message{Role: User, Content: []Block{Text(text)}} }

// Calls gives the message's tool_use blocks, in order.
func (m Message) Calls() []Block { return m.blocks(TypeToolUse) }

// Results gives the message's tool_result blocks, in order.
func (m Message) Results() []Block { return m.blocks(TypeToolResult) }

func (m Message) blocks(of string) (all []Block) {
	for _, b := range m.Content {
		if b.Type == of {
			all = append(all, b)
		}
	}
	return all
}

// MarshalJSON writes role, then content.
func (m Message) MarshalJSON() ([]byte, error) { return appendMessage(nil, m) }

func appendMessage(buf []byte, m Message) ([]byte, error) {
	buf = jsonscan.AppendQuoted(append(buf, `{"role":`...), m.Role)
	buf, err := appendBlocks(append(buf, `,"content":`...), m.Content)
	if err != nil {
		return nil, err
	}
	return append(buf, '}'), nil
}

// UnmarshalJSON reads content given as a string or as blocks.
func (m *Message) UnmarshalJSON(data []byte) error {
	var wire struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	blocks, err := ParseContent(wire.Content)
	if err != nil {
		return err
	}
	m.Role, m.Content = wire.Role, blocks
	return nil
}

// ParseContent reads a content member: absent, a string, or an array of blocks.
func ParseContent(raw json.RawMessage) ([]Block, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("message content: %w", err)
		}
		return []Block{Text(s)}, nil
	}
	var blocks []Block
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, fmt.Errorf("message content: %w", err)
	}
	return blocks, nil
}

// Request is what is sent to the model. Tools are ready-made definitions, so that
// their bytes are the pool's business alone (D3).
type Request struct {
	Model     string
	MaxTokens int
	System    []Block
	Tools     []json.RawMessage
	Messages  []Message
	// Betas are sent in the anthropic-beta header, with those that other members need.
	Betas    []string
	Thinking Thinking
	Editing  Editing
	// Diagnose asks why the cache could not read more of the prompt that Previous, an earlier
	// reply's id, was the answer to; "" is none.
	Diagnose bool
	Previous string
	// Container is where the API runs the model's code, as an earlier reply named it.
	Container string
	// Renderer keeps what requests of the same conversation have in common; nil keeps nothing.
	Renderer *Renderer
}

// MarshalJSON writes the request body: model, max_tokens, system, tools,
// messages, stream.
func (r Request) MarshalJSON() ([]byte, error) {
	b, err := r.Body()
	return b.Bytes(), err
}

// Excerpt is the beginning of a text, of most characters at most, the mark of the cut
// included. A text that is cut is read no further than that, however long it is.
func Excerpt(text string, most int) string {
	count, keep := 0, 0
	for i := range text {
		if count++; count > most {
			return text[:keep] + "…"
		}
		if count == most {
			keep = i
		}
	}
	return text
}

// Line is Excerpt of a text whose lines and blanks are joined into one line.
func Line(text string, most int) string {
	return Excerpt(strings.Join(strings.Fields(text), " "), most)
}
