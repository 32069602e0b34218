package scene

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"toolbench/property/whole"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/trace"
)

// Broken is what a scene broke: a promise's name, and how.
type Broken struct {
	Name, Found string
	// Log is what happened, a line an event; "" where nothing is known.
	Log string
}

// system is the name of what is broken when the whole system does not come to an end.
const system = "system"

// Run plays a scene and holds it against every promise; nil is well. Seen is counted
// up by what came up in it, by place in Situations; it may be nil.
func Run(ctx context.Context, s *Scene, seen []int) *Broken {
	out, err := s.play(ctx, asIs)
	if err != nil {
		return &Broken{Name: system, Found: err.Error()}
	}
	v, err := look(s, out)
	if err != nil {
		return &Broken{Name: system, Found: err.Error()}
	}
	for i, sit := range situations {
		if i < len(seen) {
			seen[i] += sit.in(v)
		}
	}
	for _, p := range promises {
		if err := p.holds(v); err != nil {
			return &Broken{p.Name, err.Error(), v.log()}
		}
	}
	if b := whole.Any(out); b != nil {
		return &Broken{b.Name, b.Found, v.log()}
	}
	return s.reordered(ctx, out)
}

// play runs a scene. Every fourth is run under the other policies too, where nothing
// makes them differ.
func (s *Scene) play(ctx context.Context, o order) (check.Result, error) {
	sc, err := scenario.Parse("scene.yaml", []byte(s.write("scene", "One scene.", o, false)))
	if err != nil {
		return check.Result{}, fmt.Errorf("the scene makes no scenario: %w", err)
	}
	if s.grows() {
		grows := true
		sc.Expect.Requests.Grows = &grows
	}
	if o == asIs && s.Seed%4 == 0 && s.undisturbed() && !s.crowded() && len(s.Faults) == 0 && !s.shaky() {
		sc.Expect.SameUnder = slices.DeleteFunc([]string{"serial", "batch", "streaming", "effects"}, func(p string) bool { return p == s.Policy })
	}
	out := run.Scenario(ctx, sc, run.Options{Seed: s.Seed, Patience: 20 * time.Second})
	return out, out.Err
}

// endsBadly plays a scene to see whether its retries are used up in the end: how many
// requests there are in front of a spoilt one is nothing that is foretold.
func (s *Scene) endsBadly() bool {
	out, err := s.play(context.Background(), asIs)
	return err == nil && slices.ContainsFunc(out.Trace, func(e trace.Event) bool {
		return e.Kind == trace.RunEnd && e.Agent == "" && e.Get("error") != ""
	})
}

// grows: nothing changes what stands before: no word of the user joins a message, no
// names of tools come or go, and no other conversation is in between.
func (s *Scene) grows() bool {
	still := len(s.Says) == 0 && !s.shaky() && !slices.ContainsFunc(s.Servers, func(v Server) bool { return v.From+v.Until > 0 })
	s.each(func(c *Call, _ int, _ *Call) { still = still && c.Tool != "Agent" && c.Tool != "ToolSearch" })
	return still
}

// undisturbed: nothing stops calls of the scene from outside.
func (s *Scene) undisturbed() bool {
	return len(s.Says) == 0 && !slices.ContainsFunc(s.Tools, func(t Tool) bool {
		return t.Stops && (t.Fails || t.Timeout > 0 || len(s.Faults) > 0)
	})
}

// crowded: sub-agents touch files, or something is searched for, while others may work
// beside them: what they know of either is what was known when they began, and that is
// the policy's.
func (s *Scene) crowded() (is bool) {
	agents, search := false, false
	s.each(func(c *Call, _ int, parent *Call) {
		is = is || parent != nil && c.Path != ""
		agents, search = agents || c.Tool == "Agent", search || c.Tool == "ToolSearch"
	})
	return is || agents && search
}

// reorderCheck is the promise that takes another run.
const reorderCheck = "any-order"

// reordered plays every fourth scene again, its tools registered and its servers
// connected and listed the other way round. Servers that are read anew are waited for
// one after the other, in which time others may come and go: then the order may tell.
func (s *Scene) reordered(ctx context.Context, first check.Result) *Broken {
	if s.Seed%4 != 1 || s.shaky() || len(s.Tools)+len(s.Servers) < 2 {
		return nil
	}
	again, err := s.play(ctx, backwards)
	if err != nil {
		return &Broken{Name: system, Found: err.Error()}
	}
	if len(again.Requests) != len(first.Requests) {
		return &Broken{Name: reorderCheck, Found: fmt.Sprintf("%d requests were sent; in another order of tools and servers %d", len(first.Requests), len(again.Requests))}
	}
	for i := range first.Requests {
		if !bytes.Equal(first.Requests[i], again.Requests[i]) {
			return &Broken{Name: reorderCheck, Found: fmt.Sprintf("request %d is another when tools and servers come in another order: %s", i+1, parting(first.Requests[i], again.Requests[i]))}
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
