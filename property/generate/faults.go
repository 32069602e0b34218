package generate

import (
	"fmt"
	"slices"
	"time"

	"toolbench/property/des"
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
	for _, f := range s.Faults {
		if f.Tool != "" {
			return fmt.Errorf("fault %q: name the call", f)
		}
	}
	return nil
}

// faultOf gives the last fault of a call that is one of these, of all if none is named;
// nil if there is none.
func (s *SystemCase) faultOf(id string, what ...string) *des.Fault {
	for i := len(s.Faults) - 1; i >= 0; i-- {
		if f := &s.Faults[i]; f.Call == id && (len(what) == 0 || slices.Contains(what, f.What)) {
			return f
		}
	}
	return nil
}

// Suffers reports whether one of these faults is of the call; of all if none is named.
func (s *SystemCase) Suffers(id string, what ...string) bool { return s.faultOf(id, what...) != nil }

// Delay is how long a fault of a call lasts: "slow" is how much longer it takes, "lags"
// how long its server takes for the answer, "progress" how long after its end it reports
// progress, "gone" when its server is there again. It is 0 where there is none.
func (s *SystemCase) Delay(id, what string) time.Duration {
	if f := s.faultOf(id, what); f != nil {
		return f.For
	}
	return 0
}

// LosesServer reports whether the server of a call is lost under it.
func (s *SystemCase) LosesServer(id string) bool { return s.Suffers(id, "gone", "rubbish") }

// BreaksStreams reports whether anything is wrong with streams.
func (s *SystemCase) BreaksStreams() bool {
	return slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.Request > 0 })
}

// BreaksDisk reports whether the disk fails from some moment on.
func (s *SystemCase) BreaksDisk() bool {
	return slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.What == "full" || f.What == "readonly" })
}

// ServersChange reports whether a server is not there all the time, or not with all it
// has.
func (s *SystemCase) ServersChange() bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool { return v.Connect != "" || v.Relist > 0 }) ||
		slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.What == "gone" || f.What == "rubbish" })
}
