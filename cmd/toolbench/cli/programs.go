package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/host"
	"toolbench/toolsys/tool"
)

// ownProgram is a tool or a check of the project's own: a program that gets one line of JSON
// on its standard input and answers with one on its standard output.
type ownProgram struct {
	Command []string       `yaml:"command"`
	About   string         `yaml:"about"`
	Schema  map[string]any `yaml:"schema"`
	Safe    bool           `yaml:"safe"`
	// Session keeps the program for a whole run of a scenario: it gets a line for each
	// call, and answers each with one, in order.
	Session bool `yaml:"session"`
	// Limit is how long one answer may take, in real time.
	Limit string `yaml:"limit"`

	limit time.Duration

	name, dir, place string
}

// The members of a project's file that name programs.
const (
	ownTools  = "tools"
	ownChecks = "checks"
)

// programTime is how long one answer of a program may take.
const programTime = time.Minute

// programs reads the tools or the checks of a project's file.
func (c *config) programs(kind string, n ast.Node) error {
	members, err := c.members(n, "names with a command, as in `few-calls: {command: [sh, few.sh]}`")
	if err != nil {
		return err
	}
	for _, m := range members {
		p := ownProgram{name: key(m), dir: filepath.Dir(c.file), place: c.place(m)}
		if err := scenario.Strict(m.Value, &p); err != nil {
			near := ""
			if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
				near = closest(strings.Trim(strings.TrimPrefix(unknown.Message, "unknown field "), `"`), []string{"command", "about", "schema", "safe", "session", "limit"})
			}
			wrong := scenario.InFile(c.file, err)
			wrong.Remedy = fmt.Sprintf("see `toolbench help embedding` for what %s may say", p.name)
			wrong.Problem += near
			return usage("%s", wrong)
		}
		if len(p.Command) == 0 || p.Command[0] == "" {
			return usage("%s: %s has no command, as in `command: [sh, %s.sh]`", p.place, p.name, p.name)
		}
		if p.limit, err = programLimit(p.Limit); err != nil {
			return usage("%s: limit of %s: %s", p.place, p.name, err)
		}
		if kind == ownTools {
			c.tools = append(c.tools, p)
		} else {
			c.checks = append(c.checks, p)
		}
	}
	return nil
}

// programLimit reads a limit, which is a minute where none is given, and no more: a run in
// which nothing happens for longer counts as hung.
func programLimit(text string) (time.Duration, error) {
	if text == "" {
		return programTime, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 || limit > programTime {
		return 0, fmt.Errorf("%q is no time up to %s; write one as 500ms or 10s", text, programTime)
	}
	return limit, nil
}

// ownPrograms are the project's tools and checks, if the user trusts its file, whose author chose
// what the programs do. The function end ends those that run.
func (a *app) ownPrograms(ctx context.Context, trusted bool) (own *run.Own, end func(), err error) {
	c := a.config
	end = func() {}
	if len(c.tools)+len(c.checks) == 0 {
		if trusted {
			return nil, end, usage("--trust: there is no %s here that names tools or checks", ConfigFile)
		}
		return nil, end, nil
	}
	if !trusted {
		names := each(slices.Concat(c.tools, c.checks), func(p ownProgram) string { return p.name })
		a.logf("%s names programs, which are started with --trust only: %s", c.file, strings.Join(names, ", "))
		return nil, end, nil
	}
	out, end := newOutside(ctx)
	for _, p := range c.tools {
		if _, err := p.tool(nil); err != nil {
			return nil, end, usage("%s: %s", p.place, err)
		}
	}
	own = &run.Own{Checks: map[string]func(check.Result) error{}, Tools: func(w run.World) ([]*tool.Tool, error) {
		return tryEach(c.tools, func(p ownProgram) (*tool.Tool, error) {
			way := &programWay{p: p, out: out}
			if p.Session {
				w.Cleanup(way.end)
			}
			return p.tool(way)
		})
	}}
	for _, p := range c.checks {
		way := &programWay{p: p, out: out}
		own.Checks[p.name] = func(out check.Result) error { return p.check(ctx, out, way) }
	}
	return own, end, nil
}

// tool is the program as a tool.
func (p ownProgram) tool(way *programWay) (*tool.Tool, error) {
	schema := json.RawMessage(`{"type":"object"}`)
	if p.Schema != nil {
		raw, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", p.name, err)
		}
		schema = raw
	}
	about := cmp.Or(p.About, "A tool of the project's own.")
	return tool.Build(tool.Def[json.RawMessage, string]{
		Name: p.name, Description: about, InputSchema: schema, Text: func(text string) string { return text },
		Traits: tool.Traits[json.RawMessage]{Safe: func(json.RawMessage) bool { return p.Safe }},
		Call: func(ctx context.Context, in json.RawMessage, c *tool.Context) (tool.Result[string], error) {
			answer, err := way.ask(ctx, map[string]any{"tool": p.name, "call": c.CallID, "input": in})
			return tool.Result[string]{Data: answer.Text, Failed: answer.Failed}, err
		},
	})
}

// check has the program judge a run.
func (p ownProgram) check(ctx context.Context, out check.Result, way *programWay) error {
	var report bytes.Buffer
	if err := formatNamed("json").Write(&report, []check.Result{out}, reports.Options{}); err != nil {
		return err
	}
	answer, err := way.ask(ctx, map[string]any{"check": p.name, "report": json.RawMessage(report.Bytes())})
	if err == nil && answer.Failed {
		err = errors.New(answer.Text)
	}
	return err
}

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
	free  chan *outsideWork
	ended <-chan struct{}
	work  sync.WaitGroup

	mu   sync.Mutex
	kept map[*programWay]bool // programs that run for longer than one answer
}

// outsideWork is work that is done outside of a bubble for a goroutine in it, which waits meanwhile.
type outsideWork struct {
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
	o := &outside{free: make(chan *outsideWork), ended: ctx.Done(), kept: map[*programWay]bool{}}
	o.work.Go(func() {
		for ctx.Err() == nil {
			e := &outsideWork{do: make(chan func(context.Context) (programAnswer, error)), done: make(chan programResult, 1), gone: make(chan struct{})}
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

func (e *outsideWork) run(ctx context.Context) {
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
	var e *outsideWork
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

// ask has the program answer a line with a line.
func (w *programWay) ask(ctx context.Context, request any) (programAnswer, error) {
	line, _ := json.Marshal(request) // what is no text or number of it came as JSON
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
	defer time.AfterFunc(time.Second, w.kill).Stop()
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
