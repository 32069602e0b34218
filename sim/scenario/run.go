package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/toolsys/schedule"
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
	// Patience is how much real time a run may take before it counts as hung; 0
	// means a minute.
	Patience time.Duration

	// chunk replaces the scenario's chunking; nested runs check nothing.
	chunk  int
	nested bool
	// answers stand in for the stream: see RecordAnswers.
	answers *cassette.Cassette
}

// DefaultPolicy is the policy of a scenario that names none.
const DefaultPolicy = schedule.Streaming

// ErrHung is wrapped when a run does not end in real time.
var ErrHung = errors.New("the run hangs: something in it waits in real time")

// Run runs a scenario in a bubble of virtual time and judges it. It never fails:
// what goes wrong is in the Outcome.
func Run(ctx context.Context, sc *Scenario, o Options) Outcome {
	began := time.Now()
	out := sc.outcome(o)
	if ctx.Err() != nil {
		out.Status, out.Err = Errored, context.Cause(ctx)
		return out
	}
	rec, err := guarded(ctx, sc, o)
	switch {
	case err != nil:
		out.fail(err)
	default:
		rec.summarize(&out)
		if !o.nested {
			out.Failures = sc.judge(ctx, rec, &out, o)
		}
		if len(out.Failures) > 0 {
			out.Status = Failed
		}
		if cause := context.Cause(ctx); cause != nil { // further runs it needed were cut off
			out.Status, out.Err, out.Failures = Errored, cause, nil
		}
	}
	out.blank()
	out.Took = time.Since(began)
	return out
}

func (sc *Scenario) outcome(o Options) Outcome {
	policy := o.Policy
	if policy == "" {
		policy = sc.Policy
	}
	if policy == "" {
		policy = DefaultPolicy.String()
	}
	return Outcome{Name: sc.Name, About: sc.About, Tags: sc.Tags, File: sc.file, Status: Passed, Policy: policy, Seed: o.Seed}
}

func (out *Outcome) fail(err error) {
	var file *FileError
	out.Status, out.Err = Errored, err
	out.Invalid = errors.As(err, &file)
}

// guarded runs the bubble beside a watch in real time: a goroutine that waits for
// something outside of the bubble would otherwise hang the program in silence.
func guarded(ctx context.Context, sc *Scenario, o Options) (*record, error) {
	type result struct {
		rec *record
		err error
	}
	done := make(chan result, 1)
	go func() {
		var rec *record
		err := clock.Bubble(func() (err error) {
			rec, err = play(sc, o)
			return err
		})
		done <- result{rec, err}
	}()
	patience := o.Patience
	if patience == 0 {
		patience = time.Minute
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.rec, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
		return nil, fmt.Errorf("%w (after %s)\n%s", ErrHung, patience, stacks())
	}
}

func stacks() string {
	var buf bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&buf, 2); err != nil {
		return ""
	}
	return buf.String()
}

// record is what a run left behind: its trace, and what was sent.
type record struct {
	events []trace.Event
	digest string
	bodies [][]byte
	// dropped are those of bodies that reached nobody.
	dropped []int
	sent    []sent
	// misses, leftover and notes are what the transport has to say.
	misses   []string
	leftover []string
	notes    []string
	// failed is the error the conversation ended with.
	failed error
	// final is the last request's view of the pool and the catalogue, for gates.
	gates map[string]funnel
	// limit is how many calls may run at once (I2).
	limit int
}

// funnel is what the gates of one profile do.
type funnel struct {
	in, out int
	reasons map[string]string
}
