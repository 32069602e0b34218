package des

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolbench/sim/fault"
	"toolbench/toolsys/schedule"
)

// Case is one conversation with all that happens to it (O6, O7). The zero values
// mean that nothing special happens. Times are virtual.
type Case struct {
	// Seed orders what happens in one instant.
	Seed   uint64 `yaml:"seed" json:"seed"`
	Policy string `yaml:"policy" json:"policy"`
	// Limit is how many safe calls run at once; at least 1.
	Limit int `yaml:"limit" json:"limit"`
	// Retries is how often an abandoned stream is tried again; Idle abandons one that
	// sends nothing for so long.
	Retries int           `yaml:"retries,omitempty" json:"retries,omitempty"`
	Idle    time.Duration `yaml:"idle,omitempty" json:"idle,omitempty"`
	// Disk is "full" or "read-only", "" for neither; only the whole system has one.
	Disk string `yaml:"disk,omitempty" json:"disk,omitempty"`
	// Turns are the model's answers, in order. Behind them it has nothing but text.
	Turns []Turn `yaml:"turns" json:"turns"`
	// Interrupts are the instants of the user's new messages.
	Interrupts []time.Duration `yaml:"says,omitempty" json:"says,omitempty"`
	// Faults break single requests.
	Faults []Fault `yaml:"faults,omitempty" json:"faults,omitempty"`
	// AbortAt is when the conversation is stopped from outside; 0 is never.
	AbortAt time.Duration `yaml:"leaves,omitempty" json:"leaves,omitempty"`
}

// Turn is one answer of the model.
type Turn struct {
	Calls []Call `yaml:"calls,omitempty" json:"calls,omitempty"`
	// End is when the stream ends; not before its last call is complete.
	End time.Duration `yaml:"end,omitempty" json:"end,omitempty"`
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
	ID string `yaml:"id" json:"id"`
	// At is when its block is complete, from the request; For is how long it runs.
	At  time.Duration `yaml:"at" json:"at"`
	For time.Duration `yaml:"for,omitempty" json:"for,omitempty"`
	// Safe may run beside other safe calls; Cancel stops for a new message.
	Safe   bool `yaml:"safe,omitempty" json:"safe,omitempty"`
	Cancel bool `yaml:"cancel,omitempty" json:"cancel,omitempty"`
	// Failure is how it goes wrong, "" not at all.
	Failure string `yaml:"goes,omitempty" json:"goes,omitempty"`
	// StopsSiblings: its failure does (J3). IgnoresCancel: it goes on when it is asked to
	// stop.
	StopsSiblings bool `yaml:"stops,omitempty" json:"stops,omitempty"`
	IgnoresCancel bool `yaml:"deaf,omitempty" json:"deaf,omitempty"`
	// Modifies: it returns a modifier (B3).
	Modifies bool `yaml:"modifies,omitempty" json:"modifies,omitempty"`
	// Reads and Writes are the keys that it declares; with neither it counts as
	// touching everything (J8).
	Reads  []string `yaml:"reads,omitempty" json:"reads,omitempty"`
	Writes []string `yaml:"writes,omitempty" json:"writes,omitempty"`
	// Chars is how long its result is; 0 is a short one. It matters only to the
	// whole system.
	Chars int `yaml:"chars,omitempty" json:"chars,omitempty"`
	// Empty: its result is nothing at all. LateProgress is how long after its end it
	// reports progress; 0 is never. These, too, matter only to the whole system.
	Empty        bool          `yaml:"empty,omitempty" json:"empty,omitempty"`
	LateProgress time.Duration `yaml:"late,omitempty" json:"late,omitempty"`
	// Limit is the time limit of its run; 0 is none.
	Limit time.Duration `yaml:"limit,omitempty" json:"limit,omitempty"`
	Hooks []Hook        `yaml:"hooks,omitempty" json:"hooks,omitempty"`
	// Ask makes a person decide.
	Ask *Ask `yaml:"ask,omitempty" json:"ask,omitempty"`
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
	Action string        `yaml:"does,omitempty" json:"does,omitempty"`
	After  time.Duration `yaml:"after,omitempty" json:"after,omitempty"`
	// Timeout is how long it may take; 0 is a minute.
	Timeout time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Ask is a question to a person and the answer.
type Ask struct {
	Allow bool          `yaml:"allow,omitempty" json:"allow,omitempty"`
	After time.Duration `yaml:"after,omitempty" json:"after,omitempty"`
	// Never leaves the question open. IgnoresCancel answers also when the call was
	// stopped meanwhile.
	Never         bool `yaml:"never,omitempty" json:"never,omitempty"`
	IgnoresCancel bool `yaml:"deaf,omitempty" json:"deaf,omitempty"`
}

// Fault breaks one request, counted from 1 over the whole conversation. Events are
// counted within its stream. In YAML it is written in the language of sim/fault.
type Fault struct {
	Request int `yaml:"request" json:"request"`
	// Status answers with an HTTP status. Cut ends the stream after so many events,
	// with an error event if Error names its type. Malformed breaks an event. Stall
	// delays what follows so many events by For, or for ever if For is 0.
	Status    int           `yaml:"status,omitempty" json:"status,omitempty"`
	Cut       int           `yaml:"cut,omitempty" json:"cut,omitempty"`
	Error     string        `yaml:"error,omitempty" json:"error,omitempty"`
	Malformed int           `yaml:"malformed,omitempty" json:"malformed,omitempty"`
	Stall     int           `yaml:"stall,omitempty" json:"stall,omitempty"`
	For       time.Duration `yaml:"for,omitempty" json:"for,omitempty"`
}

// Footprint is what the call counts as touching under the policy effects: nothing if it
// fails before it runs, everything if hooks or a person decide about it.
func (k *Call) Footprint() *schedule.Footprint {
	switch {
	case k.Failure == Unknown || k.Failure == NotJSON:
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

// Check gives what makes no sense in a case that somebody wrote.
func (c *Case) Check() error {
	switch {
	case c.Limit < 1:
		return fmt.Errorf("limit is %d; it must be at least 1", c.Limit)
	case len(c.Turns) == 0:
		return fmt.Errorf("there are no turns; add `turns: [{calls: [...]}]`")
	}
	for i, f := range c.Faults {
		if slices.ContainsFunc(c.Faults[:i], func(g Fault) bool { return g.Request == f.Request }) {
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
			}
			seen[call.ID], last = true, call.At
		}
	}
	return nil
}

// MarshalYAML writes a fault in the language of faults: "cut @ request=2 event=8".
func (f Fault) MarshalYAML() (any, error) { return f.Spec().String(), nil }

// UnmarshalYAML reads the same.
func (f *Fault) UnmarshalYAML(read func(any) error) error {
	var text string
	if err := read(&text); err != nil {
		return err
	}
	named, err := fault.Parse(text)
	if err != nil {
		return err
	}
	*f, err = faultFrom(named)
	return err
}

// Spec is the fault in the language of faults.
func (f Fault) Spec() fault.Fault {
	n := fault.Fault{Request: f.Request}
	switch {
	case f.Status > 0:
		n.What, n.Arg = "status", strconv.Itoa(f.Status)
	case f.Error != "":
		n.What, n.Arg, n.Event = "say", f.Error, f.Cut
	case f.Cut > 0:
		n.What, n.Event = "cut", f.Cut
	case f.Malformed > 0:
		n.What, n.Event = "malformed", f.Malformed
	default:
		n.What, n.Event, n.For = "stall", f.Stall, f.For
	}
	return n
}

func faultFrom(n fault.Fault) (Fault, error) {
	f := Fault{Request: n.Request}
	switch n.What {
	case "status":
		f.Status, _ = strconv.Atoi(n.Arg) // the language has checked it
	case "say":
		f.Cut, f.Error = n.Event, n.Arg
	case "cut":
		f.Cut = n.Event
	case "malformed":
		f.Malformed = n.Event
	case "stall":
		f.Stall, f.For = n.Event, n.For
	default:
		return f, fmt.Errorf("%s is of a call; write it there, as `goes: %s`", n.What, n.What)
	}
	return f, nil
}
