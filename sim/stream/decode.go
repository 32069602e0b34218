package stream

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// DefaultMaxEvent is the size in bytes that one event may have unless a
// Decoder is given another: twice what the largest document upload would need.
const DefaultMaxEvent = 64 << 20

// TooLargeError is an event that outgrew the decoder's limit.
type TooLargeError struct {
	Limit  int   // bytes
	Offset int64 // where the event begins, in bytes from the stream's start
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("event at byte %d is larger than the limit of %d bytes", e.Offset, e.Limit)
}

// TruncatedError is a stream that ended inside an event.
type TruncatedError struct {
	Offset int64 // where the unfinished event begins, in bytes
	Event  Event // what had arrived of it, owned by the error
	// Whole is true if the data is valid JSON: only the closing blank line is missing, and the event can be trusted.
	Whole bool
}

// Error implements error.
func (e *TruncatedError) Error() string {
	return fmt.Sprintf("stream ends inside the event at byte %d (type %q, %d bytes of data)",
		e.Offset, e.Event.Type, len(e.Event.Data))
}

// Decoder turns the bytes of a stream into events, however the bytes are split (O2). The zero value is ready. It
// accepts \n, \r\n and \r line ends, a byte order mark, comments, events without an "event:" line, data over several
// lines, trailing spaces; it drops events without data and the "[DONE]" mark that some gateways append. Fields "id"
// and "retry" mean nothing here.
type Decoder struct {
	// MaxEvent is the largest event in bytes; 0 means DefaultMaxEvent.
	MaxEvent int

	line  []byte // the part of an unfinished line that earlier chunks brought
	name  string // the event: field
	data  []byte // the data so far
	hold  []byte // backing store for data that outlives its chunk
	owned bool   // data may be appended to: it is not a slice of the chunk or of line
	some  bool   // a data field was seen

	begun  bool  // the byte order mark has been dealt with
	skipLF bool  // the last byte was \r, so that a \n belongs to it
	size   int   // bytes of the current event
	off    int64 // bytes consumed, up to the end of the last full line
	start  int64 // where the current event begins
	err    error
}

// Feed decodes one more chunk and calls emit for each event it completes. The event's Data is valid until emit
// returns; it is a slice of chunk where the event lies within it in full. An error of emit or of the stream ends the
// decoding: every later Feed returns it again.
func (d *Decoder) Feed(chunk []byte, emit func(Event) error) error {
	if d.err != nil {
		return d.err
	}
	d.err = d.feed(chunk, emit)
	return d.err
}

// Offset is how many bytes the decoder has consumed: within emit, the place just behind the event's blank line. A \n
// that follows a final \r counts to what comes next.
func (d *Decoder) Offset() int64 { return d.off }

// Close reports whether the stream ended well: it returns a *TruncatedError if it
// ended inside an event, or the error that Feed returned.
func (d *Decoder) Close() error {
	if d.err != nil {
		return d.err
	}
	if len(d.line) > 0 {
		d.field(d.line)
	}
	if !d.some {
		return nil
	}
	e := d.event().Clone()
	if isDone(e.Data) || len(e.Data) == 0 {
		return nil
	}
	return &TruncatedError{Offset: d.start, Event: e, Whole: json.Valid(e.Data)}
}

func (d *Decoder) feed(chunk []byte, emit func(Event) error) error {
	cr := bytes.IndexByte(chunk, '\r') >= 0
	for len(chunk) > 0 {
		if d.skipLF {
			d.skipLF = false
			if chunk[0] == '\n' {
				d.off++
				chunk = chunk[1:]
				continue
			}
		}
		line, rest, ended := cutLine(chunk, cr)
		if !ended {
			return d.keep(line)
		}
		d.skipLF = chunk[len(line)] == '\r'
		chunk = rest
		if err := d.endLine(line, emit); err != nil {
			return err
		}
	}
	d.secure()
	return nil
}

// cutLine splits at the first line end. Looking for a \r costs, and hardly any
// stream has one, so the caller passes whether this chunk does.
func cutLine(b []byte, cr bool) (line, rest []byte, ended bool) {
	n := -1
	if cr {
		n = bytes.IndexAny(b, "\r\n")
	} else {
		n = bytes.IndexByte(b, '\n')
	}
	if n < 0 {
		return b, nil, false
	}
	return b[:n], b[n+1:], true
}

// keep stores the start of a line whose end has not arrived.
func (d *Decoder) keep(part []byte) error {
	d.secure()
	d.line = append(d.line, part...)
	if d.size+len(d.line) > d.limit() {
		return &TooLargeError{Limit: d.limit(), Offset: d.start}
	}
	return nil
}

func (d *Decoder) endLine(line []byte, emit func(Event) error) error {
	if len(d.line) > 0 {
		d.line = append(d.line, line...)
		line = d.line
	}
	d.off += int64(len(line) + 1)
	if d.size+len(line) > d.limit() {
		return &TooLargeError{Limit: d.limit(), Offset: d.start}
	}
	if line = d.dropMark(line); len(line) == 0 {
		d.line = d.line[:0]
		return d.dispatch(emit)
	}
	d.field(line)
	d.line = d.line[:0]
	return nil
}

// dropMark removes the byte order mark that may open a stream.
func (d *Decoder) dropMark(line []byte) []byte {
	if d.begun {
		return line
	}
	d.begun = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}

// field takes one "name: value" line.
func (d *Decoder) field(line []byte) {
	line = d.dropMark(line)
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "": // a comment
		return
	case "event":
		d.name = intern(bytes.TrimSpace(value))
	case "data":
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
		d.addData(value)
	case "error":
		if json.Valid(value) { // of llama.cpp's server, in the place of data
			d.addData([]byte(`{"error":` + string(value) + "}"))
		}
	}
	d.size += len(line) + 1
}

// addData takes a data line. The first one is only pointed to, be it in the
// chunk or in d.line: secure copies it before either is written to.
func (d *Decoder) addData(value []byte) {
	if !d.some {
		d.some, d.data, d.owned = true, value, false
		return
	}
	if !d.owned {
		// A fresh array: the event may outlive this call (see Decode).
		joined := make([]byte, 0, len(d.data)+len(value)+64)
		d.data, d.owned = append(joined, d.data...), true
	}
	d.data = append(append(d.data, '\n'), value...)
}

// secure copies data that points to bytes which are about to go away.
func (d *Decoder) secure() {
	if d.some && !d.owned {
		d.hold = append(d.hold[:0], d.data...)
		d.data, d.owned = d.hold, true
	}
}

func (d *Decoder) dispatch(emit func(Event) error) error {
	some := d.some
	e := d.event()
	d.name, d.data, d.some, d.owned, d.size = "", nil, false, false, 0
	defer func() { d.start = d.off }()
	if !some || len(e.Data) == 0 || isDone(e.Data) {
		return nil
	}
	return emit(e)
}

func (d *Decoder) event() Event {
	e := Event{Type: d.name, Data: bytes.TrimSpace(d.data)}
	if e.Type == "" && d.some {
		e.Type = typeOf(e.Data)
	}
	return e
}

func (d *Decoder) limit() int { return cmp.Or(max(0, d.MaxEvent), DefaultMaxEvent) }

func isDone(data []byte) bool { return string(data) == "[DONE]" }

// Decode decodes a body in one piece. The events' Data are slices of b, which must not be changed while they are in
// use. A last event that lacks nothing but its blank line is taken; one that is cut is a *TruncatedError, returned
// with the events before it.
func Decode(b []byte) ([]Event, error) {
	var d Decoder
	events := make([]Event, 0, bytes.Count(b, []byte("\n"))/3+1) // three lines each, as a rule
	err := d.Feed(b, func(e Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		return events, err
	}
	err = d.Close()
	if cut, ok := errors.AsType[*TruncatedError](err); ok && cut.Whole {
		return append(events, cut.Event), nil
	}
	return events, err
}

// A frame of an AWS event stream is its length, that of its headers, a checksum of the two,
// headers, the payload, and a checksum of all. Numbers are big-endian.
const (
	framePrelude = 12
	frameSums    = 16
)

// FrameHead writes a frame's headers, names and values that are texts.
func FrameHead(pairs ...string) (head []byte) {
	const text = 7
	for i := 0; i+1 < len(pairs); i += 2 {
		head = append(append(head, byte(len(pairs[i]))), pairs[i]...)
		head = append(binary.BigEndian.AppendUint16(append(head, text), uint16(len(pairs[i+1]))), pairs[i+1]...)
	}
	return head
}

// AppendFrame appends a frame of these headers and payload.
func AppendFrame(dst, head, payload []byte) []byte {
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(frameSums+len(head)+len(payload)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
	dst = append(append(dst, head...), payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}

// NextFrame gives the headers and the payload of the frame with which bytes begin, and its
// size; ok is false where no whole frame is.
func NextFrame(b []byte) (head, payload []byte, size int, ok bool) {
	if len(b) < frameSums {
		return nil, nil, 0, false
	}
	all, headers := uint64(binary.BigEndian.Uint32(b)), uint64(binary.BigEndian.Uint32(b[4:]))
	if all > uint64(len(b)) || headers+frameSums > all || crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return nil, nil, 0, false
	}
	head, payload = b[framePrelude:framePrelude+headers], b[framePrelude+headers:all-frameSums+framePrelude]
	return head, payload, int(all), true
}
