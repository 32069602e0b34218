package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"toolbench/toolsys/host"
)

// Limits of one answer of a program, and of what is shown of what it says wrong.
const (
	programBytes = 1 << 20
	programWords = 300
)

// programAnswer is what a program writes: a text, and whether it is that of a failure.
type programAnswer struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// outside does in real time what runs ask of programs. A run is in a bubble of virtual time,
// where a limit would never come while a program is waited for; the channels are made
// outside of all bubbles, so that a bubble's time stands still meanwhile.
type outside struct {
	free  chan *errand
	ended <-chan struct{}
	work  sync.WaitGroup

	mu   sync.Mutex
	kept map[*programWay]bool // programs that run for longer than one answer
}

// errand is work that is done outside of a bubble for a goroutine in it, which waits meanwhile.
type errand struct {
	do   chan func(context.Context) (programAnswer, error)
	done chan programResult
	gone chan struct{} // closed when the goroutine does not wait any more
}

type programResult struct {
	answer programAnswer
	err    error
}

// newOutside is ended by end, which waits until every program is gone.
func newOutside(ctx context.Context) (*outside, func()) {
	ctx, cancel := context.WithCancel(ctx)
	o := &outside{free: make(chan *errand), ended: ctx.Done(), kept: map[*programWay]bool{}}
	o.work.Go(func() {
		for ctx.Err() == nil {
			e := &errand{do: make(chan func(context.Context) (programAnswer, error)), done: make(chan programResult, 1), gone: make(chan struct{})}
			select {
			case o.free <- e:
				o.work.Go(func() { e.run(ctx) })
			case <-ctx.Done():
			}
		}
	})
	return o, func() {
		cancel()
		o.work.Wait()
		for _, w := range slices.Collect(maps.Keys(o.kept)) { // nobody adds to them any more
			_ = w.stop()
		}
	}
}

// keep notes whether a program runs for longer.
func (o *outside) keep(w *programWay, runs bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if runs {
		o.kept[w] = true
	} else {
		delete(o.kept, w)
	}
}

func (e *errand) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	answer, err := (<-e.do)(ctx)
	e.done <- programResult{answer, err}
}

// run has something done, and waits for it; work gets a context of its own.
func (o *outside) run(ctx context.Context, work func(context.Context) (programAnswer, error)) (programAnswer, error) {
	var e *errand
	select {
	case e = <-o.free:
	case <-o.ended:
		return programAnswer{}, errProgramsEnded
	}
	e.do <- work
	select {
	case r := <-e.done:
		return r.answer, r.err
	case <-ctx.Done():
		close(e.gone)
		return programAnswer{}, context.Cause(ctx)
	}
}

var errProgramsEnded = errors.New("the programs were ended")

// programWay is how a program is asked: started anew for each line, or kept.
type programWay struct {
	p   ownProgram
	out *outside

	mu sync.Mutex
	// Of a program that is kept: what it runs as, and why it can be asked no more.
	cmd    *exec.Cmd
	kill   func() // the program and all that it started
	in     io.WriteCloser
	output io.ReadCloser
	lines  *bufio.Scanner
	errs   *limitedBuffer
	broken error
}

func (p ownProgram) way(out *outside) *programWay { return &programWay{p: p, out: out} }

// ask has the program answer a line with a line.
func (w *programWay) ask(ctx context.Context, request any) (programAnswer, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return programAnswer{}, err
	}
	line = append(line, '\n')
	return w.out.run(ctx, func(ctx context.Context) (programAnswer, error) {
		if w.p.Session {
			return w.next(ctx, line)
		}
		return w.once(ctx, line)
	})
}

// once starts the program for one line, behind which its input ends.
func (w *programWay) once(ctx context.Context, line []byte) (programAnswer, error) {
	limited, cancel := context.WithTimeout(ctx, w.p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, w.p.Command[0], w.p.Command[1:]...)
	out, errs := &limitedBuffer{most: programBytes}, &limitedBuffer{most: programWords}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.p.dir, bytes.NewReader(line), out, errs, time.Second
	kill := host.Grouped(cmd)
	ran := cmd.Run()
	kill()
	switch {
	case ctx.Err() != nil:
		return programAnswer{}, errProgramsEnded
	case limited.Err() != nil:
		return programAnswer{}, w.late()
	case ran != nil:
		return programAnswer{}, fmt.Errorf("%s: %w: %s", w.p.name, ran, bytes.TrimSpace(errs.Bytes()))
	}
	return w.read(out.Bytes())
}

func (w *programWay) late() error {
	return fmt.Errorf("%s did not answer within %s", w.p.name, w.p.limit)
}

// read takes an answer from its line.
func (w *programWay) read(text []byte) (answer programAnswer, err error) {
	text = bytes.TrimSpace(text)
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf(`%s answered %q, which is no line like {"text":"...","failed":false}`, w.p.name, text[:min(len(text), programWords)])
	}
	return answer, nil
}

// next gives the program that is kept one more line. Once it failed to answer, it is asked
// nothing more: what it would answer then belongs to an earlier line.
func (w *programWay) next(ctx context.Context, line []byte) (programAnswer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil && w.cmd == nil {
		w.broken = w.start()
	}
	if w.broken != nil {
		return programAnswer{}, w.broken
	}
	limited, cancel := context.WithTimeout(ctx, w.p.limit)
	defer cancel()
	kill, output := w.kill, w.output
	cut := context.AfterFunc(limited, func() {
		kill()
		_ = output.Close()
	})
	answer, err := w.exchange(line)
	if !cut() {
		err = w.late()
		if ctx.Err() != nil {
			err = errProgramsEnded
		}
	}
	if err != nil {
		w.broken = err
		w.stop()
	}
	return answer, err
}

// start starts the program that is kept.
func (w *programWay) start() error {
	cmd := exec.CommandContext(context.Background(), w.p.Command[0], w.p.Command[1:]...) // it outlives one answer
	w.kill = host.Grouped(cmd)
	w.errs = &limitedBuffer{most: programWords}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = w.p.dir, w.errs, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", w.p.name, err)
	}
	w.cmd, w.in, w.output, w.lines = cmd, in, out, bufio.NewScanner(out)
	w.lines.Buffer(nil, programBytes)
	w.out.keep(w, true)
	return nil
}

// exchange writes a line and reads the one that answers it.
func (w *programWay) exchange(line []byte) (programAnswer, error) {
	if _, err := w.in.Write(line); err == nil && w.lines.Scan() {
		return w.read(w.lines.Bytes())
	}
	if err := w.lines.Err(); err != nil {
		return programAnswer{}, fmt.Errorf("%s: %w", w.p.name, err)
	}
	why := "it ended"
	if ended := w.stop(); ended != nil {
		why = ended.Error()
	}
	if said := bytes.TrimSpace(w.errs.Bytes()); len(said) > 0 {
		why += ": " + string(said)
	}
	return programAnswer{}, fmt.Errorf("%s gave no answer: %s", w.p.name, why)
}

// stop ends the program that is kept: by the end of its input, and soon by force.
func (w *programWay) stop() error {
	if w.cmd == nil {
		return nil
	}
	cmd := w.cmd
	w.cmd = nil
	w.out.keep(w, false)
	_ = w.in.Close() // it may be closed already
	force := time.AfterFunc(time.Second, w.kill)
	defer force.Stop()
	ended := cmd.Wait()
	w.kill() // what it left behind
	return ended
}

// end ends the program when its run is over.
func (w *programWay) end() {
	_, _ = w.out.run(context.Background(), func(context.Context) (programAnswer, error) { // what it says then is of no concern
		w.mu.Lock()
		defer w.mu.Unlock()
		w.broken = errProgramsEnded
		_ = w.stop()
		return programAnswer{}, nil
	})
}

// limitedBuffer keeps the beginning of what is written.
type limitedBuffer struct {
	bytes.Buffer
	most int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, b.most-b.Len()))])
	return len(p), nil
}
