package scene

import (
	"fmt"
	"slices"
	"time"

	"toolbench/sim/fault"
)

func (s *Scene) checkServers() error {
	for _, v := range s.Servers {
		switch {
		case !slices.Contains(serverNames, v.Name):
			return fmt.Errorf("no scene has a server %q", v.Name)
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

func (s *Scene) checkFaults() error {
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

// faults are the scene's, read.
func (s *Scene) faults() []fault.Fault {
	var all []fault.Fault
	for _, line := range s.Faults {
		if f, err := fault.Parse(line); err == nil { // Check tells of others
			all = append(all, f)
		}
	}
	return all
}

// spoilt is what goes wrong with one call.
type spoilt struct {
	panics, errors, hangs, deaf, huge, empty bool
	// slow is how much longer it takes, lags how long its server takes for the answer, late
	// how long after its end it reports progress.
	slow, lags, late time.Duration
	// loses: its server is lost under it, to be there again after back; never is for good.
	loses, never bool
	back         time.Duration
	// odd: its server answers twice, or others first.
	odd bool
}

func (s *Scene) spoilt(id string) (k spoilt) {
	for _, f := range s.faults() {
		if f.Call == id {
			k.take(f)
		}
	}
	return k
}

func (k *spoilt) take(f fault.Fault) {
	switch f.What {
	case "panic":
		k.panics = true
	case "error":
		k.errors = true
	case "hang":
		k.hangs = true
	case "deaf":
		k.deaf = true
	case "huge":
		k.huge = true
	case "empty":
		k.empty = true
	case "slow":
		k.slow = f.For
	case "lags":
		k.lags = f.For
	case "progress":
		k.late = f.For
	case "gone":
		k.loses, k.never, k.back = true, f.For == 0, f.For
	case "rubbish":
		k.loses = true
	case "duplicate", "unknown":
		k.odd = true
	}
}

// hugeChars is how long the result of a call is that is made huge.
const hugeChars = 500_000

// chars is how long the result of a call of a scene's own tool is, where that is known:
// of one that is long, or was made so.
func (s *Scene) chars(c *Call) int {
	t, k := s.tool(c.Tool), s.spoilt(c.ID)
	switch {
	case t == nil || k.empty:
		return 0
	case k.huge:
		return hugeChars
	}
	return t.Chars
}

// ends is how the run of a call ends for what goes wrong with it and for its tool's own
// time limit; "" as it would.
func (s *Scene) ends(c *Call) string {
	k, t := s.spoilt(c.ID), s.tool(c.Tool)
	late := t != nil && t.Timeout > 0 && (k.hangs || c.For+k.slow > t.Timeout)
	switch {
	case late && !k.deaf, late && k.errors && !k.panics:
		return "timeout"
	case k.panics:
		return "panic"
	case k.errors:
		return "failed"
	}
	return ""
}

// streams says whether anything is wrong with streams; request gives the faults of one.
func (s *Scene) streams() bool {
	return slices.ContainsFunc(s.faults(), func(f fault.Fault) bool { return f.Request > 0 })
}

// worldly: the disk is spoilt from some moment on.
func (s *Scene) worldly() bool {
	return slices.ContainsFunc(s.faults(), func(f fault.Fault) bool { return f.What == "full" || f.What == "readonly" })
}

// shaky: a server is not there all the time, or not with all it has.
func (s *Scene) shaky() bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool { return v.Connect != "" || v.Relist > 0 }) ||
		slices.ContainsFunc(s.faults(), func(f fault.Fault) bool { return f.What == "gone" || f.What == "rubbish" })
}
