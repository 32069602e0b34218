package recording

import (
	"bufio"
	"errors"
	"io"
)

// lineReader reads lines of bounded length; of a longer one it keeps nothing.
type lineReader struct {
	r   *bufio.Reader
	max int
	n   int
	buf []byte
}

// line is one line without its end. Its text is valid until the next is read.
type line struct {
	n    int
	text []byte
	// long: it passed the limit, and text is empty. ended: a line feed followed.
	long, ended bool
}

// next gives io.EOF after the last line.
func (l *lineReader) next() (line, error) {
	l.buf = l.buf[:0]
	out := line{n: l.n + 1}
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case out.long:
		case len(l.buf)+len(part) > l.max+1:
			out.long, l.buf = true, l.buf[:0]
		case err == nil && len(l.buf) == 0:
			out.text = part // no copy: it lies in the reader's buffer
		default:
			l.buf = append(l.buf, part...)
			out.text = l.buf
		}
		switch {
		case err == nil:
			l.n++
			out.ended = true
			return l.trim(out), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if len(out.text) == 0 && !out.long {
				return line{}, io.EOF
			}
			l.n++
			return l.trim(out), nil
		default:
			return line{}, err
		}
	}
}

func (l *lineReader) trim(out line) line {
	if out.long {
		out.text = nil
		return out
	}
	if n := len(out.text); out.ended && n > 0 {
		out.text = out.text[:n-1]
	}
	if n := len(out.text); n > 0 && out.text[n-1] == '\r' {
		out.text = out.text[:n-1]
	}
	return out
}
