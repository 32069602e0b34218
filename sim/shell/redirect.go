package shell

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// open serves every file the interpreter opens. Names that begin with the mark are the rewriter's.
func (r *run) open(ctx context.Context, name string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	rest, ok := strings.CutPrefix(name, internalMark)
	if !ok {
		text, ok := r.sources[name]
		if !ok {
			return nil, redirectError("1", name, fs.ErrInvalid) // nothing opens files by name any more
		}
		delete(r.sources, name)
		return readOnly{strings.NewReader(text)}, nil
	}
	kind, rest, _ := strings.Cut(rest, ":")
	line, operand, _ := strings.Cut(rest, ":")
	switch kind {
	case "open":
		return r.openInput(hc, line, operand)
	case "text":
		return r.input(hc, reader(strings.NewReader(operand))), nil
	case "string":
		return r.input(hc, reader(strings.NewReader(operand+"\n"))), nil
	case "null":
		return r.input(hc, reader(nil)), nil
	case "nest":
		return r.nest(hc)
	case "size":
		if err := r.measure(hc, line, strings.TrimSuffix(operand, ":")); err != nil {
			return nil, err
		}
	case "turn":
		if err := r.step(); err != nil {
			return nil, err
		}
	case "write":
		return r.openOutput(hc, line, operand, flag)
	}
	return r.pipe(hc, kind), nil
}

// pipe serves the marks of pipelines, jobs, substitutions and time.
func (r *run) pipe(hc interp.HandlerContext, kind string) io.ReadWriteCloser {
	switch kind {
	case "first":
		r.statuses = append(r.statuses, nil)
		return r.output()
	case "out":
		return r.output()
	case "in":
		r.record(hc.LastExitStatus)
		return r.input(hc, r.fromStage(hc))
	case "end":
		r.record(hc.LastExitStatus)
	case "last":
		in := r.input(hc, r.fromStage(hc))
		return &sink{Writer: in, close: func() { in.Close(); r.endPipeline() }}
	case "job":
		r.jobs = append(r.jobs, hc.LastExitStatus)
	case "cap":
		return &sink{Writer: &limited{w: hc.Stdout, left: r.shell.MaxOutput}}
	case "file":
		return r.memoryFile(hc)
	case "time", "timep":
		return r.stopwatch(hc, kind == "timep")
	}
	return &sink{Writer: hc.Stderr}
}

// sink is an output that may do something when it is closed.
type sink struct {
	io.Writer
	close func()
}

func (s *sink) Read([]byte) (int, error) { return 0, io.EOF }

func (s *sink) Close() error {
	if s.close != nil {
		s.close()
	}
	return nil
}

type readOnly struct{ io.Reader }

func (readOnly) Write([]byte) (int, error) { return 0, fs.ErrInvalid }
func (readOnly) Close() error              { return nil }

// input makes in the standard input of the run until the file that it returns is closed. What is written to
// that file goes to standard error.
func (r *run) input(hc interp.HandlerContext, in *bufio.Reader) io.ReadWriteCloser {
	before := r.stdin
	r.stdin = in
	return &sink{Writer: hc.Stderr, close: func() { r.stdin = before }}
}

// output collects a stage's output; closing it makes it ready for the next stage.
func (r *run) output() io.ReadWriteCloser {
	b := &buffer{}
	l := &limited{w: b, left: r.shell.MaxOutput}
	return &sink{Writer: l, close: func() {
		b.cut = l.full
		r.ready = append(r.ready, b)
	}}
}

func (r *run) fromStage(hc interp.HandlerContext) *bufio.Reader {
	n := len(r.ready) - 1
	b := r.ready[n]
	r.ready = r.ready[:n]
	return bufio.NewReader(&reading{b, func() {
		fmt.Fprintf(hc.Stderr, "bash: warning: a pipe was cut off at %d bytes, the in-process shell's limit\n", r.shell.MaxOutput)
	}})
}

// maxCalls bounds calls of functions within calls: the interpreter recurses on Go's stack.
const maxCalls = 1000

// nest counts a call for as long as it lasts. Too many end the script.
func (r *run) nest(hc interp.HandlerContext) (io.ReadWriteCloser, error) {
	if r.use.depth >= maxCalls {
		r.use.steps = r.shell.MaxSteps + 1
		fmt.Fprintf(hc.Stderr, "bash: line %d: maximum function nesting level exceeded (%d)\n", r.line, maxCalls)
		return nil, ErrRunaway
	}
	r.use.depth++
	return &sink{Writer: hc.Stderr, close: func() { r.use.depth-- }}, nil
}

// record notes the status of a stage that has ended.
func (r *run) record(status int) {
	n := len(r.statuses) - 1
	r.statuses[n] = append(r.statuses[n], status)
}

func (r *run) endPipeline() {
	n := len(r.statuses) - 1
	r.last = append(r.statuses[n], 0)
	r.statuses = r.statuses[:n]
}

// memoryFile holds the output of <(...); its name is what the substitution gives.
func (r *run) memoryFile(hc interp.HandlerContext) io.ReadWriteCloser {
	b := &buffer{}
	return &sink{Writer: &limited{w: b, left: r.shell.MaxOutput}, close: func() {
		name := fmt.Sprintf("/dev/fd/%d", 63+len(r.files))
		r.files[name] = b.String()
		io.WriteString(hc.Stdout, name)
	}}
}

func (r *run) stopwatch(hc interp.HandlerContext, posix bool) io.ReadWriteCloser {
	begin := r.shell.Now()
	return &sink{Writer: hc.Stderr, close: func() {
		d := r.shell.Now().Sub(begin)
		if posix {
			fmt.Fprintf(hc.Stderr, "real %.2f\nuser 0.00\nsys 0.00\n", d.Seconds())
			return
		}
		full := d.Truncate(time.Minute)
		fmt.Fprintf(hc.Stderr, "\nreal\t%dm%.3fs\nuser\t0m0.000s\nsys\t0m0.000s\n", full/time.Minute, (d - full).Seconds())
	}}
}

func (r *run) openInput(hc interp.HandlerContext, line, name string) (io.ReadWriteCloser, error) {
	f, err := r.filesIn(hc.Dir, hc.Stdout, hc.Stderr).Open(name)
	if err != nil {
		return nil, redirectError(line, name, err)
	}
	in := r.input(hc, bufio.NewReader(f))
	return &sink{Writer: in, close: func() { in.Close(); f.Close() }}, nil
}

// openOutput opens the file of a redirection that writes.
func (r *run) openOutput(hc interp.HandlerContext, line, name string, flag int) (io.ReadWriteCloser, error) {
	w, err := r.filesIn(hc.Dir, hc.Stdout, hc.Stderr).Create(name, flag&os.O_APPEND != 0)
	if err != nil {
		return nil, redirectError(line, name, err)
	}
	return &sink{Writer: w, close: func() { w.Close() }}, nil
}

// redirectError is worded as Bash words it, in the one type the interpreter prints instead of giving up.
func redirectError(line, name string, err error) error {
	return &fs.PathError{Op: "bash: line " + line + ":", Path: name, Err: fmt.Errorf("%s", reason(err))}
}

// errPipe is what a writer sees whose reader is gone, or has had enough.
var errPipe = errors.New("broken pipe")

// limited passes on up to left bytes and is a broken pipe beyond them. Each write costs something too,
// so that an endless loop of one-byte writes ends soon.
type limited struct {
	w    io.Writer
	left int64
	full bool
}

// minimalCost is the lower bound of what a write counts, in bytes.
const minimalCost = 32

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(b)) <= l.left {
		n, err := l.w.Write(b)
		l.left = max(0, l.left-max(int64(n), minimalCost))
		return n, err
	}
	n, err := l.w.Write(b[:l.left])
	l.left, l.full = 0, true
	return n, cmp.Or(err, errPipe)
}

// broken reports whether w is a stream that has passed its limit.
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
	cut bool // the stage had more to write
}

// reading is a buffer's reader. It warns when a reader comes to the end of a buffer that was cut, since what
// the reader makes of it is wrong.
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
