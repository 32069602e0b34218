package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// grace is how long an interrupted run waits, in real time, for scenarios to notice.
const grace = 2 * time.Second

// pool runs entries side by side. Which outcomes it gives, and their order, do not depend on how many run at once.
type pool struct {
	jobs     int
	failFast bool
	repeat   int
	// whole keeps what happened in runs that passed, for reports that draw it, and the scenarios, which
	// are then played again under other policies: of a suite that is most of what the program would hold.
	// tools keeps those of each run too, which a drawing of its calls asks for: of what a run holds, they are most.
	whole, tools bool
	options      run.Options
	progress     *progress
	// debug shows stacks; broke is called with panics.
	debug bool
	broke func(v any, stack []byte)
}

func (a *app) pool(f runFlags) *pool {
	return &pool{
		jobs: cmp.Or(f.jobs, runtime.GOMAXPROCS(0)), failFast: f.failFast, repeat: f.repeat, whole: f.show || f.outputs.wants(timelines()...), tools: f.show, options: run.Options{Seed: f.seed, Policy: f.policy},
		progress: a.progress(!f.quiet),
		debug:    a.debugging(),
		broke: func(v any, stack []byte) {
			if a.debugging() {
				reportPanic(a.Process, v, stack)
			}
		},
	}
}

// runState is a run under way. Its lock is never held while a scenario runs.
type runState struct {
	mu       sync.Mutex
	entries  []entry
	next     int
	outcomes []*check.Result
	// stop is the index from which on nothing is wanted any more.
	stop int
}

// result is what came of an entry.
type result struct {
	entry   entry
	outcome check.Result
}

// outcomes are what reports are made of.
func outcomes(results []result) []check.Result {
	return each(results, func(r result) check.Result { return r.outcome })
}

// run gives the results in the order of the entries, and whether it was interrupted: then those that did not end are
// missing. What was played of the entries is let go, unless the pool keeps the whole.
func (p *pool) run(ctx context.Context, entries []entry) ([]result, bool) {
	w := &runState{entries: entries, outcomes: make([]*check.Result, len(entries)), stop: len(entries)}
	defer p.progress.start(len(entries))()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var workers sync.WaitGroup
		for range min(p.jobs, len(entries)) {
			workers.Go(func() { p.work(ctx, w) })
		}
		workers.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(grace):
		}
	}
	return w.results()
}

func (p *pool) work(ctx context.Context, w *runState) {
	for ctx.Err() == nil {
		i, e, ok := w.take(p.whole)
		if !ok {
			return
		}
		p.progress.began(e.Name)
		o := p.one(ctx, e)
		p.progress.ended()
		if ctx.Err() != nil && o.Status == check.Errored {
			return // it was stopped, which is no verdict
		}
		if !p.whole && o.Status == check.Passed {
			o.Trace, o.Requests = nil, nil
		}
		if !p.tools {
			o.Trace = slices.Clone(o.Trace) // cases of a scenario may share it, and are yet to be checked
			for i, e := range o.Trace {
				if data, ok := e.Data.(trace.Pool); ok {
					data.Find = nil
					o.Trace[i].Data = data
				}
			}
		}
		w.put(i, o, p.failFast && o.Status != check.Passed)
	}
}

// take gives the next entry that is still wanted. Unless it is kept, nobody can run it again.
func (w *runState) take(keep bool) (i int, e entry, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next >= w.stop {
		return 0, entry{}, false
	}
	i = w.next
	w.next++
	e = w.entries[i]
	if !keep {
		w.entries[i].Run = nil
	}
	return i, e, true
}

// put keeps an outcome. What stands behind one that ends the run is not wanted;
// what stands before it runs on, so that the end is the same for any number of jobs.
func (w *runState) put(i int, o check.Result, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes[i] = &o
	if last {
		w.stop = min(w.stop, i+1)
	}
}

func (w *runState) results() (results []result, interrupted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, o := range w.outcomes[:w.stop] {
		if o == nil {
			interrupted = true
			continue
		}
		results = append(results, result{w.entries[i], *o})
	}
	return results, interrupted
}

// one runs an entry as often as asked.
func (p *pool) one(ctx context.Context, e entry) check.Result {
	first := p.guarded(ctx, e)
	for n := 2; n <= p.repeat && first.Status == check.Passed && ctx.Err() == nil; n++ {
		other := p.guarded(ctx, e)
		if ctx.Err() != nil && other.Status == check.Errored {
			return other // cut off: it has no bearing on the runs before
		}
		first.Took += other.Took
		if failure, differs := compare(first, other, n); differs {
			first.Status = check.Failed
			first.Failures = append(first.Failures, failure)
		}
	}
	return first
}

// guarded runs an entry once; a panic of the harness is an outcome like another.
func (p *pool) guarded(ctx context.Context, e entry) (o check.Result) {
	defer func() {
		if v := recover(); v != nil {
			p.broke(v, debug.Stack())
			o = p.failed(e, fmt.Errorf("internal error: %v; set TOOLBENCH_DEBUG=1 to see the stack", v))
		}
	}()
	if e.broken != nil {
		o = p.failed(e, e.broken)
		_, o.Invalid = errors.AsType[*scenario.FileError](e.broken)
		return o
	}
	return p.placed(e.Run(ctx, p.options), e)
}

// placed gives an outcome with its places as the user can open them, and without
// stacks, which are for who debugs the harness.
func (p *pool) placed(o check.Result, e entry) check.Result {
	for i, f := range o.Failures {
		if rest, ok := strings.CutPrefix(f.At, o.File); ok && o.File != "" {
			o.Failures[i].At = e.File + rest
		}
	}
	if at, ok := errors.AsType[*scenario.FileError](o.Err); ok && at.File == o.File {
		moved := *at
		moved.File = e.File
		o.Err = &moved
	}
	if errors.Is(o.Err, run.ErrHung) && !p.debug {
		first, _, _ := strings.Cut(o.Err.Error(), "\n")
		o.Err = errors.New(first + "; set TOOLBENCH_DEBUG=1 to see where")
	}
	o.File = e.File
	return o
}

func (p *pool) failed(e entry, err error) check.Result {
	return check.Result{Name: e.Name, About: e.About, Tags: e.Tags, File: e.File,
		Status: check.Errored, Policy: p.options.Policy, Seed: p.options.Seed, Err: err}
}

// compare holds the n-th run of a scenario against the first: with the same seed
// it must be the same run (O4). The failure shows where the traces part.
func compare(first, other check.Result, n int) (check.Failure, bool) {
	if other.Status == first.Status && other.Digest == first.Digest {
		return check.Failure{}, false
	}
	if other.Status == check.Errored && other.Err != nil {
		return check.Failure{Expectation: "repeat", Expected: "the same run each time",
			Found: fmt.Sprintf("run %d: %s", n, other.Err)}, true
	}
	return check.Failure{
		Expectation: "repeat",
		Expected:    fmt.Sprintf("trace %s of run 1\n%s", first.Digest, around(first.Trace, parting(first.Trace, other.Trace))),
		Found:       fmt.Sprintf("trace %s of run %d\n%s", other.Digest, n, around(other.Trace, parting(first.Trace, other.Trace))),
	}, true
}

func line(e trace.Event) string { return string(e.AppendLine(nil)) }

// parting is the index of the first event that is not the same.
func parting(a, b []trace.Event) int {
	for i := range min(len(a), len(b)) {
		if line(a[i]) != line(b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// around are the lines of a trace from a little before to a little after an event.
func around(events []trace.Event, at int) string {
	const before, after = 2, 3
	var b strings.Builder
	for i := max(0, at-before); i < min(len(events), at+after); i++ {
		fmt.Fprintf(&b, "%d: %s\n", i+1, line(events[i]))
	}
	return b.String()
}

// Progress is shown after a second and then five times a second.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	progressWidth = 60
)

// statusLine is a line for people at a terminal that is drawn again and again, and is gone at the end.
type statusLine struct {
	w       io.Writer
	enabled bool
	ascii   bool

	mu    sync.Mutex
	shown string
}

func (s *statusLine) draw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.enabled && text != s.shown {
		s.shown = text
		fmt.Fprintf(s.w, "\r\x1b[K%s", reports.Cut(text, progressWidth, s.ascii))
	}
}

func (s *statusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown != "" {
		s.shown = ""
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

// progress shows how far a long run is.
type progress struct {
	line statusLine

	mu          sync.Mutex
	total, done int
	last        string
}

// progress shows how far a command is that works through many things, to people at a terminal.
func (a *app) progress(wanted bool) *progress {
	p := newProgress(a.Stderr, wanted && isTerminal(a.Stderr))
	p.line.ascii = !a.unicode()
	a.shown.Store(p)
	return p
}

// awaiting shows people at a terminal what is waited for, until the function it gives is called.
func (a *app) awaiting(servers int, limit time.Duration) (stop func()) {
	p := a.progress(true)
	p.began(fmt.Sprintf("waiting for servers to answer: %d, at most %s", servers, limit))
	return p.start(0)
}

func newProgress(w io.Writer, enabled bool) *progress {
	return &progress{line: statusLine{w: w, enabled: enabled}}
}

func (p *progress) began(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = name
}

func (p *progress) ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// start shows progress until the function it gives is called, which clears the line.
func (p *progress) start(total int) (stop func()) {
	if !p.line.enabled {
		return func() {}
	}
	p.mu.Lock()
	p.total = total
	p.mu.Unlock()
	quit := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { p.loop(quit) })
	return func() {
		close(quit)
		drawing.Wait()
		p.line.clear()
	}
}

func (p *progress) loop(quit <-chan struct{}) {
	wait := time.NewTimer(progressAfter)
	defer wait.Stop()
	for {
		select {
		case <-quit:
			return
		case <-wait.C:
			p.line.draw(p.text())
			wait.Reset(progressEvery)
		}
	}
}

func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == 0 {
		return reports.Safe(p.last)
	}
	return fmt.Sprintf("%d of %d  %s", p.done, p.total, reports.Safe(p.last))
}
