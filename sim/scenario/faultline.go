package scenario

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"toolbench/sim/fault"
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
		f.Huge = true
	case "empty":
		f.Empty = true
	case "full":
		f.DiskFull = true
	case "readonly":
		f.DiskReadOnly = true
	case "slow":
		f.Slow = n.For
	case "progress":
		f.Progress = n.For
	case "lags":
		f.Server = &ServerFault{Call: n.Call, Tool: n.Tool, Slow: Duration(n.For)}
	case "gone", "duplicate", "unknown", "rubbish":
		f.Server = &ServerFault{
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
		f.Twice = n.Event
	case "late":
		f.Late, f.LateFor = n.Event, n.For
	}
}
