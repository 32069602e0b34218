package stream

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/jsonscan"
)

// Event is one server-sent event of a model's response (O2).
type Event struct {
	// At is when the event arrives, counted from the moment the request was
	// sent, in virtual time. Decoding leaves it zero: bytes carry no times.
	At time.Duration
	// Type is the event's name, "message_start" for instance. Where the stream names none it is the "type" member of
	// the data, and "" where that is missing too.
	Type string
	// Data is the raw JSON of the "data:" lines, without surrounding blanks.
	Data []byte
}

// Clone returns the event with bytes of its own, for keeping one that a Decoder emitted.
func (e Event) Clone() Event {
	e.Data = bytes.Clone(e.Data)
	return e
}

// Raw is an event of this data, which arrives at that time and has the type that the data states.
func Raw(at time.Duration, data string) Event {
	return Event{At: at.Truncate(Tick), Type: typeOf([]byte(data)), Data: []byte(data)}
}

// typeOf reads the type that the JSON itself states, "" where there is none.
func typeOf(data []byte) string {
	if r := gjson.GetBytes(data, "type"); r.Type == gjson.String {
		return r.Str
	}
	return ""
}

// intern turns a type's bytes into a string without allocating for the names that make up nearly every stream.
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

// Append appends the event's bytes as the Messages API writes them: the name, the data, a blank line. Data that holds
// line breaks becomes several "data:" lines. The time is not written: see package cassette for where it goes.
func Append(dst []byte, e Event) []byte {
	if e.Type != "" {
		dst = append(append(append(dst, "event: "...), e.Type...), '\n')
	}
	rest := e.Data
	for more := true; more; {
		var line []byte
		line, rest, more = bytes.Cut(rest, []byte("\n"))
		dst = append(append(append(dst, "data: "...), line...), '\n')
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

// Rechunk cuts b into chunks, the i-th of sizes(i) bytes, for proving that the way a body is split does not matter
// (O6). A size below 1 counts as 1; the last chunk is what is left. The chunks are slices of b.
func Rechunk(b []byte, sizes func(i int) int) [][]byte {
	var chunks [][]byte
	for i := 0; len(b) > 0; i++ {
		n := min(max(sizes(i), 1), len(b))
		chunks = append(chunks, b[:n:n])
		b = b[n:]
	}
	return chunks
}

// compact encodes v as the API does: no blanks, no HTML escapes.
func compact(v any) []byte {
	out, err := jsonscan.Marshal(v)
	if err != nil {
		panic("stream: " + err.Error()) // it is a text or numbers, which never fail
	}
	return out
}

// squeeze compacts JSON, keeping the order of members; what is no JSON stays.
func squeeze(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
