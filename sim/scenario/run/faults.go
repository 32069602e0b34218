package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// streamFaults spoils the answers a scenario says; requests are counted from 1
// as they reach the model, each try by itself.
func streamFaults(sc *scenario.Scenario) func(cassette.Attempt) cassette.Fault {
	var mu sync.Mutex
	n := 0
	return func(a cassette.Attempt) cassette.Fault {
		f := cassette.Fault{}
		if sc.Stream.Chunk > 0 {
			f.Chunk = func(int) int { return sc.Stream.Chunk }
		}
		if !isModel(a.URL) {
			return f
		}
		mu.Lock()
		n++
		request := n
		mu.Unlock()
		for _, s := range sc.Faults {
			if s.Request == request {
				inject(s, &f)
			}
		}
		return f
	}
}

// rechunked cuts the bytes of every answer anew, whatever else spoils it.
func rechunked(faults func(cassette.Attempt) cassette.Fault, size int) func(cassette.Attempt) cassette.Fault {
	return func(a cassette.Attempt) cassette.Fault {
		f := faults(a)
		f.Chunk = func(int) int { return size }
		return f
	}
}

// inject makes a request's answer go wrong as a fault of the scenario demands.
func inject(s scenario.Fault, f *cassette.Fault) {
	f.Status = s.Status
	switch {
	case s.StreamError != "":
		f.Error, f.ErrorAfter = &stream.Error{Type: s.StreamError, Message: "injected"}, s.CutAfter
	case s.CutAfter > 0:
		f.Cut = &cassette.Cut{After: s.CutAfter}
	}
	if s.StallAfter > 0 {
		f.Stall = &cassette.Stall{After: s.StallAfter, For: s.Stall.D()}
	}
	switch {
	case s.Malformed > 0:
		f.Rewrite = malform(s.Malformed)
	case s.Twice > 0:
		f.Rewrite = repeat(s.Twice)
	case s.Late > 0:
		f.Rewrite = delay(s.Late, s.LateFor)
	}
	f.AgainIf = refused
}

// refused says whether a client cannot take an answer: then it is left for the retry.
func refused(events []stream.Event) bool {
	var a message.Assembler
	for _, e := range events {
		if _, err := a.Add(e.Data); err != nil {
			return true
		}
	}
	return false // what breaks off is another fault
}

// malform breaks the JSON of the n-th event.
func malform(n int) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n <= len(events) {
			e := events[n-1].Clone()
			e.Data = e.Data[:len(e.Data)/2]
			events[n-1] = e
		}
		return events
	}
}

// hang is longer than any scenario: a tool that hangs ends only when it is
// stopped.
const hang = 1000 * time.Hour

// simulate wraps a tool for the bench: its call takes the scenario's time, then
// does its work, unless a fault spoils it. Its return passes the gate, so that
// whatever woke it, it goes on in one order.
func (r *runner) simulate(t *tool.Tool) *tool.Tool {
	wrapped := *t
	inner := t.Call
	wrapped.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Outcome, error) {
		actor := fmt.Sprintf("tool/%s/%s", c.AgentID, c.CallID)
		fault := faultOf(r.sc, c.CallID, t.Name)
		defer r.progressAfter(fault.Progress, actor, c)
		if err := r.pass(ctx, actor, duration(r.sc, c.CallID, t.Name)+fault.Slow, fault); err != nil {
			return tool.Outcome{}, err
		}
		r.changeDisk(fault)
		out, err := inner(ctx, in, c)
		out = changeResult(fault, out)
		r.gate.Sleep(context.WithoutCancel(ctx), actor+"/end", 0)
		return out, err
	}
	return &wrapped
}

// progressAfter reports progress of a call so long after its end, as a tool does that
// leaves something at work behind (H4); 0 is never.
func (r *runner) progressAfter(d time.Duration, actor string, c *tool.Context) {
	if d <= 0 {
		return
	}
	r.gate.Go(actor+"/late", func() {
		_ = r.gate.Sleep(context.Background(), actor+"/late", d) // a gate that is closed lets it go
		c.Progress("still here")
	})
}

// pass lets the call's time pass and applies what spoils it.
func (r *runner) pass(ctx context.Context, actor string, d time.Duration, f scenario.Fault) error {
	wait := ctx
	if f.Deaf {
		wait = context.WithoutCancel(ctx)
	}
	if f.Hang {
		d = hang
	}
	if err := r.gate.Sleep(wait, actor, d); err != nil {
		return err
	}
	switch {
	case f.Panic != "":
		panic(f.Panic)
	case f.Error != "":
		return errors.New(f.Error)
	}
	return nil
}

func duration(sc *scenario.Scenario, call, name string) time.Duration {
	if d, ok := sc.Durations[call]; ok {
		return d.D()
	}
	return sc.Durations[name].D()
}

func faultOf(sc *scenario.Scenario, call, name string) scenario.Fault {
	var all scenario.Fault
	for _, f := range sc.Faults {
		if f.Call != "" && f.Call == call || f.Tool != "" && f.Tool == name {
			all = join(all, f)
		}
	}
	return all
}

// join joins two faults of one call.
func join(f, g scenario.Fault) scenario.Fault {
	f.Panic, f.Error = cmp.Or(f.Panic, g.Panic), cmp.Or(f.Error, g.Error)
	f.Hang, f.Deaf = f.Hang || g.Hang, f.Deaf || g.Deaf
	f.Huge, f.Empty = f.Huge || g.Huge, f.Empty || g.Empty
	f.DiskFull, f.DiskReadOnly = f.DiskFull || g.DiskFull, f.DiskReadOnly || g.DiskReadOnly
	f.Slow, f.Progress = max(f.Slow, g.Slow), max(f.Progress, g.Progress)
	return f
}

// hugeResult is more than any message may hold, in characters.
const hugeResult = 500_000

// changeDisk changes the disk in the moment in which the call does its work.
func (r *runner) changeDisk(f scenario.Fault) {
	if f.DiskFull {
		r.fs.SetCapacity(1)
	}
	if f.DiskReadOnly {
		r.fs.SetReadOnly(true)
	}
}

// changeResult changes what a call gave.
func changeResult(f scenario.Fault, out tool.Outcome) tool.Outcome {
	switch {
	case f.Huge:
		out.Blocks = []message.Block{message.Text(strings.Repeat("0123456789", hugeResult/10))}
	case f.Empty:
		out.Blocks = nil
	}
	return out
}

// repeat brings the n-th event twice.
func repeat(n int) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n > len(events) {
			return events
		}
		return slices.Insert(slices.Clone(events), n, events[n-1].Clone())
	}
}

// delay brings the n-th event so much later, behind those that arrive meanwhile.
func delay(n int, by time.Duration) func([]stream.Event) []stream.Event {
	return func(events []stream.Event) []stream.Event {
		if n > len(events) {
			return events
		}
		out := slices.Clone(events)
		out[n-1].At += by
		slices.SortStableFunc(out, func(a, b stream.Event) int { return cmp.Compare(a.At, b.At) })
		return out
	}
}
