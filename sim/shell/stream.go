package shell

import (
	"bytes"
	"errors"
	"io"
)

// errPipe is what a writer sees whose reader is gone, or has had enough.
var errPipe = errors.New("broken pipe")

// limited passes on up to left bytes and is a broken pipe beyond them. Each write costs something too,
// so that an endless loop of one-byte writes ends soon.
type limited struct {
	w    io.Writer
	left int64
	full bool
}

// leastCost is what a write counts at least, in bytes.
const leastCost = 32

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(b)) <= l.left {
		n, err := l.w.Write(b)
		l.left = max(0, l.left-max(int64(n), leastCost))
		return n, err
	}
	n, err := l.w.Write(b[:l.left])
	l.left, l.full = 0, true
	if err == nil {
		err = errPipe
	}
	return n, err
}

// broken says whether w is a stream that has passed its limit.
func broken(w io.Writer) bool {
	switch w := w.(type) {
	case *limited:
		return w.full
	case *sink:
		return broken(w.Writer)
	}
	return false
}

// buffer is what one stage of a pipeline hands to the next.
type buffer struct {
	bytes.Buffer
	cut bool // the stage had more to say
}

// reading is a buffer's reader. If all of a buffer that was cut is read, the reader's result is wrong:
// that is said aloud, not hidden.
type reading struct {
	*buffer
	warn func()
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.buffer.Read(b)
	if err == io.EOF && r.cut {
		r.cut = false
		r.warn()
	}
	return n, err
}
