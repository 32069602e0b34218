package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"toolbench/toolsys/jsonscan"
)

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	ToolName  string          `json:"tool_name"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	CacheControl json.RawMessage `json:"cache_control"`
}

// members are what each type is read into; all others go to Extra.
var known = map[string][]string{
	TypeText:          {"text"},
	TypeToolUse:       {"id", "name", "input"},
	TypeToolResult:    {"tool_use_id", "content", "is_error"},
	TypeImage:         {"source"},
	TypeDocument:      {"source"},
	TypeToolReference: {"tool_name"},
}

// UnmarshalJSON reads a block; one of a type unknown here keeps its bytes.
func (b *Block) UnmarshalJSON(data []byte) (err error) {
	var w wireBlock
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("block: %w", err)
	}
	*b = Block{Type: w.Type, Cache: len(w.CacheControl) > 0 && string(w.CacheControl) != "null"}
	if !w.interpreted() {
		b.Raw = bytes.Clone(data) // Raw wins when written
		return nil
	}
	if err := b.fill(w); err != nil {
		return err
	}
	b.Extra, err = further(data, known[w.Type])
	return err
}

// interpreted reports whether the block is of a shape this package reads.
func (w wireBlock) interpreted() bool {
	if w.Type == TypeImage || w.Type == TypeDocument {
		return w.Source != nil && w.Source.Type == "base64"
	}
	return known[w.Type] != nil
}

func (b *Block) fill(w wireBlock) error {
	switch w.Type {
	case TypeText:
		b.Text = w.Text
	case TypeToolUse:
		b.ID, b.Name, b.Input = w.ID, w.Name, w.Input
	case TypeToolResult:
		content, err := ParseContent(w.Content)
		if err != nil {
			return fmt.Errorf("result of call %s: %w", w.ToolUseID, err)
		}
		b.ToolUseID, b.Content, b.IsError = w.ToolUseID, content, w.IsError
	case TypeImage, TypeDocument:
		b.MediaType, b.Data = w.Source.MediaType, w.Source.Data
	case TypeToolReference:
		b.Name = w.ToolName
	}
	return nil
}

// further gives the members that are not read, as an object; nil when there are
// none, as nearly always.
func further(data []byte, read []string) (json.RawMessage, error) {
	if !hasOthers(data, read) {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	delete(members, "type")
	delete(members, "cache_control")
	for _, name := range read {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil, nil
	}
	return jsonscan.Marshal(members)
}

// hasOthers reports whether an object, valid JSON, has members beside type,
// cache_control and those named. A name with escapes counts as another.
func hasOthers(data []byte, read []string) bool {
	c := jsonscan.Cursor{JSON: data}
	c.Space()
	return !c.Members(func(name []byte, _ bool) bool {
		key := string(name)
		return (key == "type" || key == "cache_control" || slices.Contains(read, key)) && c.Skip()
	})
}
