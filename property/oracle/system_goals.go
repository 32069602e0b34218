package oracle

import (
	"maps"
	"slices"
	"strings"

	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

// systemGoal is a goal of system cases.
type systemGoal struct {
	Name  string
	count func(v *SystemView) int
}

var systemGoals = slices.Concat(usualGoals[:], systemFaultGoals[:], kitGoals())

// usualGoals may come up where nothing goes wrong, systemFaultGoals where something does.
var usualGoals = [...]systemGoal{
	{"a blind call of a deferred tool was hinted", countCalls(func(p *systemCall) bool { return strings.Contains(p.text, hintText) })},
	{"a broken call of a discovered tool was not", countCalls(func(p *systemCall) bool {
		return p.want.BadInput && p.emitted && p.v.s.Deferrable(p.call.Tool) && p.asked.deferring() && p.asked.loaded[p.call.Tool]
	})},
	{"a broken call was not hinted, since nothing is deferred", countCalls(func(p *systemCall) bool {
		return p.want.BadInput && p.emitted && p.v.s.Deferrable(p.call.Tool) && !p.asked.deferring()
	})},
	{"the size of the tools decided that they are deferred", func(v *SystemView) int {
		_, sure := Deferring(v.s)
		return count(!sure && v.main()[0].deferring())
	}},
	{"a search loaded a tool for the next request", countCalls(func(p *systemCall) bool {
		next := (*request)(nil)
		if p.call.Tool == "ToolSearch" && p.status == "ok" {
			next = p.v.after(p)
		}
		return next != nil && len(next.loaded) > len(p.asked.loaded)
	})},
	{"a server came or went between requests", func(v *SystemView) int {
		return howMany(v.main()[1:], func(r *request) bool {
			return r.turn > 1 && slices.ContainsFunc(v.s.Servers, func(s generate.Server) bool {
				return Connected(v.s, s.Name, r.turn) != Connected(v.s, s.Name, r.turn-1)
			})
		})
	}},
	{"a rewritten input was refused", countCalls(func(p *systemCall) bool { return p.want.Refused && p.settled() })},
	{"a rewritten input ran", countCalls(func(p *systemCall) bool { return p.want.Rewritten && p.ran })},
	{"a person's input was refused", countCalls(func(p *systemCall) bool { return p.want.Refused && p.askedPerson && p.settled() })},
	{"a deny rule beat an allow", countCalls(func(p *systemCall) bool {
		return p.want.Why == "a deny rule" && p.settled() && (Allows(p.v.s, p.call) || p.hookDecides("allow"))
	})},
	{"an ask rule asked about what a hook allowed", countCalls(func(p *systemCall) bool {
		return strings.HasSuffix(p.want.Why, "an ask rule") && p.settled() && p.hookDecides("allow")
	})},
	{"a hook denied what a rule allows", countCalls(func(p *systemCall) bool { return p.want.Why == "a hook denies" && p.settled() })},
	{"a hook replaced an output", countCalls(func(p *systemCall) bool { return p.ran && p.want.Output != "" && p.settled() })},
	{"a hook after the run ended the turn", countCalls(func(p *systemCall) bool { return p.want.EndsTurn && p.settled() })},
	{"a result went to a file for its tool's limit", countCalls(func(p *systemCall) bool { return p.savedFor("limit of") })},
	{"a result went to a file for its message", countCalls(func(p *systemCall) bool { return p.savedFor("message over") })},
	{"a sub-agent worked to its end", countCalls(func(p *systemCall) bool { return p.call.Tool == "Agent" && p.status == "ok" })},
	{"a sub-agent was stopped with its parent's call", countCalls(func(p *systemCall) bool { return p.call.Tool == "Agent" && p.wasCancelled && p.stopped() })},
	{"a failure within a sub-agent stopped its sibling there", countCalls(func(p *systemCall) bool {
		return p.parent != nil && p.status == "cancelled" && !p.parent.stopped()
	})},
	{"a sub-agent changed a state of its own", countCalls(func(p *systemCall) bool {
		t := p.v.s.Tool(p.call.Tool)
		return p.parent != nil && t != nil && t.WritesEnv && p.ran
	})},
	{"a file was changed", countCalls(func(p *systemCall) bool {
		return (p.call.Tool == "Write" || p.call.Tool == "Edit") && p.status == "ok"
	})},
}

func countCalls(is func(*systemCall) bool) func(*SystemView) int {
	return func(v *SystemView) int { return howMany(v.calls, func(p *systemCall) bool { return p.made && is(p) }) }
}

func (p *systemCall) savedFor(why string) bool {
	return slices.ContainsFunc(p.saved, func(w string) bool { return strings.Contains(w, why) })
}

// hookDecides reports whether a hook on the call gives this decision.
func (p *systemCall) hookDecides(what string) bool {
	return slices.ContainsFunc(p.v.s.Hooks, func(h generate.Hook) bool {
		if h.Fails != "" {
			h = *h.Failed()
		}
		return h.Decision == what && (h.Tool == "" || h.Tool == p.call.Tool)
	})
}

var systemFaultGoals = [...]systemGoal{
	{"a tool of a system case panicked or gave an error", countCalls(func(p *systemCall) bool { return p.settled() && p.ran && p.suffers("panic", "error") })},
	{"a tool of a sub-agent panicked or gave an error", countCalls(func(p *systemCall) bool {
		return p.parent != nil && p.settled() && p.ran && p.suffers("panic", "error")
	})},
	{"a tool hung until its time limit", countCalls(func(p *systemCall) bool { return p.status == "timeout" && p.suffers("hang") })},
	{"a tool that ignores cancelling was asked to stop", countCalls(func(p *systemCall) bool { return p.wasCancelled && p.ran && p.suffers("deaf") })},
	{"a tool was slower than it is", countCalls(func(p *systemCall) bool { return p.settled() && p.ran && p.suffers("slow") })},
	{"a result was made huge", countCalls(func(p *systemCall) bool { return p.status == "ok" && p.suffers("huge") })},
	{"a result was made empty", countCalls(func(p *systemCall) bool { return p.status == "ok" && p.suffers("empty") })},
	{"progress came after the end of a call of a system case", countCalls(func(p *systemCall) bool {
		late := p.delay("progress")
		return late > 0 && p.ran && p.ended+late < p.v.out.Trace[len(p.v.out.Trace)-1].At
	})},
	{"a hook of a system case hung", countHooks("hang")},
	{"a hook of a system case crashed", countHooks("error", "panic")},
	{"a hook's command answered with no JSON", countHooks("rubbish")},
	{"a guard that failed denied a call", countCalls(func(p *systemCall) bool {
		return p.settled() && p.want.Why == "a hook denies" && slices.ContainsFunc(p.v.s.Hooks, func(h generate.Hook) bool { return h.Fails != "" && h.Failed().Decision == "deny" })
	})},
	{"a hook that failed withheld an output", countCalls(func(p *systemCall) bool { return p.settled() && p.ran && p.want.Withheld })},
	{"a disk failed under a call", func(v *SystemView) int { return count(v.s.BreaksDisk()) }},

	{"a stream of a system case was given up", countRequests(func(_ *SystemView, r *request) bool { return r.abandoned })},
	{"a sub-agent's stream was given up", countRequests(func(_ *SystemView, r *request) bool { return r.abandoned && r.agent != "" })},
	{"a stream was given up with a sub-agent at work", func(v *SystemView) int { return v.spawnersDropped() }},
	{"a call of a system case was made again", countCalls(func(p *systemCall) bool { return p.tries > 1 })},
	{"an event came twice or late, and its stream went on", countRequests(func(_ *SystemView, r *request) bool { return r.garbled && !r.abandoned })},
	{"blocks were complete in another order", func(v *SystemView) int { return v.swapped() }},
	{"an answer was given again that the user had cut short", countCalls(func(p *systemCall) bool { return p.repeated })},
	{"the user interrupted a system case twice in one instant", func(v *SystemView) int { return v.doubleInterrupts() }},

	{"a server died under a call", countConnections(func(v *SystemView, l *connection) bool { return l.lost != never })},
	{"a server was at work on a call when it died", countCalls(func(p *systemCall) bool {
		l := p.connection()
		return l != nil && p.ran && p.status == "failed" && l.lost != never && p.reached() < l.lost
	})},
	{"a call found its server gone", countCalls(func(p *systemCall) bool {
		l := p.connection()
		return l != nil && p.ran && p.status == "failed" && p.reached() > l.lost
	})},
	{"a server that came back answered", countCalls(func(p *systemCall) bool {
		l := p.connection()
		return l != nil && p.status == "ok" && p.reached() > l.back
	})},
	{"a server was given up and its tools were gone", countRequests(func(v *SystemView, r *request) bool {
		return r.agent == "" && slices.ContainsFunc(v.links(), func(l *connection) bool { return r.begun > l.down })
	})},
	{"a server answered twice, or what nobody asked", countCalls(func(p *systemCall) bool { return p.ran && p.settled() && p.suffers("duplicate", "unknown") })},
	{"a server was too slow", countCalls(func(p *systemCall) bool { return p.connection() != nil && p.status == "timeout" && p.suffers("lags") })},
	{"a server could not be connected at once", countConnections(func(_ *SystemView, l *connection) bool { return l.up > 0 })},
	{"a server came late, and a request had its tools", countRequests(func(v *SystemView, r *request) bool {
		return r.agent == "" && slices.ContainsFunc(v.links(), func(l *connection) bool { return l.up > 0 && r.begun > l.up })
	})},
	{"a server's list lost a tool", countRelists(func(s *generate.Server) bool { return s.List == "" && len(s.Without) > 0 })},
	{"a server's new list could not be read", countRelists(func(s *generate.Server) bool { return s.List != "" })},
}

func countRequests(is func(*SystemView, *request) bool) func(*SystemView) int {
	return func(v *SystemView) int { return howMany(v.requests, func(r *request) bool { return is(v, r) }) }
}

func countConnections(is func(*SystemView, *connection) bool) func(*SystemView) int {
	return func(v *SystemView) int { return howMany(v.links(), func(l *connection) bool { return is(v, l) }) }
}

// links are the connections to the servers, in any order.
func (v *SystemView) links() []*connection { return slices.Collect(maps.Values(v.connections)) }

// countRelists counts the servers whose lists changed while there were requests.
func countRelists(is func(*generate.Server) bool) func(*SystemView) int {
	return func(v *SystemView) int {
		return howMany(v.s.Servers, func(s generate.Server) bool { return s.Relist > 0 && v.turns() >= s.Relist && is(&s) })
	}
}

// countHooks counts the hooks that ran and failed in one of these ways.
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

// connection is that to the server of a call's tool, or nil.
func (p *systemCall) connection() *connection {
	if w := generate.Served[p.call.Tool]; w != nil {
		return p.v.connections[w.Server]
	}
	return nil
}

// spawnersDropped counts the sub-agents whose calls were given up with their message while they ran.
func (v *SystemView) spawnersDropped() int {
	n, running := 0, map[string]bool{}
	for _, e := range v.out.Trace {
		switch {
		case e.Tool != "Agent":
		case e.Kind() == trace.KindStarted:
			running[e.Call] = true
		case trace.As[trace.Ended](e).Status == "discarded":
			n += count(running[e.Call])
			fallthrough
		case e.Kind() == trace.KindEnded:
			running[e.Call] = false
		}
	}
	return n
}

// swapped counts the messages whose calls were complete in another order than theirs.
func (v *SystemView) swapped() int {
	n, last := 0, map[string]int{}
	for _, e := range v.out.Trace {
		switch e.Kind() {
		case trace.KindRequest:
			last[e.Agent] = 0
		case trace.KindReady:
			n += count(generate.CallNumber(e.Call) < last[e.Agent])
			last[e.Agent] = max(last[e.Agent], generate.CallNumber(e.Call))
		}
	}
	return n
}

// doubleInterrupts counts the instants in which the user interrupted twice.
func (v *SystemView) doubleInterrupts() int {
	n, last := 0, never
	for _, e := range v.out.Trace {
		if e.Kind() == trace.KindInterrupt && e.Agent == "" {
			n += count(e.At == last)
			last = e.At
		}
	}
	return n
}
