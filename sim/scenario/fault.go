package scenario

import (
	"cmp"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// Fault is one thing that goes wrong (O7). Call or Tool name the call it happens to,
// Request the request, counted from 1.
type Fault struct {
	// Call or Tool is whom it happens to: one call by id, or calls of a tool.
	Call string `yaml:"call" names:"call"`
	Tool string `yaml:"tool" names:"tool"`
	// Panic, Error, Hang and Deaf (does not stop when asked) change a call's run.
	Panic string `yaml:"panic"`
	Error string `yaml:"error"`
	Hang  bool   `yaml:"hang"`
	Deaf  bool   `yaml:"deaf"`

	// Kill kills the process at the first event like this. Another process opens the
	// conversation again from its journal, in the world as it is, and the user sends the
	// next message: that of then, or "Go on.". Several kills come one after the other.
	Kill *EventExpect `yaml:"kill"`

	// Request is the request that it happens to, from 1.
	Request int `yaml:"request"`
	// Status answers with an HTTP status, and Body with this text in place of the API's error; CutAfter ends the stream after so many
	// events; StreamError sends an error event after CutAfter events; StallAfter
	// stops it there for Stall.
	Status      int      `yaml:"status"`
	Body        string   `yaml:"body"`
	CutAfter    int      `yaml:"cut_after"`
	StreamError string   `yaml:"stream_error"`
	StallAfter  int      `yaml:"stall_after"`
	Stall       Duration `yaml:"stall"`
	// Malformed breaks the JSON of that event, from 1.
	Malformed int `yaml:"malformed"`

	// The rest has no keys: it is written in the language of FaultLine, as
	// "huge @ call=c3". Huge is a result of half a million characters, Empty one of none;
	// DiskFull and DiskReadOnly change the disk at the moment in which the call does its
	// work; Slow is added to the time the call takes; Progress is reported so long after
	// its end.
	Huge         bool          `yaml:"-"`
	Empty        bool          `yaml:"-"`
	DiskFull     bool          `yaml:"-"`
	DiskReadOnly bool          `yaml:"-"`
	Slow         time.Duration `yaml:"-"`
	Progress     time.Duration `yaml:"-"`
	// Twice is the event that comes twice, Late the one that comes LateFor later.
	Twice   int           `yaml:"-"`
	Late    int           `yaml:"-"`
	LateFor time.Duration `yaml:"-"`
	// Server is what an MCP server does under the call.
	Server *ServerFault `yaml:"-"`
}

// UnmarshalYAML reads a line of the language of faults, or the whole fault (O7).
func (f *Fault) UnmarshalYAML(n ast.Node) error {
	type whole Fault
	var line string
	if err := shorthand(n, (*whole)(f), &line); err != nil || line == "" {
		return err
	}
	named, err := ParseFault(line)
	if err != nil {
		return problem(n, err)
	}
	v, _ := verbNamed(named.What) // it was parsed by its verb
	*f = Fault{Call: named.Call, Tool: named.Tool, Request: named.Request}
	v.set(f, named)
	return nil
}

// StreamFaults gives what goes wrong with the answer to the n-th request, counted from 1.
func (sc *Scenario) StreamFaults() func(request int) cassette.Fault {
	return func(request int) cassette.Fault {
		f := cassette.Fault{}
		if sc.Stream.Chunk > 0 {
			f.Chunk = func(int) int { return sc.Stream.Chunk }
		}
		for _, s := range sc.Faults {
			if request > 0 && s.Request == request {
				s.inject(&f)
			}
		}
		return f
	}
}

// inject makes the answer of a request go wrong as the fault demands; what happens to
// calls and servers is no business of the answer.
func (f Fault) inject(into *cassette.Fault) {
	into.Status, into.Body = cmp.Or(f.Status, into.Status), cmp.Or(f.Body, into.Body)
	switch {
	case f.StreamError != "":
		into.Error, into.ErrorAfter = &stream.Error{Type: f.StreamError, Message: "injected"}, f.CutAfter
	case f.CutAfter > 0:
		into.CutAfter = f.CutAfter
	}
	if f.StallAfter > 0 {
		into.Stall = &cassette.Stall{After: f.StallAfter, For: f.Stall.D()}
	}
	before := into.Rewrite
	switch {
	case f.Malformed > 0:
		into.Rewrite = malform(f.Malformed)
	case f.Twice > 0:
		into.Rewrite = repeat(f.Twice)
	case f.Late > 0:
		into.Rewrite = delay(f.Late, f.LateFor)
	default:
		before = nil
	}
	if after := into.Rewrite; before != nil {
		into.Rewrite = func(events []stream.Event) []stream.Event { return after(before(events)) }
	}
	into.AgainIf = refused
}

// refused reports whether a client cannot take an answer: then it is left for the retry.
func refused(events []stream.Event) bool {
	var a message.Assembler
	return slices.ContainsFunc(events, func(e stream.Event) bool { // what breaks off is another fault
		_, err := a.Add(e.Data)
		return err != nil
	})
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
