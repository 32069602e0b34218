package des

import (
	"fmt"
	"strconv"

	"toolbench/sim/fault"
)

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

// Named is the fault in the language of faults.
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
		return f, fmt.Errorf("%s is of a call; say it there, as `goes: %s`", n.What, n.What)
	}
	return f, nil
}
