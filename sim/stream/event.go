package stream

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// Event is one server-sent event of a model's response (O2).
type Event struct {
	// At is when the event arrives, counted from the moment the request was
	// sent, in virtual time. Decoding leaves it zero: bytes carry no times.
	At time.Duration
	// Type is the event's name, "message_start" for instance. Where the stream
	// names none it is the "type" member of the data, and "" where that is
	// missing too.
	Type string
	// Data is the raw JSON of the "data:" lines, without surrounding blanks.
	Data []byte
}

// Clone returns the event with bytes of its own, for keeping one that a
// Decoder emitted.
func (e Event) Clone() Event {
	e.Data = bytes.Clone(e.Data)
	return e
}

// typeOf reads the type that the JSON itself states, "" where there is none.
func typeOf(data []byte) string {
	if r := gjson.GetBytes(data, "type"); r.Type == gjson.String {
		return r.Str
	}
	return ""
}

// intern turns a type's bytes into a string without allocating for the names
// that make up nearly every stream.
func intern(b []byte) string {
	switch string(b) {
	case typeDelta:
		return typeDelta
	case typeBlockStart:
		return typeBlockStart
	case typeBlockStop:
		return typeBlockStop
	case typePing:
		return typePing
	case typeMessageStart:
		return typeMessageStart
	case typeMessageDelta:
		return typeMessageDelta
	case typeMessageStop:
		return typeMessageStop
	case typeError:
		return typeError
	}
	return string(b)
}

// The event types of the Messages API.
const (
	typeMessageStart = "message_start"
	typeMessageDelta = "message_delta"
	typeMessageStop  = "message_stop"
	typeBlockStart   = "content_block_start"
	typeDelta        = "content_block_delta"
	typeBlockStop    = "content_block_stop"
	typePing         = "ping"
	typeError        = "error"
)

// Append appends the event's bytes as the Messages API writes them: the name,
// the data, a blank line. Data that holds line breaks becomes several "data:"
// lines. The time is not written: see package cassette for where it goes.
func Append(dst []byte, e Event) []byte {
	if e.Type != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, e.Type...)
		dst = append(dst, '\n')
	}
	rest := e.Data
	for more := true; more; {
		var line []byte
		line, rest, more = bytes.Cut(rest, []byte("\n"))
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// Bytes returns the events encoded as one body.
func Bytes(events []Event) []byte {
	var n int
	for _, e := range events {
		n += len(e.Type) + len(e.Data) + len("event: \ndata: \n\n")
	}
	b := make([]byte, 0, n)
	for _, e := range events {
		b = Append(b, e)
	}
	return b
}

// Rechunk cuts b into chunks, the i-th of sizes(i) bytes, for proving that the
// way a body is split does not matter (O6). A size below 1 counts as 1; the
// last chunk is what is left. The chunks are slices of b.
func Rechunk(b []byte, sizes func(i int) int) [][]byte {
	var chunks [][]byte
	for i := 0; len(b) > 0; i++ {
		n := min(max(sizes(i), 1), len(b))
		chunks = append(chunks, b[:n:n])
		b = b[n:]
	}
	return chunks
}

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
