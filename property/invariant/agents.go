package invariant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/toolsys/trace"
)

// agentsEnd: nothing of a sub-agent comes after the end of its call, and once that is
// asked to stop, nothing new begins in it and it ends at once.
func agentsEnd(v *SystemView) error {
	for _, e := range v.out.Trace {
		p := v.agents[e.Agent]
		if e.Agent == "" || p == nil {
			continue
		}
		begins := e.Kind == trace.Request || e.Kind == trace.Started
		switch {
		case p.over && e.At > p.ended:
			return fmt.Errorf("at %s: %s of %s, whose call %s ended at %s", e.At, e.Kind, e.Agent, p.call.ID, p.ended)
		case p.wasCancelled && begins && e.At > p.cancelled:
			return fmt.Errorf("at %s: %s of %s, whose call %s was stopped at %s", e.At, e.Kind, e.Agent, p.call.ID, p.cancelled)
		}
	}
	for _, p := range v.calls {
		if p.call.Tool == "Agent" && !v.deafWithin(p) && p.wasCancelled && p.over && p.ended > p.cancelled {
			return fmt.Errorf("call %s was stopped at %s and ended at %s", p.call.ID, p.cancelled, p.ended)
		}
	}
	return nil
}

// deafWithin: a call of the sub-agent does not hear that it is to stop, or a hook after
// the run hangs, which has its time whatever is stopped (G1).
func (v *SystemView) deafWithin(p *systemCall) bool {
	hung := slices.ContainsFunc(v.s.Hooks, func(h generate.Hook) bool { return h.Fails == "hang" && h.Event != "PreToolUse" })
	return hung || slices.ContainsFunc(p.call.Inside, func(c generate.Call) bool { return v.s.FaultsOf(c.ID).IgnoresCancel })
}

func agentsApart(v *SystemView) error {
	var want []string
	for _, p := range v.calls {
		if t := v.s.Tool(p.call.Tool); p.parent == nil && t != nil && t.WritesEnv && p.ran && p.settled() && oracle.RunStatus(v.s, p.call) == "" {
			want = append(want, t.Name)
		}
	}
	var st struct {
		Env map[string]string `json:"env"`
	}
	if v.state == "" || v.failed || v.repeats() || slices.ContainsFunc(v.requests, func(r *request) bool { return r.garbled }) {
		return nil
	}
	if err := json.Unmarshal([]byte(v.state), &st); err != nil {
		return err
	}
	if got := strings.Fields(st.Env["NOTES"]); !slices.Equal(got, want) {
		return fmt.Errorf("the state holds what %v did; the main conversation's calls were %v", got, want)
	}
	return nil
}

func siblingsOnly(v *SystemView) error {
	for _, p := range v.calls {
		if p.status != "cancelled" || p.parent != nil && p.parent.stopped() {
			continue
		}
		if !slices.ContainsFunc(v.calls, func(q *systemCall) bool { return q != p && q.turn == p.turn && q.parent == p.parent && v.stops(q) }) {
			return fmt.Errorf("call %s was stopped for a sibling; none of its message failed", p.call.ID)
		}
	}
	return nil
}

func (v *SystemView) stops(p *systemCall) bool {
	t := v.s.Tool(p.call.Tool)
	return t != nil && t.Stops && (t.Fails || oracle.RunStatus(v.s, p.call) != "") && p.ran
}
