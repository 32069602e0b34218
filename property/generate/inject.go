package generate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/property/des"
)

// inject adds what goes wrong (O7), as far as the plan lets it.
func (m *SystemMaker) inject() {
	s := m.s
	if m.serversFail() {
		m.injectServers()
	}
	s.Each(func(c *Call, _ int, _ *Call) {
		if m.has&toolFaults != 0 {
			m.injectTool(c)
		}
	})
	if m.chance(diskFault, 1, 2) && m.plan.May.Has(Disk) {
		m.anyCall(func(c *Call) { m.fault(des.Fault{What: pick(m, "full", "readonly"), Call: c.ID}) })
	}
	if m.has&streamFaults != 0 {
		m.injectStreams()
	}
	if len(s.Interrupts) > 0 && m.odds(1, 4) { // twice in one instant
		s.Interrupts = append(s.Interrupts, s.Interrupts[0])
	}
}

// serversFail reports whether servers are to go wrong.
func (m *SystemMaker) serversFail() bool {
	return m.has&anyFault != 0 && m.has&serverFaults != 0 && m.plan.May.Has(Servers)
}

func (m *SystemMaker) fault(f des.Fault) { m.s.Faults = append(m.s.Faults, f) }

func (m *SystemMaker) anyCall(f func(c *Call)) {
	n := m.rng.IntN(max(1, m.s.Calls()))
	m.s.Each(func(c *Call, _ int, _ *Call) {
		if n == 0 {
			f(c)
		}
		n--
	})
}

// injectTool makes a call's run go wrong.
func (m *SystemMaker) injectTool(c *Call) {
	t, may := m.s.Tool(c.Tool), m.plan.May
	if t == nil {
		if may.Has(Breaking) && m.odds(1, 12) {
			m.fault(m.breaking(c))
		}
		return
	}
	if may.Has(Hanging) && t.Timeout == 0 && m.odds(1, 6) {
		t.Timeout = m.span(20) + 50*time.Millisecond // never in the instant of a run's own end
	}
	switch {
	case may.Has(Breaking) && m.odds(1, 8):
		m.fault(m.breaking(c))
	case may.Has(Hanging) && t.Timeout > 0 && m.odds(1, 4):
		m.fault(des.Fault{What: "hang", Call: c.ID})
		return
	case may.Has(Hanging) && m.odds(1, 10):
		m.fault(des.Fault{What: "slow", Call: c.ID, For: pick[time.Duration](m, 2, 8, 33) * time.Second})
	case may.Has(Huge) && m.odds(1, 12):
		m.fault(des.Fault{What: "huge", Call: c.ID})
	case may.Has(Empty) && m.odds(1, 12):
		m.fault(des.Fault{What: "empty", Call: c.ID})
	}
	if may.Has(IgnoringCancel) && m.odds(1, 8) {
		m.fault(des.Fault{What: "deaf", Call: c.ID})
		if m.odds(1, 3) { // somebody asks it to stop
			m.s.Interrupts = append(m.s.Interrupts, c.At+m.span(10))
		}
	}
	if may.Has(Late) && m.odds(1, 6) {
		m.fault(des.Fault{What: "progress", Call: c.ID, For: time.Millisecond + m.span(20)})
	}
}

func (m *SystemMaker) breaking(c *Call) des.Fault {
	if m.odds(1, 2) {
		return des.Fault{What: "panic", Call: c.ID}
	}
	return des.Fault{What: "error", Arg: "it broke", Call: c.ID}
}

// injectServers has servers come late, die under a call, send what nobody asked for, be
// slow, and change their lists. Each is lost once at most.
func (m *SystemMaker) injectServers() {
	s := m.s
	for i := range s.Servers {
		v := &s.Servers[i]
		if m.odds(1, 6) {
			v.Connect = pick(m, "refused", "fails", "hangs")
		}
		if m.odds(1, 4) {
			v.Relist = 2 + m.rng.IntN(2)
			v.Without = []string{pick(m, m.listed(v.Name)...)}
			if m.odds(1, 3) {
				v.List = pick(m, "fails", "hangs")
			}
		}
	}
	lost := map[string]bool{}
	before := map[string]string{} // the last call to a server, by server and turn
	s.Each(func(c *Call, turn int, _ *Call) {
		if t := s.Tool(c.Tool); t != nil && m.odds(1, 3) { // so that there is time for it
			c.For = pick(m, 1500*time.Millisecond, 4*time.Second, 33*time.Second, 33*time.Second)
		}
		w := Served[c.Tool]
		if w == nil {
			return
		}
		at := w.Server + strconv.Itoa(turn)
		beside := before[at]
		if before[at] = c.ID; m.odds(1, 2) {
			return
		}
		f := des.Fault{Call: c.ID, What: pick(m, "gone", "gone", "rubbish", "duplicate", "unknown", "lags")}
		switch f.What {
		case "gone":
			f.For = pick(m, 0, 0, 500*time.Millisecond, 2500*time.Millisecond, 9*time.Second)
		case "rubbish":
			f.Arg = pick(m, "Segmentation fault", `{"hello":"world"}`)
		case "lags":
			f.For = pick(m, time.Second, 2500*time.Millisecond, 150*time.Second)
		}
		if loses := f.What == "gone" || f.What == "rubbish"; loses && lost[w.Server] {
			return
		} else if loses {
			lost[w.Server] = true
			if beside != "" && !m.s.Suffers(beside) { // which it may die under too
				m.fault(des.Fault{What: "lags", Call: beside, For: 5 * time.Second})
			}
		}
		m.fault(f)
		if f.What == "gone" && f.For == 0 {
			m.s.Each(func(c *Call, at int, _ *Call) { // so long that the server is given up meanwhile
				if at >= turn && m.s.Tool(c.Tool) != nil {
					c.For = 33 * time.Second
				}
			})
		}
	})
}

// listed are the tools of a server that cases call, by its own names for them.
func (m *SystemMaker) listed(server string) []string {
	names := []string{"nothing"}
	for _, name := range m.names() {
		if own, ok := strings.CutPrefix(name, "mcp__"+server+"__"); ok {
			names = append(names, own)
		}
	}
	return names[min(1, len(names)-1):]
}

// injectStreams has requests refused and their streams break, stall, and send events twice or late.
func (m *SystemMaker) injectStreams() {
	s, may := m.s, m.plan.May
	s.Retries = m.rng.IntN(3)
	requests := map[int]bool{}
	if may.Has(Cuts) && m.odds(1, 2) {
		m.cutBehindAgents(requests)
	}
	for range 1 + m.rng.IntN(3) {
		f := des.Fault{Request: 1 + m.rng.IntN(len(s.Turns)+3), Event: 1 + m.rng.IntN(24)}
		if requests[f.Request] {
			continue
		}
		switch {
		case may.Has(Refusals) && m.odds(1, 4):
			f.What, f.Arg, f.Event = "status", strconv.Itoa(pick(m, 429, 500, 529)), 0
		case may.Has(Cuts) && m.odds(1, 3):
			f.What = pick(m, "cut", "malformed", "say")
			if f.What == "say" {
				f.Arg = "overloaded_error"
			}
		case may.Has(Stalls) && m.odds(1, 3):
			s.Idle = time.Minute
			f.What, f.For = "stall", pick(m, 0, time.Second, 30*time.Second)
		case may.Has(Repeats):
			f.What = pick(m, "twice", "late")
			if f.What == "late" {
				f.For = time.Millisecond + m.span(10)
			}
		default:
			continue
		}
		requests[f.Request] = true
		m.fault(f)
	}
}

// cutBehindAgents cuts streams off while a sub-agent of theirs may be at work.
func (m *SystemMaker) cutBehindAgents(requests map[int]bool) {
	for t := range m.s.Turns {
		calls := m.s.Turns[t].Calls
		i := slices.IndexFunc(calls, func(c Call) bool { return c.Tool == "Agent" })
		if i >= 0 && i < len(calls)-1 {
			requests[t+1] = true
			m.fault(des.Fault{What: "cut", Request: t + 1, Event: 1 + 5*(i+1) + m.rng.IntN(6)})
			return
		}
	}
}
