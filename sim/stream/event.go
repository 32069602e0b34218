package stream

import (
	"bytes"
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
