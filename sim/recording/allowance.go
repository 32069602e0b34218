package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var (
	errShape     = errors.New("it is not built like a recording")
	errAllowance = errors.New("a part is too large")
)

// allowance lets no more be read than was granted since the last grant.
type allowance struct {
	r    io.Reader
	left int64
	// feeds are the line feeds that were read.
	feeds int
}

// maxRead is how much is read at once, so that what waits to be parsed stays small
// even after something large.
const maxRead = 64 << 10

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errAllowance
	}
	n, err := a.r.Read(p[:min(int64(len(p)), a.left, maxRead)])
	a.left -= int64(n)
	a.feeds += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

// line is where a decoder stands that reads from here.
func (a *allowance) line(dec *json.Decoder) int {
	waiting, err := io.ReadAll(dec.Buffered())
	if err != nil {
		return 0 // a reader of bytes in memory gives none
	}
	return 1 + a.feeds - bytes.Count(waiting, []byte("\n"))
}

// members are those of a document that is none of the known, as it may be something
// else.
type members struct {
	text []byte
	left int64
}

func (m *members) add(name string, value json.RawMessage) error {
	if m.left -= int64(len(value)); m.left < 0 {
		return errAllowance
	}
	m.text = append(append(append(append(m.text, ','), words(name)...), ':'), value...)
	return nil
}

func (m *members) document() json.RawMessage {
	if len(m.text) == 0 {
		return json.RawMessage("{}")
	}
	m.text[0] = '{'
	return append(m.text, '}')
}
