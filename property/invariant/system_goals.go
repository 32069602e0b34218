package invariant

import (
	"slices"
	"strings"

	"toolbench/property/generate"
	"toolbench/property/oracle"
)

// Situation is something worth having seen in scenes.
type systemGoal struct {
	Name  string
	count func(v *SystemView) int
}

// Situations are all of them.
func SystemGoals() []systemGoal { return systemGoals }

var systemGoals = slices.Concat(usualGoals[:], systemFaultGoals[:])

// usual is what may come up where nothing goes wrong; faulty where something does.
var usualGoals = [...]systemGoal{
	{"a blind call of a deferred tool was hinted", countCalls(func(_ *SystemView, p *systemCall) bool { return strings.Contains(p.text, hintText) })},
	{"a broken call of a discovered tool was not", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.want.BadInput && p.emitted && v.s.Deferrable(p.call.Tool) && p.asked.deferring() && p.asked.loaded[p.call.Tool]
	})},
	{"a broken call was not hinted, since nothing is deferred", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.want.BadInput && p.emitted && v.s.Deferrable(p.call.Tool) && !p.asked.deferring()
	})},
	{"the size of the tools decided that they are deferred", func(v *SystemView) int {
		_, sure := oracle.Deferring(v.s)
		return count(!sure && v.main()[0].deferring())
	}},
	{"a search loaded a tool for the next request", countCalls(func(v *SystemView, p *systemCall) bool {
		next := (*request)(nil)
		if p.call.Tool == "ToolSearch" && p.status == "ok" {
			next = v.after(p)
		}
		return next != nil && len(next.loaded) > len(p.asked.loaded)
	})},
	{"a server came or went between requests", func(v *SystemView) int {
		n := 0
		for i, r := range v.main() {
			n += count(i > 0 && len(v.s.Servers) > 0 && r.turn > 1 && churned(v.s, r.turn))
		}
		return n
	}},
	{"a rewritten input was refused", countCalls(func(_ *SystemView, p *systemCall) bool { return p.want.Refused && p.settled() })},
	{"a rewritten input ran", countCalls(func(_ *SystemView, p *systemCall) bool { return p.want.Rewritten && p.ran })},
	{"a person's input was refused", countCalls(func(_ *SystemView, p *systemCall) bool { return p.want.Refused && p.askedPerson && p.settled() })},
	{"a deny rule beat an allow", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.want.Why == "a deny rule" && p.settled() && v.allowed(p)
	})},
	{"an ask rule asked about what a hook allowed", countCalls(func(v *SystemView, p *systemCall) bool {
		return strings.HasSuffix(p.want.Why, "an ask rule") && p.settled() && v.hookDecides(p, "allow")
	})},
	{"a hook denied what a rule allows", countCalls(func(v *SystemView, p *systemCall) bool { return p.want.Why == "a hook denies" && p.settled() })},
	{"a hook replaced an output", countCalls(func(_ *SystemView, p *systemCall) bool { return p.ran && p.want.Output != "" && p.settled() })},
	{"a hook after the run ended the turn", countCalls(func(_ *SystemView, p *systemCall) bool { return p.want.EndsTurn && p.settled() })},
	{"a result went to a file for its tool's limit", countCalls(func(_ *SystemView, p *systemCall) bool { return p.savedFor("limit of") })},
	{"a result went to a file for its message", countCalls(func(_ *SystemView, p *systemCall) bool { return p.savedFor("message over") })},
	{"a sub-agent worked to its end", countCalls(func(_ *SystemView, p *systemCall) bool { return p.call.Tool == "Agent" && p.status == "ok" })},
	{"a sub-agent was stopped with its parent's call", countCalls(func(v *SystemView, p *systemCall) bool {
		return p.call.Tool == "Agent" && p.wasCancelled && p.stopped()
	})},
	{"a failure within a sub-agent stopped its sibling there", countCalls(func(_ *SystemView, p *systemCall) bool {
		return p.parent != nil && p.status == "cancelled" && !p.parent.stopped()
	})},
	{"a sub-agent changed a state of its own", countCalls(func(v *SystemView, p *systemCall) bool {
		t := v.s.Tool(p.call.Tool)
		return p.parent != nil && t != nil && t.WritesEnv && p.ran
	})},
	{"a file was changed", countCalls(func(_ *SystemView, p *systemCall) bool {
		return (p.call.Tool == "Write" || p.call.Tool == "Edit") && p.status == "ok"
	})},
}

func countCalls(is func(*SystemView, *systemCall) bool) func(*SystemView) int {
	return func(v *SystemView) int {
		n := 0
		for _, p := range v.calls {
			n += count(p.made && is(v, p))
		}
		return n
	}
}

func (p *systemCall) savedFor(why string) bool {
	for _, w := range p.saved {
		if strings.Contains(w, why) {
			return true
		}
	}
	return false
}

// churned says whether a server came or went just before a request.
func churned(s *generate.SystemCase, turn int) bool {
	for _, v := range s.Servers {
		if oracle.Connected(s, v.Name, turn) != oracle.Connected(s, v.Name, turn-1) {
			return true
		}
	}
	return false
}

// allowed: a rule or a hook would let the call run.
func (v *SystemView) allowed(p *systemCall) bool {
	return oracle.Allows(v.s, p.call) || v.hookDecides(p, "allow")
}

// says: a hook on the call says so.
func (v *SystemView) hookDecides(p *systemCall, what string) bool {
	for i := range v.s.Hooks {
		h := &v.s.Hooks[i]
		if h.Fails != "" {
			h = h.Failed()
		}
		if h.Decision == what && (h.Tool == "" || h.Tool == p.call.Tool) {
			return true
		}
	}
	return false
}

// CountSystemGoals counts up what came up in a run, by place in SystemGoals.
func CountSystemGoals(v *SystemView, seen []int) {
	for i, g := range systemGoals {
		if i < len(seen) {
			seen[i] += g.count(v)
		}
	}
}
