package invariant

import (
	"slices"

	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

var systemFaultGoals = [...]systemGoal{
	{"a tool panicked or gave an error in a scene", countCalls(func(v *SystemView, p *systemCall) bool {
		k := v.s.FaultsOf(p.call.ID)
		return p.settled() && p.ran && (k.Panics || k.Errors)
	})},
	{"a tool of a sub-agent panicked or gave an error", countCalls(func(v *SystemView, p *systemCall) bool {
		k := v.s.FaultsOf(p.call.ID)
		return p.parent != nil && p.settled() && p.ran && (k.Panics || k.Errors)
	})},
	{"a tool hung until its time limit", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.status == "timeout" && v.s.FaultsOf(p.call.ID).Hangs
	})},
	{"a tool that does not hear was told to stop", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.wasCancelled && p.ran && v.s.FaultsOf(p.call.ID).IgnoresCancel
	})},
	{"a tool was slower than it is", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.settled() && p.ran && v.s.FaultsOf(p.call.ID).Slow > 0
	})},
	{"a result was made huge", countCalls(func(v *SystemView, p *systemCall) bool { return p.status == "ok" && v.s.FaultsOf(p.call.ID).Huge })},
	{"a result was made nothing", countCalls(func(v *SystemView, p *systemCall) bool { return p.status == "ok" && v.s.FaultsOf(p.call.ID).Empty })},
	{"progress came after the end of a scene's call", countCalls(func(v *SystemView, p *systemCall) bool {
		late := v.s.FaultsOf(p.call.ID).LateProgress
		return late > 0 && p.ran && p.ended+late < v.out.Trace[len(v.out.Trace)-1].At
	})},
	{"a hook hung in a scene", countHooks("hang")},
	{"a hook crashed in a scene", countHooks("error", "panic")},
	{"a hook's command talked rubbish", countHooks("rubbish")},
	{"a guard that failed denied a call", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.settled() && p.want.Why == "a hook denies" && slices.ContainsFunc(v.s.Hooks, func(h generate.Hook) bool { return h.Fails != "" && h.Failed().Decision == "deny" })
	})},
	{"a hook that failed withheld an output", countCalls(func(_ *SystemView, p *systemCall) bool { return p.settled() && p.ran && p.want.Withheld })},
	{"a disk was spoilt under a call", func(v *SystemView) int { return count(v.s.BreaksDisk()) }},

	{"a stream was given up in a scene", countRequests(func(_ *SystemView, r *request) bool { return r.abandoned })},
	{"a sub-agent's stream was given up", countRequests(func(_ *SystemView, r *request) bool { return r.abandoned && r.agent != "" })},
	{"a stream was given up with a sub-agent at work", func(v *SystemView) int { return v.spawnersDropped() }},
	{"a call was made again in a scene", countCalls(func(_ *SystemView, p *systemCall) bool { return p.tries > 1 })},
	{"an event came twice or late, and its stream went on", countRequests(func(_ *SystemView, r *request) bool { return r.garbled && !r.abandoned })},
	{"blocks were complete in another order", func(v *SystemView) int { return v.swapped() }},
	{"an answer was given again that the user had cut short", countCalls(func(_ *SystemView, p *systemCall) bool { return p.repeated })},
	{"the user spoke twice in one instant in a scene", func(v *SystemView) int { return v.doubleInterrupts() }},

	{"a server died under a call", countConnections(func(v *SystemView, l *connection) bool { return l.lost != never })},
	{"a call was in a server's hands when it died", countCalls(func(v *SystemView, p *systemCall) bool {
		l := v.connectionOf(p)
		return l != nil && p.ran && p.status == "failed" && l.lost != never && p.reached(v.s.FaultsOf(p.call.ID)) < l.lost
	})},
	{"a call found its server gone", countCalls(func(v *SystemView, p *systemCall) bool {
		l := v.connectionOf(p)
		return l != nil && p.ran && p.status == "failed" && p.reached(v.s.FaultsOf(p.call.ID)) > l.lost
	})},
	{"a server that came back answered", countCalls(func(v *SystemView, p *systemCall) bool {
		l := v.connectionOf(p)
		return l != nil && p.status == "ok" && p.reached(v.s.FaultsOf(p.call.ID)) > l.back
	})},
	{"a server was given up and its tools were gone", countRequests(func(v *SystemView, r *request) bool {
		for _, l := range v.connections {
			if r.agent == "" && r.begun > l.down {
				return true
			}
		}
		return false
	})},
	{"a server answered twice, or what nobody asked", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.ran && p.settled() && v.s.FaultsOf(p.call.ID).OddAnswers
	})},
	{"a server was too slow", countCalls(func(v *SystemView, p *systemCall) bool {
		return v.connectionOf(p) != nil && p.status == "timeout" && v.s.FaultsOf(p.call.ID).Lags > 0
	})},
	{"a server could not be connected at once", countConnections(func(_ *SystemView, l *connection) bool { return l.up > 0 })},
	{"a server came late, and a request had its tools", countRequests(func(v *SystemView, r *request) bool {
		for _, l := range v.connections {
			if r.agent == "" && l.up > 0 && r.begun > l.up {
				return true
			}
		}
		return false
	})},
	{"a server's list lost a tool", countRelists(func(s *generate.Server) bool { return s.List == "" && len(s.Without) > 0 })},
	{"a server's new list could not be read", countRelists(func(s *generate.Server) bool { return s.List != "" })},
}

func countRequests(is func(*SystemView, *request) bool) func(*SystemView) int {
	return func(v *SystemView) int {
		n := 0
		for _, r := range v.requests {
			n += count(is(v, r))
		}
		return n
	}
}

func countConnections(is func(*SystemView, *connection) bool) func(*SystemView) int {
	return func(v *SystemView) int {
		n := 0
		for _, l := range v.connections {
			n += count(is(v, l))
		}
		return n
	}
}

// relists counts the servers whose lists changed while there were requests.
func countRelists(is func(*generate.Server) bool) func(*SystemView) int {
	return func(v *SystemView) int {
		n := 0
		for i := range v.s.Servers {
			s := &v.s.Servers[i]
			n += count(s.Relist > 0 && v.turns() >= s.Relist && is(s))
		}
		return n
	}
}

// hooks counts the hooks that were asked and failed so.
func countHooks(ways ...string) func(*SystemView) int {
	return func(v *SystemView) int {
		n := 0
		for i := range v.s.Hooks {
			h := &v.s.Hooks[i]
			asked := slices.ContainsFunc(v.calls, func(p *systemCall) bool { return slices.Contains(p.hooks, h.Event+" "+generate.HookName(i)) })
			n += count(asked && slices.Contains(ways, h.Fails))
		}
		return n
	}
}

// lineOf is the line to the server of a call's tool, or nil.
func (v *SystemView) connectionOf(p *systemCall) *connection {
	if w := generate.Served[p.call.Tool]; w != nil {
		return v.connections[w.Server]
	}
	return nil
}

// spawnersDropped counts the sub-agents whose calls were given up with their message
// while they ran.
func (v *SystemView) spawnersDropped() int {
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
func (v *SystemView) swapped() int {
	n, last := 0, map[string]int{}
	for _, e := range v.out.Trace {
		switch e.Kind {
		case trace.Request:
			last[e.Agent] = 0
		case trace.Ready:
			n += count(generate.CallNumber(e.Call) < last[e.Agent])
			last[e.Agent] = max(last[e.Agent], generate.CallNumber(e.Call))
		}
	}
	return n
}

// echoes counts the instants in which the user spoke twice.
func (v *SystemView) doubleInterrupts() int {
	n, last := 0, never
	for _, e := range v.out.Trace {
		if e.Kind == trace.Interrupt && e.Agent == "" {
			n += count(e.At == last)
			last = e.At
		}
	}
	return n
}
