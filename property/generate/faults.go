package generate

import (
	"fmt"
	"slices"
	"time"

	"toolbench/sim/fault"
)

func (s *SystemCase) checkServers() error {
	for _, v := range s.Servers {
		switch {
		case !slices.Contains(serverNames, v.Name):
			return fmt.Errorf("no case has a server %q", v.Name)
		case !slices.Contains([]string{"", "refused", "fails", "hangs"}, v.Connect):
			return fmt.Errorf("server %s: connect is %q; write refused, fails or hangs", v.Name, v.Connect)
		case v.Relist == 1 || v.Relist < 0:
			return fmt.Errorf("server %s: its list changes before request 2 or later", v.Name)
		case !slices.Contains([]string{"", "fails", "hangs"}, v.List):
			return fmt.Errorf("server %s: list is %q; write fails or hangs", v.Name, v.List)
		}
	}
	return nil
}

func (s *SystemCase) checkFaults() error {
	for _, line := range s.Faults {
		f, err := fault.Parse(line)
		if err != nil {
			return fmt.Errorf("fault %q: %w", line, err)
		}
		if f.Tool != "" {
			return fmt.Errorf("fault %q: name the call", line)
		}
	}
	return nil
}

// FaultList are the case's faults, parsed.
func (s *SystemCase) FaultList() []fault.Fault {
	var all []fault.Fault
	for _, line := range s.Faults {
		if f, err := fault.Parse(line); err == nil { // Check reports others
			all = append(all, f)
		}
	}
	return all
}

// CallFaults is what goes wrong with one call.
type CallFaults struct {
	Panics, Errors, Hangs, IgnoresCancel, Huge, Empty bool
	// Slow is how much longer it takes, Lags how long its server takes for the answer,
	// LateProgress how long after its end it reports progress.
	Slow, Lags, LateProgress time.Duration
	// LosesServer: its server is lost under it, to be there again after Back, or lost
	// ForGood.
	LosesServer, ForGood bool
	Back                 time.Duration
	// OddAnswers: its server answers twice, or others first.
	OddAnswers bool
}

// FaultsOf gives the faults of one call.
func (s *SystemCase) FaultsOf(id string) (k CallFaults) {
	for _, f := range s.FaultList() {
		if f.Call == id {
			k.add(f)
		}
	}
	return k
}

func (k *CallFaults) add(f fault.Fault) {
	switch f.What {
	case "panic":
		k.Panics = true
	case "error":
		k.Errors = true
	case "hang":
		k.Hangs = true
	case "deaf":
		k.IgnoresCancel = true
	case "huge":
		k.Huge = true
	case "empty":
		k.Empty = true
	case "slow":
		k.Slow = f.For
	case "lags":
		k.Lags = f.For
	case "progress":
		k.LateProgress = f.For
	case "gone":
		k.LosesServer, k.ForGood, k.Back = true, f.For == 0, f.For
	case "rubbish":
		k.LosesServer = true
	case "duplicate", "unknown":
		k.OddAnswers = true
	}
}

// BreaksStreams reports whether anything is wrong with streams.
func (s *SystemCase) BreaksStreams() bool {
	return slices.ContainsFunc(s.FaultList(), func(f fault.Fault) bool { return f.Request > 0 })
}

// BreaksDisk reports whether the disk fails from some moment on.
func (s *SystemCase) BreaksDisk() bool {
	return slices.ContainsFunc(s.FaultList(), func(f fault.Fault) bool { return f.What == "full" || f.What == "readonly" })
}

// ServersChange reports whether a server is not there all the time, or not with all it
// has.
func (s *SystemCase) ServersChange() bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool { return v.Connect != "" || v.Relist > 0 }) ||
		slices.ContainsFunc(s.FaultList(), func(f fault.Fault) bool { return f.What == "gone" || f.What == "rubbish" })
}
