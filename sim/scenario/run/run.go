package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/trace"
)

// Options change how a scenario is run.
type Options struct {
	// Seed breaks ties between what happens in one instant (O4).
	Seed uint64
	// Policy replaces the scenario's own; "" keeps it.
	Policy string
	// Scripted runs the scripted turns in place of the cassette.
	Scripted bool
	// Patience is how much real time may pass without an event before a run counts as
	// hung, and a tenth of what it may take in all; 0 means a minute.
	Patience time.Duration
	// Own is what the program that runs the scenario adds to it; nil adds nothing.
	Own *Own
	// Watched, when set, is filled with what a person at the conversation sees.
	Watched *Watched

	// chunk replaces the scenario's chunking; nested runs check nothing.
	chunk  int
	nested bool
	// killAfter kills the process after so many events; 0 never does.
	killAfter int
	// answers stand in for the stream: see Record.
	answers *cassette.Cassette
}

// Watched is what a person at a conversation sees, in order. Runs that a check needs besides add nothing to it.
type Watched struct {
	mu   sync.Mutex
	Seen []trace.Seen
}

func (w *Watched) add(s trace.Seen) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.Seen = append(w.Seen, s)
	w.mu.Unlock()
}

// ErrHung is wrapped when a run does not end in real time.
var ErrHung = errors.New("the run hangs: something in it waits in real time")

// Scenario runs a scenario in a bubble of virtual time and checks what it left. It never
// fails: what goes wrong is in the Result.
func Scenario(ctx context.Context, sc *scenario.Scenario, o Options) check.Result {
	return checked(ctx, sc, o, func() (*record, error) { return guarded(ctx, sc, o) })
}

// checked checks what a run of the scenario left.
func checked(ctx context.Context, sc *scenario.Scenario, o Options, play func() (*record, error)) check.Result {
	began := time.Now()
	out := check.Result{
		Name: sc.Name, About: sc.About, Tags: sc.Tags, File: sc.File(), Status: check.Passed, Policy: cmp.Or(o.Policy, sc.PolicyName()), Seed: o.Seed,
	}
	if ctx.Err() != nil {
		out.Status, out.Err = check.Errored, context.Cause(ctx)
		return out
	}
	rec, err := play()
	switch {
	case err != nil:
		_, out.Invalid = errors.AsType[*scenario.FileError](err)
		out.Status, out.Err = check.Errored, err
	default:
		out.Summarize(&rec.Record)
		if !o.nested {
			out.Failures = check.Check(sc, &rec.Record, &out, func(v check.Variation) check.Result {
				further := o
				further.nested, further.Policy, further.chunk, further.Watched = true, v.Policy, v.Chunk, nil
				return Scenario(ctx, sc, further)
			})
			out.Failures = append(check.MustFail(sc, &out), o.Own.Checked(out)...)
		}
		if len(out.Failures) > 0 {
			out.Status = check.Failed
		}
		if cause := context.Cause(ctx); cause != nil { // further runs it needed were cut off
			out.Status, out.Err, out.Failures = check.Errored, cause, nil
		}
	}
	out.Redact()
	out.Took = time.Since(began)
	return out
}

// guarded plays a scenario in a bubble, under a watch.
func guarded(ctx context.Context, sc *scenario.Scenario, o Options) (*record, error) {
	var moved atomic.Int64
	patience := cmp.Or(o.Patience, time.Minute)
	rec, failed, err := Bubbled(ctx, patience, 10*patience, moved.Load, func() (*record, error) { return play(sc, o, &moved) })
	if errors.Is(err, ErrHung) {
		var stacks bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2) // a buffer takes all
		err = fmt.Errorf("%w\n%s", err, &stacks)
	}
	return rec, cmp.Or(err, failed)
}

// Bubbled plays something in a bubble of virtual time, beside a watch in real time: a goroutine that
// waits for something outside of the bubble would otherwise hang the program in silence. Its second
// error is that of [Await], under which nothing comes of it.
func Bubbled[T any](ctx context.Context, patience, most time.Duration, moved func() int64, play func() (T, error)) (out T, failed, hung error) {
	type result struct {
		out T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = clock.Bubble(func() (err error) {
			r.out, err = play()
			return err
		})
		done <- r
	}()
	r, hung := Await(ctx, done, patience, most, moved)
	return r.out, r.err, hung
}

// Await gives what comes of a run that goes on beside it. Its error is [ErrHung] where nothing moved for so long in
// real time, or the run takes longer than most, if that is not 0; and the context's cause where that ends first.
func Await[T any](ctx context.Context, done <-chan T, patience, most time.Duration, moved func() int64) (out T, err error) {
	ticker := time.NewTicker(max(1, patience/looks))
	defer ticker.Stop()
	progress := progress{most: int(most / max(1, patience/looks))}
	for {
		select {
		case out = <-done:
			return out, nil
		case <-ctx.Done():
			return out, context.Cause(ctx)
		case <-ticker.C:
			if progress.over(moved()) {
				return out, fmt.Errorf("%w (after %s)", ErrHung, time.Duration(progress.ticks)*patience/looks)
			}
		}
	}
}

// progress is what is known of a run that goes on.
type progress struct {
	events             int64 // at the last tick
	ticks, still, most int
}

// looks is how often a run must be seen without progress: one whose process was stopped, as by
// Ctrl-Z, is looked at once for all that time when it goes on.
const looks = 4

// over reports, at a tick, whether a run that had so many events counts as hung: it had
// none at so many looks, or goes on for too long.
func (p *progress) over(events int64) bool {
	p.ticks++
	p.still++
	if events != p.events {
		p.still = 0
	}
	p.events = events
	return p.still == looks || p.ticks == p.most
}

// record is what a run left behind: what the checks read, and the requests as they were sent.
type record struct {
	check.Record
	sent []sent
}

// Case is a scenario, or one of its cases that must fail.
type Case struct {
	*scenario.Scenario
	played *played
}

// Cases are a scenario and its cases that must fail. Where only what is expected differs,
// they are checked against one and the same run.
func Cases(sc *scenario.Scenario) []Case {
	shared := &played{base: sc, runs: map[Options]func() (*record, error){}}
	all := []Case{{sc, shared}}
	for _, c := range sc.Cases() {
		one := Case{Scenario: c}
		if c.RunsAs(sc) {
			one.played = shared
		}
		all = append(all, one)
	}
	return all
}

// Run runs the case, as Scenario does.
func (c Case) Run(ctx context.Context, o Options) check.Result {
	if c.played == nil || c.Failing() == nil && len(c.MustFail) == 0 {
		return Scenario(ctx, c.Scenario, o)
	}
	return checked(ctx, c.Scenario, o, func() (*record, error) { return c.played.with(ctx, c.Scenario, o) })
}

// played are the runs of a scenario, by their options. It is always the scenario itself
// that runs, whichever of its cases come first or alone: what a case expects may be less.
type played struct {
	base *scenario.Scenario
	mu   sync.Mutex
	runs map[Options]func() (*record, error)
}

// with gives the run with these options. The scenario itself is always run, so that a
// difference between two runs of it shows.
func (p *played) with(ctx context.Context, sc *scenario.Scenario, o Options) (*record, error) {
	p.mu.Lock()
	play, known := p.runs[o]
	if !known || sc.Failing() == nil {
		play = sync.OnceValues(func() (*record, error) { return guarded(ctx, p.base, o) })
		p.runs[o] = play
	}
	p.mu.Unlock()
	return play()
}
