package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"toolbench/toolsys/jsonscan"
)

// Block types this program interprets; every other type travels through unread,
// byte for byte, in Raw.
const (
	TypeText          = "text"
	TypeToolUse       = "tool_use"
	TypeToolResult    = "tool_result"
	TypeImage         = "image"
	TypeDocument      = "document"
	TypeToolReference = "tool_reference"
)

// Block is one content block. Which members count depends on Type.
type Block struct {
	Type string
	// Text is the text of a text block.
	Text string
	// ID, Name and Input make a tool_use block. Input is a JSON object.
	ID, Name string
	Input    json.RawMessage
	// Invalid is the text the model sent as input when it was no JSON object.
	// Such a call is answered with an error; Input is then {} because the API
	// accepts nothing else back (H2).
	Invalid string
	// ToolUseID, Content and IsError make a tool_result block.
	ToolUseID string
	Content   []Block
	IsError   bool
	// MediaType and Data (base64) make an image or document block.
	MediaType, Data string
	// Cache marks a prompt-cache breakpoint after this block (D4).
	Cache bool
	// Extra is an object of the members that are not read here, such as a call's
	// caller or a text's citations; they are sent back as they came.
	Extra json.RawMessage
	// Raw is the entire block, as it came, when it is none of the above.
	Raw json.RawMessage
}

// Text makes a text block.
func Text(s string) Block { return Block{Type: TypeText, Text: s} }

// ToolResult makes the block that answers call id.
func ToolResult(id string, isError bool, content ...Block) Block {
	return Block{Type: TypeToolResult, ToolUseID: id, IsError: isError, Content: content}
}

// Image makes a base64 image block.
func Image(mediaType, data string) Block {
	return Block{Type: TypeImage, MediaType: mediaType, Data: data}
}

// Document makes a base64 document block (a PDF page set).
func Document(mediaType, data string) Block {
	return Block{Type: TypeDocument, MediaType: mediaType, Data: data}
}

// ToolReference names a deferred tool that is loaded from here on (E5).
func ToolReference(name string) Block { return Block{Type: TypeToolReference, Name: name} }

// PlainText joins the text of blocks, a line feed between two.
func PlainText(blocks []Block) string {
	if len(blocks) == 1 && blocks[0].Type == TypeText {
		return blocks[0].Text // nearly always
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == TypeText {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// MarshalJSON writes the members in the API's usual order.
func (b Block) MarshalJSON() ([]byte, error) { return appendBlock(nil, b) }

func appendBlocks(buf []byte, blocks []Block) ([]byte, error) {
	buf = append(buf, '[')
	for i, b := range blocks {
		if i > 0 {
			buf = append(buf, ',')
		}
		var err error
		if buf, err = appendBlock(buf, b); err != nil {
			return nil, err
		}
	}
	return append(buf, ']'), nil
}

func appendBlock(buf []byte, b Block) ([]byte, error) {
	if len(b.Raw) > 0 {
		return appendCompact(buf, b.Raw)
	}
	var err error
	buf = jsonscan.AppendQuoted(append(buf, `{"type":`...), b.Type)
	switch b.Type {
	case TypeText:
		buf = member(buf, "text", b.Text)
	case TypeToolUse:
		buf = member(buf, "id", b.ID)
		buf = member(buf, "name", b.Name)
		buf = append(buf, `,"input":`...)
		if buf, err = appendCompact(buf, b.Input); err != nil {
			return nil, fmt.Errorf("input of call %s: %w", b.ID, err)
		}
	case TypeToolResult:
		if buf, err = appendResult(buf, b); err != nil {
			return nil, err
		}
	case TypeImage, TypeDocument:
		buf = append(buf, `,"source":{"type":"base64"`...)
		buf = member(buf, "media_type", b.MediaType)
		buf = append(member(buf, "data", b.Data), '}')
	case TypeToolReference:
		buf = member(buf, "tool_name", b.Name)
	default:
		return nil, fmt.Errorf("block of unknown type %q has no raw form", b.Type)
	}
	if b.Cache {
		buf = append(buf, `,"cache_control":{"type":"ephemeral"}`...)
	}
	if buf, err = appendExtra(buf, b.Extra); err != nil {
		return nil, err
	}
	return append(buf, '}'), nil
}

// appendExtra adds the members of an object to the one being written.
func appendExtra(buf []byte, extra json.RawMessage) ([]byte, error) {
	if len(extra) == 0 {
		return buf, nil
	}
	raw, err := appendCompact(nil, extra)
	if err != nil {
		return nil, err
	}
	if len(raw) == 2 { // {}
		return buf, nil
	}
	return append(append(buf, ','), raw[1:len(raw)-1]...), nil
}

func appendResult(buf []byte, b Block) ([]byte, error) {
	buf = member(buf, "tool_use_id", b.ToolUseID)
	buf = append(buf, `,"content":`...)
	buf, err := appendBlocks(buf, b.Content)
	if err != nil {
		return nil, err
	}
	if b.IsError {
		buf = append(buf, `,"is_error":true`...)
	}
	return buf, nil
}

func member(buf []byte, key, value string) []byte {
	buf = append(append(append(buf, ',', '"'), key...), '"', ':')
	return jsonscan.AppendQuoted(buf, value)
}

// escape is what a backslash in JSON begins: two halves of a character, one alone, or all else.
var escape = regexp.MustCompile(`(?i)\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..|\\.`)

// appendCompact adds raw without white space; nothing at all counts as {}. Half a character, as
// models write it, is no JSON to an API: U+FFFD stands in its place.
func appendCompact(buf []byte, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return append(buf, "{}"...), nil
	}
	if bytes.Contains(raw, []byte(`\ud`)) || bytes.Contains(raw, []byte(`\uD`)) {
		raw = escape.ReplaceAllFunc(raw, func(found []byte) []byte {
			if len(found) == len(`\ud83d`) {
				return []byte(`\ufffd`)
			}
			return found
		})
	}
	out := bytes.NewBuffer(buf)
	if err := json.Compact(out, raw); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func quote(s string) []byte { return jsonscan.AppendQuoted(nil, s) }
