package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"toolbench/toolsys/tool"
)

// Bounds of the lines that are reported while a command runs (L7).
const (
	// LinesEvery is how long complete lines are gathered before they are reported, so that a command
	// that prints a lot does not report each line by itself.
	LinesEvery = 200 * time.Millisecond
	// linesKept is how many bytes of them one report holds; the newest count.
	linesKept = 2000
)

// lines reports what a command prints, line by line, as progress of its call. Both streams share one, so
// that their lines come in the order in which they were printed.
type lines struct {
	ctx     context.Context
	context *tool.Context

	mu      sync.Mutex
	pending []byte
	left    int // bytes of pending that were left out
	waiting bool
}

// from gives a writer that passes on to w, and reports each line that is complete.
func (l *lines) from(w io.Writer) io.Writer { return &lineWriter{Writer: w, lines: l} }

// lineWriter is one of the streams.
type lineWriter struct {
	io.Writer
	lines *lines
	begun []byte // the line that has no end yet
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 {
		w.lines.add(append(w.begun, p[:end]...))
		w.begun = nil
	}
	w.begun = append(w.begun, p[end:]...)
	if over := len(w.begun) - linesKept; over > 0 {
		w.begun = append([]byte(nil), w.begun[over:]...)
	}
	return w.Writer.Write(p)
}

// add takes lines in, and has them reported a moment later.
func (l *lines) add(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, text...)
	if over := len(l.pending) - linesKept; over > 0 {
		l.pending, l.left = append([]byte(nil), l.pending[over:]...), l.left+over
	}
	if !l.waiting {
		l.wait()
	}
}

// wait has what is there reported a moment later. The caller holds the lock.
func (l *lines) wait() {
	l.waiting = true
	actor := "lines/" + l.context.AgentID + "/" + l.context.CallID
	clock := l.context.Clock
	clock.Go(actor, func() {
		if clock.Sleep(l.ctx, actor, LinesEvery) == nil {
			l.report()
		}
	})
}

// report hands on what is there.
func (l *lines) report() {
	l.mu.Lock()
	text, left := strings.TrimRight(valid(l.pending), "\n"), l.left
	l.pending, l.left = nil, 0
	l.mu.Unlock()
	if left > 0 {
		text = fmt.Sprintf("... %d bytes left out ...\n%s", left, text)
	}
	l.context.Progress(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = false; len(l.pending) > 0 { // the next report comes after this one
		l.wait()
	}
}
