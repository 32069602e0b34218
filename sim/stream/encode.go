package stream

import (
	"bytes"
	"io"
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

// Encode writes the events one after the other, one Write each, and returns
// the writer's first error.
func Encode(w io.Writer, events []Event) error {
	var buf []byte
	for _, e := range events {
		buf = Append(buf[:0], e)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
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
