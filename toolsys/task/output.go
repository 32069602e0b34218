package task

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// KeepBytes is how much of a task's newest output is kept: this much or more, at
// most twice as much, so that dropping costs little.
const KeepBytes = 1 << 20

// Output is where a task writes. It keeps the newest output and counts what it
// dropped. It is safe for concurrent use.
type Output struct {
	mu      sync.Mutex
	kept    []byte
	dropped int64
	closed  bool
}

// Chunk is a part of a task's output.
type Chunk struct {
	// Text is complete characters; bytes that are no UTF-8 are replaced.
	Text string
	// Next is the offset to go on from.
	Next int64
	// Missed is how many bytes from the asked offset on had been dropped before
	// Text begins.
	Missed int64
	// More is true while the task may still write.
	More bool
}

// String is the text, with a note before it when something is missing.
func (c Chunk) String() string {
	if c.Missed == 0 {
		return c.Text
	}
	return fmt.Sprintf("[%d bytes of earlier output were dropped]\n%s", c.Missed, c.Text)
}

// Write adds to the output; after the task ended it is io.ErrClosedPipe.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return 0, io.ErrClosedPipe
	}
	o.kept = append(o.kept, p...)
	if len(o.kept) > 2*KeepBytes {
		o.drop(len(o.kept) - KeepBytes)
	}
	return len(p), nil
}

// WriteString is Write of a string.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// drop forgets n bytes, and what they leave of a character they cut.
func (o *Output) drop(n int) {
	for n < len(o.kept) && !utf8.RuneStart(o.kept[n]) {
		n++
	}
	o.dropped += int64(n)
	o.kept = append(make([]byte, 0, 2*KeepBytes), o.kept[n:]...)
}

// since gives what was written from offset on. While the task runs, a character
// that is written in part is held back. An offset past the end gives nothing and
// comes back to the end.
func (o *Output) since(offset int64) Chunk {
	o.mu.Lock()
	defer o.mu.Unlock()
	written := o.dropped + int64(len(o.kept))
	offset = min(max(offset, 0), written)
	c := Chunk{Missed: max(0, o.dropped-offset), More: !o.closed}
	part := o.kept[max(offset, o.dropped)-o.dropped:]
	if !o.closed {
		part = wholeRunes(part)
	}
	c.Next = offset + c.Missed + int64(len(part))
	c.Text = strings.ToValidUTF8(string(part), "\uFFFD")
	return c
}

// wholeRunes leaves out a character at the end that is not all there.
func wholeRunes(b []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax-1, len(b)); back++ {
		i := len(b) - back
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

func (o *Output) counts() (written, dropped int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped + int64(len(o.kept)), o.dropped
}

func (o *Output) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
}
