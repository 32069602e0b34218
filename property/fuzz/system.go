package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"toolbench/property/generate"
	"toolbench/property/invariant"
	"toolbench/property/oracle"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// system is the name of what is broken when the whole system does not come to an end.
const systemName = "system"

// Run plays a scene and holds it against every promise; nil is well. Seen is counted
// up by what came up in it, by place in Situations; it may be nil.
func RunSystem(ctx context.Context, s *generate.SystemCase, seen []int) *invariant.Violation {
	out, err := playSystem(s, ctx, generate.InOrder)
	if err != nil {
		return &invariant.Violation{Name: systemName, Found: err.Error()}
	}
	v, err := invariant.ReadSystem(s, out)
	if err != nil {
		return &invariant.Violation{Name: systemName, Found: err.Error()}
	}
	invariant.CountSystemGoals(v, seen)
	if b := invariant.CheckSystem(v); b != nil {
		return b
	}
	return reorderSystem(s, ctx, out)
}

// play runs a scene. Every fourth is run under the other policies too, where nothing
// makes them differ.
func playSystem(s *generate.SystemCase, ctx context.Context, o generate.Order) (check.Result, error) {
	sc, err := scenario.Parse("scene.yaml", []byte(generate.SystemScenario(s, "scene", "One scene.", o, nil)))
	if err != nil {
		return check.Result{}, fmt.Errorf("the scene makes no scenario: %w", err)
	}
	if historyGrows(s) {
		grows := true
		sc.Expect.Requests.Grows = &grows
	}
	if o == generate.InOrder && s.Seed%4 == 0 && s.Undisturbed() && !policyDependent(s) && len(s.Faults) == 0 && !s.ServersChange() {
		sc.Expect.SameUnder = slices.DeleteFunc([]string{"serial", "batch", "streaming", "effects"}, func(p string) bool { return p == s.Policy })
	}
	out := run.Scenario(ctx, sc, run.Options{Seed: s.Seed, Patience: 20 * time.Second})
	return out, out.Err
}

// endsBadly plays a scene to see whether its retries are used up in the end: how many
// requests there are in front of a spoilt one is nothing that is foretold.
func breaksForGood(s *generate.SystemCase) bool {
	out, err := playSystem(s, context.Background(), generate.InOrder)
	return err == nil && slices.ContainsFunc(out.Trace, func(e trace.Event) bool {
		return e.Kind == trace.RunEnd && e.Agent == "" && e.Get("error") != ""
	})
}

// grows: nothing changes what stands before: no word of the user joins a message, no
// names of tools come or go, and no other conversation is in between.
func historyGrows(s *generate.SystemCase) bool {
	still := len(s.Interrupts) == 0 && !s.ServersChange() && !slices.ContainsFunc(s.Servers, func(v generate.Server) bool { return v.From+v.Until > 0 })
	s.Each(func(c *generate.Call, _ int, _ *generate.Call) {
		still = still && c.Tool != "Agent" && c.Tool != "ToolSearch"
	})
	return still
}

// crowded: sub-agents touch files, or something is searched for, while others may work
// beside them: what they know of either is what was known when they began, and that is
// the policy's.
func policyDependent(s *generate.SystemCase) (is bool) {
	agents, search := false, false
	s.Each(func(c *generate.Call, _ int, parent *generate.Call) {
		is = is || parent != nil && c.Path != ""
		agents, search = agents || c.Tool == "Agent", search || c.Tool == "ToolSearch"
	})
	return is || agents && search
}

// reorderCheck is the promise that takes another run.

// reordered plays every fourth scene again, its tools registered and its servers
// connected and listed the other way round. Servers that are read anew are waited for
// one after the other, in which time others may come and go: then the order may tell.
func reorderSystem(s *generate.SystemCase, ctx context.Context, first check.Result) *invariant.Violation {
	if s.Seed%4 != 1 || s.ServersChange() || len(s.Tools)+len(s.Servers) < 2 {
		return nil
	}
	again, err := playSystem(s, ctx, generate.Reversed)
	if err != nil {
		return &invariant.Violation{Name: systemName, Found: err.Error()}
	}
	if len(again.Requests) != len(first.Requests) {
		return &invariant.Violation{Name: invariant.ReorderName, Found: fmt.Sprintf("%d requests were sent; in another order of tools and servers %d", len(first.Requests), len(again.Requests))}
	}
	for i := range first.Requests {
		if !bytes.Equal(first.Requests[i], again.Requests[i]) {
			return &invariant.Violation{Name: invariant.ReorderName, Found: fmt.Sprintf("request %d is another when tools and servers come in another order: %s", i+1, parting(first.Requests[i], again.Requests[i]))}
		}
	}
	return nil
}

// parting shows where two texts part.
func parting(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	piece := func(t []byte) string { return string(t[max(0, i-40):min(len(t), i+60)]) }
	return fmt.Sprintf("%q, then %q", piece(a), piece(b))
}

// SystemFile writes a system case as a scenario's file that expects what the reference
// predicts.
func SystemFile(s *generate.SystemCase, name, about string) string {
	x := oracle.ExpectSystem(s)
	x.Breaks = s.BreaksStreams() && breaksForGood(s)
	return generate.SystemScenario(s, name, about, generate.InOrder, x)
}
