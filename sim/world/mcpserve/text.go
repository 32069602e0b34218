package mcpserve

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// utf8Text is a catalogue's text as UTF-8, without a mark of byte order. Shells of
// Windows write UTF-16, with a mark; what is neither is refused, since whatever stood
// in for its characters would be counted and searched.
func utf8Text(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		decoded, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return nil, fmt.Errorf("it begins as UTF-16 and is none (%w); save it as UTF-8", err)
		}
		data = decoded
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if at := invalid(data); at >= 0 {
		return nil, &textError{line(data, at), fmt.Sprintf("byte 0x%02x is no UTF-8; save the file as UTF-8", data[at])}
	}
	return events(data), nil
}

// textError is what is wrong with the text in one line.
type textError struct {
	line int
	what string
}

func (e *textError) Error() string { return e.what }

// line is the one that an offset lies in, from 1.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}

// invalid is where the first byte stands that is no UTF-8, or -1.
func invalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// events takes the data out of an event stream, which is how a server over
// streamable HTTP answers, and leaves blanks in place of the rest, so that lines
// keep their numbers. Any other text stays as it is.
func events(data []byte) []byte {
	head := bytes.TrimLeft(data, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("event:")) && !bytes.HasPrefix(head, []byte("data:")) && !bytes.HasPrefix(head, []byte("id:")) {
		return data
	}
	var out []byte
	for l := range bytes.Lines(data) {
		if text, ok := bytes.CutPrefix(l, []byte("data:")); ok {
			out = append(out, text...)
		} else {
			out = append(out, '\n')
		}
	}
	return out
}
