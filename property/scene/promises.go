package scene

import (
	"fmt"
	"slices"
	"strings"
)

// Promise is something that must be true of every scene.
type Promise struct {
	Name, Says string
	holds      func(v *view) error
}

// Promises are all of them, that which takes another run the last.
func Promises() []Promise {
	return append(promises[:len(promises):len(promises)], Promise{Name: reorderCheck, Says: "tools and servers in another order give the same requests, byte for byte (D3)"})
}

var promises = [...]Promise{
	{"all-answered", "every call that was made has a result, and the conversation goes on until a hook stops it (H2, H5, G1)", allAnswered},
	{"hint", "a call that breaks its schema is told to load the tool exactly when the request it answers did not have it whole, where tools are deferred (E7)", hinted},
	{"loaded", "a request has whole what is not deferred, what was known and what was searched for, of the servers that are there, and nothing else (E1-E6, N4, N6)", loaded},
	{"search", "what a search shows, the next request has whole; it finds each name that it is given (E5)", searches},
	{"prefix", "built-ins stand first, by name, and their bytes never change; servers come and go behind them (D1, D4)", prefixes},
	{"decided", "a call ends as rules, hooks, the mode, the person and what goes wrong with it or its server have it: deny beats ask beats allow, and nothing runs without an allow (F1, F2, N4, O7)", decided},
	{"rewritten", "a tool runs with the input as last rewritten, and never with one that breaks its schema or a rule (G2)", rewritten},
	{"hooks-in-order", "each hook that is due is asked once, in order of registration, before the run and after it, and its output counts (G1)", hooksInOrder},
	{"saved", "a result over its tool's limit goes to a file; of a message that is too much the largest go, no more than need to (K1, K2)", saved},
	{"frozen", "a result is the same text in every later request (K2)", frozen},
	{"agents-end", "a sub-agent does nothing after its call was stopped or has ended (B4)", agentsEnd},
	{"agents-apart", "the state holds what the main conversation's calls did, in their order, and nothing of a sub-agent (B2-B4)", agentsApart},
	{"siblings-only", "a failure stops calls of its own message: not a sub-agent's parent, and nobody else's (J3)", siblingsOnly},
}

// the sentence that tells to load a tool first.
const hintText = "Load it first"

func allAnswered(v *view) error {
	requests := v.turns()
	for _, p := range v.calls {
		if v.failed && p.turn == requests {
			continue // its stream was given up for good
		}
		if p.parent == nil && p.turn <= requests && !p.emitted && (p.made || len(v.s.Says) == 0) {
			return fmt.Errorf("call %s has no result", p.call.ID)
		}
		if p.parent != nil && p.made && !p.emitted && !p.parent.stopped() {
			return fmt.Errorf("call %s of a sub-agent has no result", p.call.ID)
		}
	}
	if !v.s.undisturbed() || v.failed {
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
func (v *view) turns() int {
	if all := v.main(); len(all) > 0 {
		return all[len(all)-1].turn
	}
	return 0
}

// ends: a hook stops the turn at this call, as foretold, or, of calls whose end is not
// foretold, as it went.
func (p *played) ends() bool {
	if len(p.want.status) > 0 && p.status != "refused" {
		return p.want.ends
	}
	return slices.ContainsFunc(p.hooks, p.want.stopper)
}

func hinted(v *view) error {
	for _, p := range v.calls {
		if !p.settled() || p.want.unsure {
			continue
		}
		want := p.want.broken && p.asked.deferring() && !p.asked.loaded[p.call.Tool]
		if got := strings.Contains(p.text, hintText); got != want {
			return fmt.Errorf("call %s of %s: hinted is %t; its request had the tool whole: %t; tools are deferred: %t; its input breaks the schema: %t",
				p.call.ID, p.call.Tool, got, p.asked.loaded[p.call.Tool], p.asked.deferring(), p.want.broken)
		}
	}
	return nil
}

func decided(v *view) error {
	for _, p := range v.calls {
		switch {
		case p.ran && p.decision != "allow":
			return fmt.Errorf("call %s ran; the decision was %q", p.call.ID, p.decision)
		case !p.settled() || p.may(p.status):
		default:
			return fmt.Errorf("call %s of %s ended as %s; it is to be %s: %s", p.call.ID, p.call.Tool, p.status, strings.Join(p.want.status, " or "), p.want.why)
		}
	}
	return nil
}

// may says whether a call may end so. What files hold and an agent comes to is not
// foretold, but that they are let run is.
func (p *played) may(status string) bool {
	if p.want.unsure {
		return true
	}
	switch p.call.Tool {
	case "ToolSearch":
		return len(p.want.status) == 0 && status == "ok" || slices.Contains(p.want.status, status)
	case "Read", "Write", "Edit", "Agent":
		if status == "refused" || p.call.Tool == "Edit" && status == "denied" { // a rule for writing speaks of it too
			return true
		}
		if len(p.want.status) == 0 {
			return status == "ok" || status == "failed"
		}
	}
	return slices.Contains(p.want.status, status)
}

func rewritten(v *view) error {
	for _, p := range v.calls {
		t := v.s.tool(p.call.Tool)
		switch {
		case p.ran && p.want.refused:
			return fmt.Errorf("call %s ran with an input that %s", p.call.ID, p.want.why)
		case !p.settled() || !p.ran || t == nil || p.want.unsure || v.s.chars(p.call) > 0 || p.want.output != "" || v.s.ends(p.call) != "":
		case p.text != p.want.input:
			return fmt.Errorf("call %s ran with %s; it was to be %s", p.call.ID, p.text, p.want.input)
		}
	}
	return nil
}

func hooksInOrder(v *view) error {
	for _, p := range v.calls {
		seen := map[string]bool{}
		for _, h := range p.hooks {
			if seen[h] {
				return fmt.Errorf("call %s: the hook %s was asked twice", p.call.ID, h)
			}
			seen[h] = true
		}
		if !p.settled() || p.status == "refused" || len(p.want.status) == 0 {
			continue
		}
		if !slices.Equal(p.hooks, p.want.hooks) {
			return fmt.Errorf("call %s: asked were %v; due are %v", p.call.ID, p.hooks, p.want.hooks)
		}
		if p.ran && p.want.output != "" && p.text != p.want.output && !(p.want.withheld && strings.HasPrefix(p.text, p.want.output)) {
			return fmt.Errorf("call %s: its result is %.80q; a hook made it %q", p.call.ID, p.text, p.want.output)
		}
	}
	return nil
}
