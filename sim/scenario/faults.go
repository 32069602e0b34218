package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// streamFaults spoils the answers a scenario says; requests are counted from 1
// as they reach the model, each try by itself.
func (sc *Scenario) streamFaults() func(cassette.Attempt) cassette.Fault {
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
				s.spoil(&f)
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

func (s Fault) spoil(f *cassette.Fault) {
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
	case s.twice > 0:
		f.Rewrite = repeat(s.twice)
	case s.late > 0:
		f.Rewrite = delay(s.late, s.lateFor.D())
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
		spoiled := r.sc.faultOf(c.CallID, t.Name)
		defer r.progressAfter(spoiled.progress, actor, c)
		if err := r.pass(ctx, actor, r.sc.duration(c.CallID, t.Name)+spoiled.slow, spoiled); err != nil {
			return tool.Outcome{}, err
		}
		r.spoilDisk(spoiled)
		out, err := inner(ctx, in, c)
		out = spoiled.spoilResult(out)
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
func (r *runner) pass(ctx context.Context, actor string, d time.Duration, f Fault) error {
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

func (sc *Scenario) duration(call, name string) time.Duration {
	if d, ok := sc.Durations[call]; ok {
		return d.D()
	}
	return sc.Durations[name].D()
}

func (sc *Scenario) faultOf(call, name string) Fault {
	var all Fault
	for _, f := range sc.Faults {
		if f.Call != "" && f.Call == call || f.Tool != "" && f.Tool == name {
			all = all.and(f)
		}
	}
	return all
}
