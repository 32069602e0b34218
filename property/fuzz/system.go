package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"toolbench/property/generate"
	"toolbench/property/invariant"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// checkSystem runs a system case and gives the first invariant that it violates, or nil. Seen
// counts the goals that came up, by their place in invariant.Goals; it may be nil.
func checkSystem(ctx context.Context, s *generate.SystemCase, seen []int) (check.Result, *invariant.Violation) {
	out, w, err := watchSystem(ctx, s)
	if err != nil {
		return out, &invariant.Violation{Name: systemCheck, Found: err.Error()}
	}
	v, err := invariant.ReadSystem(s, out, w.work)
	if err != nil {
		return out, &invariant.Violation{Name: systemCheck, Found: err.Error()}
	}
	if seen != nil {
		invariant.CountSystem(v, seen)
	}
	if b := invariant.CheckSystem(v); b != nil {
		return out, b
	}
	return out, reordered(ctx, s, out)
}

// watchSystem runs a case and watches the work of its tools. Where the case is run again, under
// another policy, the watch is of the last run: such a case has none of the tools that are watched.
func watchSystem(ctx context.Context, s *generate.SystemCase) (check.Result, *watch, error) {
	w := &watch{}
	out, err := runSystem(ctx, s, generate.InOrder, w)
	return out, w, err
}

// runSystem runs a case once. Every fourth is run under the other policies too, where
// nothing makes them differ.
func runSystem(ctx context.Context, s *generate.SystemCase, o generate.Order, w *watch) (check.Result, error) {
	sc, err := scenario.Parse("case.yaml", []byte(generate.SystemScenario(s, "case", "One case.", o, nil)))
	if err != nil {
		return check.Result{}, fmt.Errorf("the case makes no scenario: %w", err)
	}
	if historyGrows(s) {
		grows := true
		sc.Expect.Requests.Grows = &grows
	}
	if o == generate.InOrder && s.Seed%4 == 0 && s.Undisturbed() && !policyDependent(s) && len(s.Faults) == 0 && !s.ServersChange() {
		sc.Expect.SameUnder = otherPolicies(s.Policy)
	}
	options := run.Options{Seed: s.Seed, Patience: Patience}
	if w != nil {
		options.Own = w.own()
	}
	out := run.Scenario(ctx, sc, options)
	return out, out.Err
}

// endsInError runs a case to see with which error it ends, if any: the oracle does not predict
// how many requests come before one that a fault breaks, nor how often jobs wake a conversation.
func endsInError(s *generate.SystemCase) string {
	out, err := runSystem(context.Background(), s, generate.InOrder, nil)
	if err != nil {
		return ""
	}
	for _, e := range out.Trace {
		if end := trace.As[trace.RunEnd](e); e.Agent == "" && end.Error != "" {
			return end.Error
		}
	}
	return ""
}

// historyGrows reports whether each request must repeat the one before: no message of
// the user joins another, no names of tools come or go, and no other conversation is in
// between.
func historyGrows(s *generate.SystemCase) bool {
	still := len(s.Interrupts) == 0 && !s.Lively() && !s.Makes("Snip", "Config", "VerifyPlanExecution") && !s.ServersChange() && !slices.ContainsFunc(s.Servers, func(v generate.Server) bool { return v.From+v.Until > 0 })
	s.Each(func(c *generate.Call, _ int, _ *generate.Call) {
		still = still && c.Tool != "Agent" && c.Tool != "ToolSearch"
	})
	return still
}

// policyDependent reports whether the results depend on the policy: sub-agents touch
// files, or something is searched for, while others may work beside them, and what they
// find was settled when they began.
func policyDependent(s *generate.SystemCase) (is bool) {
	agents, search := false, false
	is = len(s.Kit) > 0
	s.Each(func(c *generate.Call, _ int, parent *generate.Call) {
		is = is || parent != nil && c.Path != ""
		agents, search = agents || c.Tool == "Agent", search || c.Tool == "ToolSearch"
	})
	return is || agents && search
}

// reordered runs every fourth case again, its tools registered and its servers connected
// and listed in the reverse order; the requests must be the same. Servers that are read
// anew are waited for one after the other, in which time others may come and go: such
// cases are left out, since there the order may matter.
func reordered(ctx context.Context, s *generate.SystemCase, first check.Result) *invariant.Violation {
	if s.Seed%4 != 1 || s.ServersChange() || len(s.Tools)+len(s.Servers) < 2 {
		return nil
	}
	again, err := runSystem(ctx, s, generate.Reversed, nil)
	if err != nil {
		return &invariant.Violation{Name: systemCheck, Found: err.Error()}
	}
	if len(again.Requests) != len(first.Requests) {
		return &invariant.Violation{Name: invariant.ReorderName, Found: fmt.Sprintf("%d requests were sent; in another order of tools and servers %d", len(first.Requests), len(again.Requests))}
	}
	for i := range first.Requests {
		if one, other := first.Requests[i].Bytes(), again.Requests[i].Bytes(); !bytes.Equal(one, other) {
			return &invariant.Violation{Name: invariant.ReorderName, Found: fmt.Sprintf("request %d differs when tools and servers come in another order: %s", i+1, firstDifference(one, other))}
		}
	}
	return nil
}

// firstDifference shows where two texts part.
func firstDifference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	piece := func(t []byte) string { return string(t[max(0, i-40):min(len(t), i+60)]) }
	return fmt.Sprintf("%q, then %q", piece(a), piece(b))
}
