package stream

import (
	"bytes"
	"encoding/json"
)

// The wire types fix the order of members, so that the same turn always gives
// the same bytes. Their names are the API's.

type wireStart struct {
	Type    string      `json:"type"`
	Message wireMessage `json:"message"`
}

type wireMessage struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	Role         string    `json:"role"`
	Model        string    `json:"model"`
	Content      []string  `json:"content"`
	StopReason   *string   `json:"stop_reason"`
	StopSequence *string   `json:"stop_sequence"`
	Usage        wireUsage `json:"usage"`
}

type wireUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type wireBlock struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block any    `json:"content_block"`
}

type wireText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type wireThinking struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type wireRedacted struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type wireCall struct {
	Type   string   `json:"type"`
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Server string   `json:"server_name,omitempty"`
	Input  struct{} `json:"input"` // always {}: the deltas bring it
}

type wireResult struct {
	Type    string          `json:"type"`
	ID      string          `json:"tool_use_id,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
}

type wireDelta struct {
	Type  string    `json:"type"`
	Index int       `json:"index"`
	Delta wirePiece `json:"delta"`
}

// wirePiece is one delta; exactly one of the pointers is set.
type wirePiece struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
	JSON      *string `json:"partial_json,omitempty"`
}

type wireStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type wireEnd struct {
	Type  string       `json:"type"`
	Delta wireEndDelta `json:"delta"`
	Usage wireEndUsage `json:"usage"`
}

type wireEndDelta struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

type wireEndUsage struct {
	Output int `json:"output_tokens"`
}

type wireBare struct {
	Type string `json:"type"`
}

type wireError struct {
	Type  string      `json:"type"`
	Error wireFailure `json:"error"`
}

type wireFailure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// compact encodes v as the API does: no blanks, no HTML escapes.
func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only a RawMessage could fail, and those are checked before.
		panic("stream: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// squeeze compacts JSON, keeping the order of members; what is no JSON stays.
func squeeze(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
