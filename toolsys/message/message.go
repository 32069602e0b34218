package message

import (
	"encoding/json"
	"fmt"
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
func UserText(text string) Message {
	return Message{Role: User, Content: []Block{Text(text)}}
}

// Calls gives the message's tool_use blocks, in order.
func (m Message) Calls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == TypeToolUse {
			calls = append(calls, b)
		}
	}
	return calls
}

// Results gives the message's tool_result blocks, in order.
func (m Message) Results() []Block {
	var results []Block
	for _, b := range m.Content {
		if b.Type == TypeToolResult {
			results = append(results, b)
		}
	}
	return results
}

// MarshalJSON writes role, then content.
func (m Message) MarshalJSON() ([]byte, error) {
	return appendMessage(nil, m)
}

func appendMessage(buf []byte, m Message) ([]byte, error) {
	buf = appendQuoted(append(buf, `{"role":`...), m.Role)
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
