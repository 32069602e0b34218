package des

import (
	"fmt"
	"slices"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/schedule"
)

// Case is one conversation with all that happens to it (O6, O7). The zero values
// mean that nothing special happens. Times are virtual.
type Case struct {
	// Seed orders what happens in one instant.
	Seed   uint64 `yaml:"seed,omitempty"`
	Policy string `yaml:"policy"`
	// Limit is how many safe calls run at once; at least 1.
	Limit int `yaml:"limit" simple:"10"`
	// Retries is how often an abandoned stream is tried again; Idle abandons one that
	// sends nothing for so long.
	Retries int           `yaml:"retries,omitempty"`
	Idle    time.Duration `yaml:"idle,omitempty"`
	// Disk is "full" or "read-only", "" for neither; only the whole system has one.
	Disk string `yaml:"disk,omitempty"`
	// Turns are the model's answers, in order. Behind them it has nothing but text.
	Turns []Turn `yaml:"turns"`
	// Interrupts are the instants of the user's new messages.
	Interrupts []time.Duration `yaml:"says,omitempty"`
	// Faults break single requests, each at most one.
	Faults []Fault `yaml:"faults,omitempty"`
	// AbortAt is when the conversation is stopped from outside; 0 is never.
	AbortAt time.Duration `yaml:"leaves,omitempty"`
}

// Turn is one answer of the model.
type Turn struct {
	Calls []Call `yaml:"calls,omitempty"`
	// End is when the stream ends; not before its last call is complete.
	End time.Duration `yaml:"end,omitempty"`
}

// The ways a call's run goes wrong.
const (
	// Failed: the tool reports a failure. Error: it gives an error. Panic: it panics.
	// Hang: it does not end by itself.
	Failed = "failed"
	Error  = "error"
	Panic  = "panic"
	Hang   = "hang"
	// Unknown: there is no such tool. Rubbish: its input is no JSON.
	Unknown = "unknown"
	NotJSON = "rubbish"
)

// Call is one call with its tool: every call has a tool of its own.
type Call struct {
	ID string `yaml:"id"`
	// At is when its block is complete, from the request; For is how long it runs.
	At  time.Duration `yaml:"at"`
	For time.Duration `yaml:"for,omitempty"`
	// Safe may run beside other safe calls; Cancel stops for a new message.
	Safe   bool `yaml:"safe,omitempty" simple:"true"`
	Cancel bool `yaml:"cancel,omitempty"`
	// Failure is how it goes wrong, "" not at all.
	Failure string `yaml:"goes,omitempty"`
	// StopsSiblings: its failure does (J3). IgnoresCancel: it goes on when it is asked to
	// stop.
	StopsSiblings bool `yaml:"stops,omitempty"`
	IgnoresCancel bool `yaml:"deaf,omitempty"`
	// Modifies: it returns a modifier (B3).
	Modifies bool `yaml:"modifies,omitempty"`
	// Reads and Writes are the keys that it declares; with neither it counts as
	// touching everything (J8).
	Reads  []string `yaml:"reads,omitempty"`
	Writes []string `yaml:"writes,omitempty"`
	// Chars is how long its result is; 0 is a short one. It matters only to the
	// whole system.
	Chars int `yaml:"chars,omitempty"`
	// Empty reports whether its result has no content. LateProgress is how long after its
	// end it reports progress, 0 for never. These, too, matter only to the whole system.
	Empty        bool          `yaml:"empty,omitempty"`
	LateProgress time.Duration `yaml:"late,omitempty"`
	// Limit is the time limit of its run; 0 is none.
	Limit time.Duration `yaml:"limit,omitempty"`
	Hooks []Hook        `yaml:"hooks,omitempty"`
	// Ask makes a person decide.
	Ask *Ask `yaml:"ask,omitempty"`
}

// What a hook does.
const (
	// Deny and Allow decide; Stop stops the call; MakeExclusive rewrites the input so that
	// the call is no longer safe (G2).
	Deny          = "deny"
	Allow         = "allow"
	Stop          = "stop"
	MakeExclusive = "alone"
)

// Hook is one PreToolUse hook of a call. It does one of the things above, fails in
// the way of a call (Error, Panic, Hang), or nothing.
type Hook struct {
	Action string        `yaml:"does,omitempty"`
	After  time.Duration `yaml:"after,omitempty"`
	// Timeout is how long it may take; 0 is a minute.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Ask is a question to a person and the answer.
type Ask struct {
	Allow bool          `yaml:"allow,omitempty" simple:"true"`
	After time.Duration `yaml:"after,omitempty"`
	// Never leaves the question open. IgnoresCancel answers also when the call was
	// stopped meanwhile.
	Never         bool `yaml:"never,omitempty"`
	IgnoresCancel bool `yaml:"deaf,omitempty"`
}

// Takes is how long the call runs by itself.
func (k *Call) Takes() time.Duration { return unlessEndless(k.Failure == Hang, k.For) }

// Takes is how long the hook runs by itself.
func (h *Hook) Takes() time.Duration { return unlessEndless(h.Action == Hang, h.After) }

// Takes is how long the person takes to answer.
func (a *Ask) Takes() time.Duration { return unlessEndless(a.Never, a.After) }

func unlessEndless(endless bool, d time.Duration) time.Duration {
	if endless {
		return Forever
	}
	return d
}

// CannotRun reports whether the call fails before it could run: it has no tool, or no input.
func (k *Call) CannotRun() bool { return k.Failure == Unknown || k.Failure == NotJSON }

// Footprint is what the call counts as touching under the policy effects: nothing if it
// fails before it runs, everything if hooks or a person decide about it.
func (k *Call) Footprint() *schedule.Footprint {
	switch {
	case k.CannotRun():
		return &schedule.Footprint{}
	case len(k.Hooks) > 0 || k.Ask != nil || len(k.Reads)+len(k.Writes) == 0:
		return nil
	}
	return &schedule.Footprint{Reads: k.Reads, Writes: k.Writes}
}

// Calls counts the calls of all turns.
func (c *Case) Calls() int {
	n := 0
	for i := range c.Turns {
		n += len(c.Turns[i].Calls)
	}
	return n
}

// Call gives the n-th call, counted over all turns from 0.
func (c *Case) Call(n int) *Call {
	for i := range c.Turns {
		if calls := c.Turns[i].Calls; n < len(calls) {
			return &calls[n]
		}
		n -= len(c.Turns[i].Calls)
	}
	return nil
}

// Fault is one thing that goes wrong, as scenarios name it.
type Fault = scenario.FaultLine

// streamFaults are the faults of requests that a case may have.
var streamFaults = []string{"status", "cut", "say", "malformed", "stall"}

// Check gives what makes no sense in a case that somebody wrote.
func (c *Case) Check() error {
	switch {
	case c.Limit < 1:
		return fmt.Errorf("limit is %d; it must be at least 1", c.Limit)
	case len(c.Turns) == 0:
		return fmt.Errorf("there are no turns; add `turns: [{calls: [...]}]`")
	case slices.Min(append([]time.Duration{c.Idle, c.AbortAt}, c.Interrupts...)) < 0:
		return fmt.Errorf("a time of says, idle or leaves is less than 0; write it as 300ms")
	}
	for i, f := range c.Faults {
		switch {
		case !slices.Contains(streamFaults, f.What):
			return fmt.Errorf("faults.%d: %s is of a call; write it there, as `goes: %s`", i, f.What, f.What)
		case slices.ContainsFunc(c.Faults[:i], func(g Fault) bool { return g.Request == f.Request }):
			return fmt.Errorf("faults.%d: request %d has a fault already; keep one", i, f.Request)
		}
	}
	seen := map[string]bool{}
	for t := range c.Turns {
		last := time.Duration(0)
		for i := range c.Turns[t].Calls {
			call := &c.Turns[t].Calls[i]
			switch {
			case call.ID == "" || seen[call.ID]:
				return fmt.Errorf("turns.%d.calls.%d: the id %q is missing or taken; give each call its own", t, i, call.ID)
			case call.At <= 0 || call.At < last:
				return fmt.Errorf("turns.%d.calls.%d: at is %s; blocks are complete one after the other, later than 0", t, i, call.At)
			case min(call.For, call.Limit, call.LateProgress) < 0:
				return fmt.Errorf("turns.%d.calls.%d: for, limit or late is less than 0; write it as 300ms", t, i)
			case !slices.Contains([]string{"", Failed, Error, Panic, Hang, Unknown, NotJSON}, call.Failure):
				return fmt.Errorf("turns.%d.calls.%d: goes is %q; write failed, error, panic, hang, unknown or rubbish", t, i, call.Failure)
			}
			seen[call.ID], last = true, call.At
		}
	}
	_, err := schedule.ParsePolicy(c.Policy)
	return err
}
