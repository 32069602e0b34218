package scene

import (
	"slices"
	"strings"
)

// Situation is something worth having seen in scenes.
type Situation struct {
	Name string
	in   func(v *view) int
}

// Situations are all of them.
func Situations() []Situation { return situations }

var situations = slices.Concat(usual[:], faulty[:])

// usual is what may come up where nothing goes wrong; faulty where something does.
var usual = [...]Situation{
	{"a blind call of a deferred tool was hinted", calls(func(_ *view, p *played) bool { return strings.Contains(p.text, hintText) })},
	{"a broken call of a discovered tool was not", calls(func(v *view, p *played) bool {
		return p.want.broken && p.emitted && v.s.deferrable(p.call.Tool) && p.asked.deferring() && p.asked.loaded[p.call.Tool]
	})},
	{"a broken call was not hinted, since nothing is deferred", calls(func(v *view, p *played) bool {
		return p.want.broken && p.emitted && v.s.deferrable(p.call.Tool) && !p.asked.deferring()
	})},
	{"the size of the tools decided that they are deferred", func(v *view) int {
		_, sure := v.s.deferring()
		return count(!sure && v.main()[0].deferring())
	}},
	{"a search loaded a tool for the next request", calls(func(v *view, p *played) bool {
		next := (*request)(nil)
		if p.call.Tool == "ToolSearch" && p.status == "ok" {
			next = v.after(p)
		}
		return next != nil && len(next.loaded) > len(p.asked.loaded)
	})},
	{"a server came or went between requests", func(v *view) int {
		n := 0
		for i, r := range v.main() {
			n += count(i > 0 && len(v.s.Servers) > 0 && r.turn > 1 && v.s.churned(r.turn))
		}
		return n
	}},
	{"a rewritten input was refused", calls(func(_ *view, p *played) bool { return p.want.refused && p.settled() })},
	{"a rewritten input ran", calls(func(_ *view, p *played) bool { return p.want.rewritten && p.ran })},
	{"a person's input was refused", calls(func(_ *view, p *played) bool { return p.want.refused && p.persons && p.settled() })},
	{"a deny rule beat an allow", calls(func(v *view, p *played) bool { return p.want.why == "a deny rule" && p.settled() && v.allowed(p) })},
	{"an ask rule asked about what a hook allowed", calls(func(v *view, p *played) bool {
		return strings.HasSuffix(p.want.why, "an ask rule") && p.settled() && v.says(p, "allow")
	})},
	{"a hook denied what a rule allows", calls(func(v *view, p *played) bool { return p.want.why == "a hook denies" && p.settled() })},
	{"a hook replaced an output", calls(func(_ *view, p *played) bool { return p.ran && p.want.output != "" && p.settled() })},
	{"a hook after the run ended the turn", calls(func(_ *view, p *played) bool { return p.want.ends && p.settled() })},
	{"a result went to a file for its tool's limit", calls(func(_ *view, p *played) bool { return p.savedFor("limit of") })},
	{"a result went to a file for its message", calls(func(_ *view, p *played) bool { return p.savedFor("message over") })},
	{"a sub-agent worked to its end", calls(func(_ *view, p *played) bool { return p.call.Tool == "Agent" && p.status == "ok" })},
	{"a sub-agent was stopped with its parent's call", calls(func(v *view, p *played) bool {
		return p.call.Tool == "Agent" && p.wasCancelled && p.stopped()
	})},
	{"a failure within a sub-agent stopped its sibling there", calls(func(_ *view, p *played) bool {
		return p.parent != nil && p.status == "cancelled" && !p.parent.stopped()
	})},
	{"a sub-agent changed a state of its own", calls(func(v *view, p *played) bool {
		t := v.s.tool(p.call.Tool)
		return p.parent != nil && t != nil && t.Notes && p.ran
	})},
	{"a file was changed", calls(func(_ *view, p *played) bool {
		return (p.call.Tool == "Write" || p.call.Tool == "Edit") && p.status == "ok"
	})},
}

func calls(is func(*view, *played) bool) func(*view) int {
	return func(v *view) int {
		n := 0
		for _, p := range v.calls {
			n += count(p.made && is(v, p))
		}
		return n
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (p *played) savedFor(why string) bool {
	for _, w := range p.saved {
		if strings.Contains(w, why) {
			return true
		}
	}
	return false
}

// churned says whether a server came or went just before a request.
func (s *Scene) churned(turn int) bool {
	for _, v := range s.Servers {
		if s.there(v.Name, turn) != s.there(v.Name, turn-1) {
			return true
		}
	}
	return false
}

// allowed: a rule or a hook would let the call run.
func (v *view) allowed(p *played) bool {
	f := foretelling{s: v.s, c: p.call, input: input{path: p.call.Path}}
	return f.ruled(v.s.Allow) || v.says(p, "allow")
}

// says: a hook on the call says so.
func (v *view) says(p *played, what string) bool {
	for i := range v.s.Hooks {
		h := &v.s.Hooks[i]
		if h.Fails != "" {
			h = h.failed()
		}
		if h.Says == what && (h.Tool == "" || h.Tool == p.call.Tool) {
			return true
		}
	}
	return false
}
