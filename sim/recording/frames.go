package recording

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// A frame is: its length, that of its headers, a checksum of the two; headers;
// payload; a checksum of all. Numbers are big-endian, lengths in bytes.
const (
	framePrelude = 12
	frameTail    = 4
)

// isFrame reports whether bytes begin with a frame: the prelude has a checksum.
func isFrame(b []byte) bool {
	if len(b) < framePrelude {
		return false
	}
	size, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	return size >= framePrelude+frameTail && headers <= size-framePrelude-frameTail && crc32.ChecksumIEEE(b[:8]) == binary.BigEndian.Uint32(b[8:])
}

var (
	errFrame    = errors.New("a frame of the event stream is damaged")
	errFrameCut = errors.New("the event stream ends inside a frame")
)

// readFrame reads one frame of at most max bytes and gives its headers that are
// texts, and its payload; io.EOF between frames.
func readFrame(r io.Reader, max int64) (map[string]string, []byte, error) {
	frame := make([]byte, framePrelude)
	if _, err := io.ReadFull(r, frame); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, errFrameCut
	} else if err != nil {
		return nil, nil, err
	}
	size := int64(binary.BigEndian.Uint32(frame))
	if !isFrame(frame) || size > max {
		return nil, nil, errFrame
	}
	frame = append(frame, make([]byte, size-framePrelude)...)
	if _, err := io.ReadFull(r, frame[framePrelude:]); err != nil {
		return nil, nil, errFrameCut
	}
	head, payload, _, _ := stream.NextFrame(frame)
	if end := size - frameTail; crc32.ChecksumIEEE(frame[:end]) != binary.BigEndian.Uint32(frame[end:]) {
		return nil, nil, errFrame
	}
	return frameHeaders(head), payload, nil
}

// frameHeaders reads the headers that are texts; it stops at one of another type, whose length does not matter here.
func frameHeaders(b []byte) map[string]string {
	const text = 7
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+4 || b[n+1] != text {
			return out
		}
		name, rest := string(b[1:n+1]), b[n+2:]
		size := int(binary.BigEndian.Uint16(rest))
		if len(rest) < size+2 {
			return out
		}
		out[name], b = string(rest[2:size+2]), rest[size+2:]
	}
	return out
}

// frameEvent gives the model's event in a frame; ok is false when it has none.
func frameEvent(headers map[string]string, payload []byte) (e stream.Event, ok bool, err error) {
	if kind := headers[":exception-type"]; kind != "" || headers[":message-type"] == "error" {
		kind = cmp.Or(kind, headers[":error-code"])
		text := cmp.Or(gjson.GetBytes(payload, "message").String(), headers[":error-message"])
		return dialect.Failure(kind, text), true, nil
	}
	if kind := headers[":event-type"]; dialect.IsConverseEvent(kind) && json.Valid(payload) {
		return stream.Event{Type: kind, Data: payload}, true, nil
	}
	text := gjson.GetBytes(payload, "bytes")
	if text.Type != gjson.String {
		return e, false, nil
	}
	data, err := base64.StdEncoding.DecodeString(text.Str)
	if err != nil || !json.Valid(data) {
		return e, false, fmt.Errorf("%w: its event is no JSON in base64", errFrame)
	}
	if kind := gjson.GetBytes(data, "type").String(); kind != "" {
		return stream.Event{Type: kind, Data: data}, true, nil
	}
	if e, ok := dialect.ConverseEvent(gjson.ParseBytes(data)); ok {
		return e, true, nil
	}
	return stream.Event{Data: data}, true, nil
}

// framed decodes frames one after the other, and returns how many there were; emit gets the
// number of the event's frame, from 1.
func framed(r io.Reader, max int64, emit func(n int, e stream.Event) error) (n int, err error) {
	for {
		headers, payload, err := readFrame(r, max)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
		e, ok, err := frameEvent(headers, payload)
		if err == nil && ok { // else it is of the front end's own
			err = emit(n, e)
		}
		if err != nil {
			return n, err
		}
	}
}

// scanFrames reads a bare file of frames.
func (s *scanner) scanFrames(r *bufio.Reader) error {
	s.format = EventBytes
	out := s.lone()
	out.responses.trouble = func(k Kind, text string) { s.problem(Problem{Kind: k, Text: text}) }
	d := &dialect.Stream{Emit: func(e stream.Event) error { return out.responses.add(e, 0) }}
	_, err := framed(r, s.limits.Part, func(_ int, e stream.Event) error { return d.Add(e) })
	if e := d.End(); e != nil {
		return e
	}
	switch {
	case errors.Is(err, errFrame), errors.Is(err, errFrameCut):
		kind, how, text := CutStream, Cut, err.Error()
		if errors.Is(err, errFrame) {
			kind, how, text = Malformed, Broken, text+"; it and the rest of the file were left out"
		}
		if out.responses.turn == nil {
			s.problem(Problem{Kind: kind, Text: text})
		} else {
			out.responses.markIncomplete(how, text)
		}
		return out.responses.end(text)
	case err != nil:
		return err
	}
	return out.responses.end("the file ends before message_stop")
}
