package oracle

import (
	"fmt"
	"slices"
	"strings"

	"toolbench/property/generate"
	"toolbench/toolsys/trace"
)

// systemInvariants are those of system cases.
var systemInvariants = [...]condition[*SystemView]{
	{"all-answered", "every call that was made has a result, and the conversation goes on until a hook stops it (H2, H5, G1)", allAnswered},
	{"hint", "a call that breaks its schema is hinted to load the tool exactly when the request it answers had only its name, where tools are deferred (E7)", hinted},
	{"loaded", "a request defines what is not deferred, what was discovered and what was searched for, of the servers that are there, and nothing else (E1-E6, N4, N6)", loaded},
	{"search", "what a search shows, the next request defines; it finds each name that it is given (E5)", searches},
	{"prefix", "built-ins stand first, by name, and their bytes never change; servers come and go behind them (D1, D4)", prefixes},
	{"decided", "a call ends as rules, hooks, the mode, the person and what goes wrong with it or its server have it: deny beats ask beats allow, and nothing runs without an allow (F1, F2, N4, O7)", decided},
	{"rewritten", "a tool runs with the input as last rewritten, and never with one that breaks its schema or a rule (G2)", rewritten},
	{"hooks-in-order", "each hook that is due runs once, in order of registration, before the run and after it, and its output counts (G1)", hooksInOrder},
	{"saved", "a result over its tool's limit goes to a file; of a message that is too much the largest go, no more than need to (K1, K2)", saved},
	{"frozen", "a result is the same text in every later request (K2)", frozen},
	{"agents-end", "a sub-agent does nothing after its call was stopped or has ended (B4)", agentsEnd},
	{"agents-apart", "the state holds what the main conversation's calls did, in their order, and nothing of a sub-agent (B2-B4)", agentsApart},
	{"work", "what the tools of lists, teams, schedules, worktrees and pages give is what small models of them give; what says that it only reads changes no file and no state", worked},
	{"guarded", "no call runs that its schema, a rule or a hook forbids, whatever its tool", guarded},
	{"secret", "no request has the token of a service", secret},
	{"watched-once", "a watch of a background task that is to report once does so once", watchedOnce},
	{"answered-inside", "an agent in the background that ends has a result for each of its calls (B4, H2)", answeredInside},
	{"kept", "settings and the to-do list are at the end as the conversation's calls left them (B2)", stateKept},
	{"siblings-only", "a failure stops calls of its own message: not a sub-agent's parent, and nobody else's (J3)", siblingsOnly},
}

// CheckSystem gives the first invariant that the run of a system case breaks, or nil.
func CheckSystem(v *SystemView) *Violation {
	b := first(systemInvariants[:], v)
	if b == nil {
		b = first(runInvariants[:], run{Result: v.out, bodies: v.bodies})
	}
	if b != nil {
		b.Log = v.log()
	}
	return b
}

// hintText begins the hint to load a tool first.
const hintText = "Load it first"

func allAnswered(v *SystemView) error {
	requests := v.turns()
	for _, p := range v.calls {
		if v.failed && p.turn == requests {
			continue // its stream was given up for good
		}
		if p.parent == nil && p.turn <= requests && !p.emitted && (p.made || len(v.s.Interrupts) == 0) {
			return fmt.Errorf("call %s has no result", p.call.ID)
		}
		if p.parent != nil && p.made && !p.emitted && !p.leftAlone() {
			return fmt.Errorf("call %s of a sub-agent has no result", p.call.ID)
		}
	}
	if !v.s.Undisturbed() || v.failed || v.s.Lively() {
		return nil
	}
	want := len(v.s.Turns) + 1
	for _, p := range v.calls {
		if p.parent == nil && p.ends() {
			want = min(want, p.turn)
		}
	}
	if requests != want {
		return fmt.Errorf("%d requests were sent; %d are due", requests, want)
	}
	return nil
}

// turns is how many answers of the main conversation were asked for.
func (v *SystemView) turns() int {
	if all := v.main(); len(all) > 0 {
		return all[len(all)-1].turn
	}
	return 0
}

// ends reports whether a hook stops the turn at this call: as predicted, or by the hooks that
// ran where the end of the call is not predicted.
func (p *systemCall) ends() bool {
	if len(p.want.Status) > 0 && p.status != "refused" {
		return p.want.EndsTurn
	}
	return slices.ContainsFunc(p.hooks, p.want.StopsTurn)
}

func hinted(v *SystemView) error {
	for _, p := range v.calls {
		if !p.settled() || p.want.Unknown {
			continue
		}
		want := p.want.BadInput && p.asked.deferring() && !p.asked.loaded[p.call.Tool]
		if got := strings.Contains(p.text, hintText); got != want {
			return fmt.Errorf("call %s of %s: hinted is %t; its request defined the tool: %t; tools are deferred: %t; its input breaks the schema: %t",
				p.call.ID, p.call.Tool, got, p.asked.loaded[p.call.Tool], p.asked.deferring(), p.want.BadInput)
		}
	}
	return nil
}

func decided(v *SystemView) error {
	for _, p := range v.calls {
		switch {
		case p.ran && p.decision != "allow":
			return fmt.Errorf("call %s ran; the decision was %q", p.call.ID, p.decision)
		case !p.settled() || p.may(p.status):
		default:
			return fmt.Errorf("call %s of %s ended as %s; it is to be %s: %s", p.call.ID, p.call.Tool, p.status, strings.Join(p.want.Status, " or "), p.want.Why)
		}
	}
	return nil
}

// may reports whether a call may end with a status. The content of files and the end of a
// sub-agent are not predicted, but whether such a call is allowed to run is.
func (p *systemCall) may(status string) bool {
	if p.want.Unknown {
		return true
	}
	switch p.call.Tool {
	case "ToolSearch":
		return len(p.want.Status) == 0 && status == "ok" || slices.Contains(p.want.Status, status)
	case "Read", "Write", "Edit", "Agent":
		if status == "refused" || p.call.Tool == "Edit" && status == "denied" { // a rule for writing matches it too
			return true
		}
		if len(p.want.Status) == 0 {
			return status == "ok" || status == "failed"
		}
	}
	return slices.Contains(p.want.Status, status)
}

func rewritten(v *SystemView) error {
	for _, p := range v.calls {
		t := v.s.Tool(p.call.Tool)
		switch {
		case p.ran && p.want.Refused:
			return fmt.Errorf("call %s ran with an input that %s", p.call.ID, p.want.Why)
		case !p.settled() || !p.ran || t == nil || p.want.Unknown || ResultChars(v.s, p.call) > 0 || p.want.Output != "" || RunStatus(v.s, p.call) != "":
		case p.text != p.want.Input:
			return fmt.Errorf("call %s ran with %s; it was to be %s", p.call.ID, p.text, p.want.Input)
		}
	}
	return nil
}

func hooksInOrder(v *SystemView) error {
	for _, p := range v.calls {
		seen := map[string]bool{}
		for _, h := range p.hooks {
			if seen[h] {
				return fmt.Errorf("call %s: the hook %s ran twice", p.call.ID, h)
			}
			seen[h] = true
		}
		if !p.settled() || p.status == "refused" || len(p.want.Status) == 0 {
			continue
		}
		if !slices.Equal(p.hooks, p.want.Hooks) {
			return fmt.Errorf("call %s: %v ran; %v are due", p.call.ID, p.hooks, p.want.Hooks)
		}
		if p.ran && p.want.Output != "" && p.text != p.want.Output && !(p.want.Withheld && strings.HasPrefix(p.text, p.want.Output)) {
			return fmt.Errorf("call %s: its result is %.80q; a hook made it %q", p.call.ID, p.text, p.want.Output)
		}
	}
	return nil
}

// agentsEnd checks that after the end of a sub-agent's call nothing of the sub-agent follows but late ends of calls
// that nobody waits for, and that a sub-agent which is asked to stop begins nothing new and ends at once.
func agentsEnd(v *SystemView) error {
	for _, e := range v.out.Trace {
		p := v.agents[e.Agent]
		session := []trace.Kind{trace.KindTaskStarted, trace.KindTaskEnded, trace.KindMailSent, trace.KindMailTaken} // whoever began them
		if e.Agent == "" || p == nil || slices.Contains(session, e.Kind()) {
			continue
		}
		begins := e.Kind() == trace.KindRequest || e.Kind() == trace.KindStarted
		switch {
		case p.background():
		case p.over && e.At > p.ended && e.Kind() != trace.KindLate:
			return fmt.Errorf("at %s: %s of %s, whose call %s ended at %s", e.At, e.Kind(), e.Agent, p.call.ID, p.ended)
		case p.wasCancelled && begins && e.At > p.cancelled:
			return fmt.Errorf("at %s: %s of %s, whose call %s was stopped at %s", e.At, e.Kind(), e.Agent, p.call.ID, p.cancelled)
		}
	}
	for _, p := range v.calls {
		if p.call.Tool == "Agent" && !p.background() && !v.outlastsStop(p) && p.wasCancelled && p.over && p.ended > p.cancelled {
			return fmt.Errorf("call %s was stopped at %s and ended at %s", p.call.ID, p.cancelled, p.ended)
		}
	}
	return nil
}

// outlastsStop reports whether a sub-agent cannot stop at once: one of its calls ignores that it
// is cancelled, or a hook after the run hangs, which has its time even then (G1).
func (v *SystemView) outlastsStop(p *systemCall) bool {
	hung := slices.ContainsFunc(v.s.Hooks, func(h generate.Hook) bool { return h.Fails == "hang" && h.Event != "PreToolUse" })
	return hung || v.deaf(p.call.Inside)
}

func (v *SystemView) deaf(calls []generate.Call) bool {
	return slices.ContainsFunc(calls, func(c generate.Call) bool { return v.s.Suffers(c.ID, "deaf") || v.deaf(c.Inside) })
}

// background reports whether the sub-agent that a call starts, or one above it, works beside its parent.
func (p *systemCall) background() bool {
	return p.call.Background || p.parent != nil && p.parent.background()
}

// leftAlone reports whether nobody waits any more for what a sub-agent's call gives: an agent
// above it was stopped, or it works in the background and ends with the session.
func (p *systemCall) leftAlone() bool {
	above := p.parent
	return above != nil && (above.stopped() || above.background() || above.leftAlone())
}

func agentsApart(v *SystemView) error {
	var want []string
	for _, p := range v.calls {
		if t := v.s.Tool(p.call.Tool); p.parent == nil && t != nil && t.WritesEnv && p.ran && p.settled() && RunStatus(v.s, p.call) == "" {
			want = append(want, t.Name)
		}
	}
	if v.state.Mode == "" || v.failed || v.repeats() || slices.ContainsFunc(v.requests, func(r *request) bool { return r.garbled }) {
		return nil
	}
	if got := strings.Fields(v.state.Env["NOTES"]); !slices.Equal(got, want) {
		return fmt.Errorf("the state holds what %v did; the main conversation's calls were %v", got, want)
	}
	return nil
}

func siblingsOnly(v *SystemView) error {
	for _, p := range v.calls {
		if p.status != "cancelled" || p.leftAlone() {
			continue
		}
		if !slices.ContainsFunc(v.calls, func(q *systemCall) bool { return q != p && q.turn == p.turn && q.parent == p.parent && v.stops(q) }) {
			return fmt.Errorf("call %s was stopped for a sibling; none of its message failed", p.call.ID)
		}
	}
	return nil
}

func (v *SystemView) stops(p *systemCall) bool {
	if p.call.Tool == "Bash" || p.call.Tool == "PowerShell" {
		return p.ran && p.status != "ok"
	}
	t := v.s.Tool(p.call.Tool)
	return t != nil && t.Stops && (t.Fails || RunStatus(v.s, p.call) != "") && p.ran
}
