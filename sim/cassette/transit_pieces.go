package cassette

import (
	"bytes"
	"net/http"
	"strings"

	"toolbench/sim/stream"
)

// pieces takes a body apart that is a stream, but none of server-sent events.
type pieces interface {
	// next is the length of the piece at the beginning; 0: it is not whole yet.
	next(buf []byte) int
	// broken and twice are the piece as faults have it.
	broken(piece []byte) []byte
	twice(piece []byte) []byte
}

// piecesOf chooses by what a response is; nil: its events are server-sent.
func piecesOf(h http.Header) pieces {
	switch kind := h.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/vnd.amazon.eventstream"):
		return frames{}
	case strings.HasPrefix(kind, "application/json"):
		return &jsonList{}
	}
	return nil
}

// frames are the binary ones of AWS: each begins with its length.
type frames struct{}

func (frames) next(buf []byte) int {
	if _, _, size, ok := stream.NextFrame(buf); ok {
		return size
	}
	return 0
}

// broken spoils the payload, which its checksum shows.
func (frames) broken(piece []byte) []byte {
	piece[len(piece)-5] ^= 0xff
	return piece
}

func (frames) twice(piece []byte) []byte { return append(piece, piece...) }

// jsonList is the values of one JSON list, as Gemini streams them. A piece has what stands
// before its value: the bracket or the comma.
type jsonList struct{ inside bool }

func (l *jsonList) next(buf []byte) int {
	start := bytes.IndexByte(buf, '{')
	if !l.inside && (start < 0 || strings.Trim(string(buf[:start]), " \t\r\n[,") != "" || bytes.IndexByte(buf[:start], '[') < 0) {
		return 0 // another document: what it is shows where it begins
	}
	if start < 0 {
		return 0
	}
	depth, text := 0, false
	for i := start; i < len(buf); i++ {
		switch c := buf[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				l.inside = true
				return i + 1
			}
		}
	}
	return 0
}

func (*jsonList) broken(piece []byte) []byte {
	return piece[:bytes.IndexByte(piece, '{')+(len(piece)-1)/2]
}

func (*jsonList) twice(piece []byte) []byte {
	return append(append(piece, ','), piece[bytes.IndexByte(piece, '{'):]...)
}
