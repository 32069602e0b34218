package scene

import (
	"slices"

	"toolbench/toolsys/trace"
)

var faulty = [...]Situation{
	{"a tool panicked or gave an error in a scene", calls(func(v *view, p *played) bool {
		k := v.s.spoilt(p.call.ID)
		return p.settled() && p.ran && (k.panics || k.errors)
	})},
	{"a tool of a sub-agent panicked or gave an error", calls(func(v *view, p *played) bool {
		k := v.s.spoilt(p.call.ID)
		return p.parent != nil && p.settled() && p.ran && (k.panics || k.errors)
	})},
	{"a tool hung until its time limit", calls(func(v *view, p *played) bool {
		return p.status == "timeout" && v.s.spoilt(p.call.ID).hangs
	})},
	{"a tool that does not hear was told to stop", calls(func(v *view, p *played) bool {
		return p.wasCancelled && p.ran && v.s.spoilt(p.call.ID).deaf
	})},
	{"a tool was slower than it is", calls(func(v *view, p *played) bool { return p.settled() && p.ran && v.s.spoilt(p.call.ID).slow > 0 })},
	{"a result was made huge", calls(func(v *view, p *played) bool { return p.status == "ok" && v.s.spoilt(p.call.ID).huge })},
	{"a result was made nothing", calls(func(v *view, p *played) bool { return p.status == "ok" && v.s.spoilt(p.call.ID).empty })},
	{"progress came after the end of a scene's call", calls(func(v *view, p *played) bool {
		late := v.s.spoilt(p.call.ID).late
		return late > 0 && p.ran && p.ended+late < v.out.Trace[len(v.out.Trace)-1].At
	})},
	{"a hook hung in a scene", hooks("hang")},
	{"a hook crashed in a scene", hooks("error", "panic")},
	{"a hook's command talked rubbish", hooks("rubbish")},
	{"a guard that failed denied a call", calls(func(v *view, p *played) bool {
		return p.settled() && p.want.why == "a hook denies" && slices.ContainsFunc(v.s.Hooks, func(h Hook) bool { return h.Fails != "" && h.failed().Says == "deny" })
	})},
	{"a hook that failed withheld an output", calls(func(_ *view, p *played) bool { return p.settled() && p.ran && p.want.withheld })},
	{"a disk was spoilt under a call", func(v *view) int { return count(v.s.worldly()) }},

	{"a stream was given up in a scene", requests(func(_ *view, r *request) bool { return r.fell })},
	{"a sub-agent's stream was given up", requests(func(_ *view, r *request) bool { return r.fell && r.agent != "" })},
	{"a stream was given up with a sub-agent at work", func(v *view) int { return v.spawnersDropped() }},
	{"a call was made again in a scene", calls(func(_ *view, p *played) bool { return p.tries > 1 })},
	{"an event came twice or late, and its stream went on", requests(func(_ *view, r *request) bool { return r.garbled && !r.fell })},
	{"blocks were complete in another order", func(v *view) int { return v.swapped() }},
	{"an answer was given again that the user had cut short", calls(func(_ *view, p *played) bool { return p.again })},
	{"the user spoke twice in one instant in a scene", func(v *view) int { return v.echoes() }},

	{"a server died under a call", eachLine(func(v *view, l *line) bool { return l.lost != never })},
	{"a call was in a server's hands when it died", calls(func(v *view, p *played) bool {
		l := v.lineOf(p)
		return l != nil && p.ran && p.status == "failed" && l.lost != never && p.reached(v.s.spoilt(p.call.ID)) < l.lost
	})},
	{"a call found its server gone", calls(func(v *view, p *played) bool {
		l := v.lineOf(p)
		return l != nil && p.ran && p.status == "failed" && p.reached(v.s.spoilt(p.call.ID)) > l.lost
	})},
	{"a server that came back answered", calls(func(v *view, p *played) bool {
		l := v.lineOf(p)
		return l != nil && p.status == "ok" && p.reached(v.s.spoilt(p.call.ID)) > l.back
	})},
	{"a server was given up and its tools were gone", requests(func(v *view, r *request) bool {
		for _, l := range v.lines {
			if r.agent == "" && r.begun > l.down {
				return true
			}
		}
		return false
	})},
	{"a server answered twice, or what nobody asked", calls(func(v *view, p *played) bool { return p.ran && p.settled() && v.s.spoilt(p.call.ID).odd })},
	{"a server was too slow", calls(func(v *view, p *played) bool {
		return v.lineOf(p) != nil && p.status == "timeout" && v.s.spoilt(p.call.ID).lags > 0
	})},
	{"a server could not be connected at once", eachLine(func(_ *view, l *line) bool { return l.up > 0 })},
	{"a server came late, and a request had its tools", requests(func(v *view, r *request) bool {
		for _, l := range v.lines {
			if r.agent == "" && l.up > 0 && r.begun > l.up {
				return true
			}
		}
		return false
	})},
	{"a server's list lost a tool", relists(func(s *Server) bool { return s.List == "" && len(s.Without) > 0 })},
	{"a server's new list could not be read", relists(func(s *Server) bool { return s.List != "" })},
}

func requests(is func(*view, *request) bool) func(*view) int {
	return func(v *view) int {
		n := 0
		for _, r := range v.requests {
			n += count(is(v, r))
		}
		return n
	}
}

func eachLine(is func(*view, *line) bool) func(*view) int {
	return func(v *view) int {
		n := 0
		for _, l := range v.lines {
			n += count(is(v, l))
		}
		return n
	}
}

// relists counts the servers whose lists changed while there were requests.
func relists(is func(*Server) bool) func(*view) int {
	return func(v *view) int {
		n := 0
		for i := range v.s.Servers {
			s := &v.s.Servers[i]
			n += count(s.Relist > 0 && v.turns() >= s.Relist && is(s))
		}
		return n
	}
}

// hooks counts the hooks that were asked and failed so.
func hooks(ways ...string) func(*view) int {
	return func(v *view) int {
		n := 0
		for i := range v.s.Hooks {
			h := &v.s.Hooks[i]
			asked := slices.ContainsFunc(v.calls, func(p *played) bool { return slices.Contains(p.hooks, h.Event+" "+hookName(i)) })
			n += count(asked && slices.Contains(ways, h.Fails))
		}
		return n
	}
}

// lineOf is the line to the server of a call's tool, or nil.
func (v *view) lineOf(p *played) *line {
	if w := served[p.call.Tool]; w != nil {
		return v.lines[w.server]
	}
	return nil
}

// spawnersDropped counts the sub-agents whose calls were given up with their message
// while they ran.
func (v *view) spawnersDropped() int {
	n, running := 0, map[string]bool{}
	for _, e := range v.out.Trace {
		switch {
		case e.Tool != "Agent":
		case e.Kind == trace.Started:
			running[e.Call] = true
		case e.Kind == trace.Ended && e.Get("status") == "discarded":
			n += count(running[e.Call])
			fallthrough
		case e.Kind == trace.Ended:
			running[e.Call] = false
		}
	}
	return n
}

// swapped counts the messages whose calls were complete in another order than theirs.
func (v *view) swapped() int {
	n, last := 0, map[string]int{}
	for _, e := range v.out.Trace {
		switch e.Kind {
		case trace.Request:
			last[e.Agent] = 0
		case trace.Ready:
			n += count(number(e.Call) < last[e.Agent])
			last[e.Agent] = max(last[e.Agent], number(e.Call))
		}
	}
	return n
}

// echoes counts the instants in which the user spoke twice.
func (v *view) echoes() int {
	n, last := 0, never
	for _, e := range v.out.Trace {
		if e.Kind == trace.Interrupt && e.Agent == "" {
			n += count(e.At == last)
			last = e.At
		}
	}
	return n
}
