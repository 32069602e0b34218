package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/fault"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// UnmarshalYAML reads a line of the language of faults, or the whole fault (O7).
func (f *Fault) UnmarshalYAML(n ast.Node) error {
	type whole Fault
	var line string
	if err := shorthand(n, (*whole)(f), &line); err != nil || line == "" {
		return err
	}
	named, err := fault.Parse(line)
	if err != nil {
		return problem(n, err)
	}
	*f = faultNamed(named)
	return nil
}

// faultNamed is what a line says.
func faultNamed(n fault.Fault) Fault {
	f := Fault{Call: n.Call, Tool: n.Tool, Request: n.Request}
	switch n.What {
	case "panic":
		f.Panic = "it panicked"
	case "error":
		f.Error = n.Arg
	case "hang":
		f.Hang = true
	case "deaf":
		f.Deaf = true
	case "huge":
		f.huge = true
	case "empty":
		f.empty = true
	case "full":
		f.full = true
	case "readonly":
		f.readOnly = true
	case "slow":
		f.slow = n.For
	case "progress":
		f.progress = n.For
	case "lags":
		f.server = &ServerFault{Call: n.Call, Tool: n.Tool, Slow: Duration(n.For)}
	case "gone", "duplicate", "unknown", "rubbish":
		f.server = &ServerFault{
			Call: n.Call, Tool: n.Tool, Gone: n.What == "gone", Back: Duration(n.For), Duplicate: n.What == "duplicate", Unknown: n.What == "unknown", Rubbish: n.Arg,
		}
	default:
		f.inStream(n)
	}
	return f
}

// inStream takes what goes wrong with a request or its stream.
func (f *Fault) inStream(n fault.Fault) {
	switch n.What {
	case "status":
		f.Status, _ = strconv.Atoi(n.Arg) // the language has checked it
	case "cut":
		f.CutAfter = n.Event
	case "say":
		f.StreamError, f.CutAfter = n.Arg, n.Event
	case "malformed":
		f.Malformed = n.Event
	case "stall":
		f.StallAfter, f.Stall = n.Event, Duration(n.For)
	case "twice":
		f.twice = n.Event
	case "late":
		f.late, f.lateFor = n.Event, Duration(n.For)
	}
}

// and joins two faults of one call.
func (f Fault) and(g Fault) Fault {
	f.Panic, f.Error = cmp.Or(f.Panic, g.Panic), cmp.Or(f.Error, g.Error)
	f.Hang, f.Deaf = f.Hang || g.Hang, f.Deaf || g.Deaf
	f.huge, f.empty = f.huge || g.huge, f.empty || g.empty
	f.full, f.readOnly = f.full || g.full, f.readOnly || g.readOnly
	f.slow, f.progress = max(f.slow, g.slow), max(f.progress, g.progress)
	return f
}

// hugeResult is more than any message may hold, in characters.
const hugeResult = 500_000

// spoilDisk changes the disk in the moment in which the call does its work.
func (r *runner) spoilDisk(f Fault) {
	if f.full {
		r.fs.SetCapacity(1)
	}
	if f.readOnly {
		r.fs.SetReadOnly(true)
	}
}

// spoilResult changes what a call gave.
func (f Fault) spoilResult(out tool.Outcome) tool.Outcome {
	switch {
	case f.huge:
		out.Blocks = []message.Block{message.Text(strings.Repeat("0123456789", hugeResult/10))}
	case f.empty:
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
