package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// ownTools builds the tools a scenario brings, as any tool is built.
func ownTools(sc *scenario.Scenario) ([]*tool.Tool, error) {
	var all []*tool.Tool
	for i, o := range sc.World.Tools {
		t, err := tool.Build(ownTool{o}.def())
		if err != nil {
			return nil, sc.ErrorAt(fmt.Sprintf("world.tools.%d", i), err.Error(), "")
		}
		all = append(all, t)
	}
	return all, nil
}

// looseSchema lets any object through: what a scenario's tool takes is its own
// business.
var looseSchema = json.RawMessage(`{"type":"object"}`)

// ownTool is a tool of the scenario as the system runs it.
type ownTool struct{ scenario.OwnTool }

func (o ownTool) def() tool.Def[json.RawMessage, string] {
	type in = json.RawMessage
	about := cmp.Or(o.About, "A tool of the scenario's own.")
	d := tool.Def[in, string]{
		Name: o.Name, Description: about, Hint: o.Hint, InputSchema: looseSchema, Call: o.call,
		Traits: tool.Traits[in]{
			Safe:     o.safe,
			ReadOnly: func(in) bool { return o.ReadOnly },
		},
		Loading: tool.Loading{Deferrable: o.Deferrable, Always: o.Always},
		Limits:  tool.Limits[in]{ResultChars: o.ResultChars, Timeout: func(in) time.Duration { return o.Timeout.D() }},
	}
	d.Strict, d.Wire = o.Strict, tool.Wire{Callers: o.Callers, Eager: o.Eager}
	d.Wire.Examples = append(d.Wire.Examples, tool.Each(o.Examples, schemaOf)...)
	if given := schemaOf(o.Schema); given != nil {
		d.InputSchema = given
	}
	if o.Alias != "" {
		d.Aliases = []string{o.Alias}
	}
	if o.Interrupt == "cancel" {
		d.Traits.Interrupt = tool.Cancel
	}
	d.Traits.FailureStopsSiblings = o.StopsSiblings
	if len(o.Reads)+len(o.Writes) > 0 {
		d.Traits.Effects = func(in, *tool.Context) tool.Effects { return tool.Effects{Reads: o.Reads, Writes: o.Writes} }
	}
	if o.Internal != "" {
		d.Internal = []string{o.Internal}
	}
	if len(o.Derived) > 0 {
		d.Shaping.Backfill = func(raw map[string]any, _ *tool.Context) {
			for k, v := range o.Derived {
				raw[k] = v
			}
		}
	}
	return d
}

func (o ownTool) safe(raw json.RawMessage) bool {
	if o.SafePanics {
		panic("the predicate failed")
	}
	return o.Safe && (o.ExclusiveIf == "" || !strings.Contains(string(raw), o.ExclusiveIf))
}

func (o ownTool) call(_ context.Context, raw json.RawMessage, c *tool.Context) (tool.Result[string], error) {
	if text, ok := o.Answers[c.CallID]; ok {
		return tool.Result[string]{Data: text, Failed: slices.Contains(o.FailedCalls, c.CallID)}, nil
	}
	answer := cmp.Or(o.Answer, o.Name+" done")
	answer = strings.ReplaceAll(answer, "$input", string(raw))
	r := tool.Result[string]{Data: strings.Repeat(answer, max(1, o.Repeat)), Failed: o.Failed}
	if o.SetCWD != "" || o.SetEnv != nil {
		r.Modify = func(s tool.State) tool.State {
			if o.SetCWD != "" {
				s = s.WithDir(strings.ReplaceAll(o.SetCWD, "$cwd", s.Dir))
			}
			if o.SetEnv != nil {
				env := maps.Clone(s.Env)
				for k, v := range o.SetEnv {
					env[k] = strings.ReplaceAll(v, "$old", s.Env[k])
				}
				s = s.WithEnv(env)
			}
			return s
		}
	}
	return r, nil
}

// schemaOf is a schema of the scenario as JSON, nil where it has none.
func schemaOf(members map[string]any) json.RawMessage {
	if len(members) == 0 {
		return nil
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage(`"` + err.Error() + `"`) // no schema: what is built with it fails with this text
	}
	return raw
}

// hang is longer than any scenario: a tool that hangs ends only when it is
// stopped.
const hang = 1000 * time.Hour

// simulate wraps a tool for the bench: its call takes the scenario's time, then
// does its work, unless a fault prevents it. Its return passes the gate, so that
// whatever woke it, it goes on in one order.
func (r *runner) simulate(t *tool.Tool) *tool.Tool {
	wrapped := *t
	inner := t.Call
	wrapped.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Output, error) {
		actor := fmt.Sprintf("tool/%s/%s", c.AgentID, c.CallID)
		fault := faultOf(r.sc, c.CallID, t.Name)
		defer r.progressAfter(fault.Progress, actor, c)
		takes, own := r.sc.Durations[c.CallID]
		if !own {
			takes = r.sc.Durations[t.Name]
		}
		if err := r.pass(ctx, actor, takes.D()+fault.Slow, fault); err != nil {
			return tool.Output{}, err
		}
		if fault.DiskFull {
			r.fs.SetCapacity(1)
		}
		if fault.DiskReadOnly {
			r.fs.SetReadOnly(true)
		}
		out, err := inner(ctx, in, c)
		out = changeResult(fault, out)
		r.gate.Sleep(context.WithoutCancel(ctx), actor+"/end", 0)
		return out, err
	}
	return &wrapped
}

// progressAfter reports progress of a call so long after its end, as a tool does that
// leaves something at work behind (H4); 0 is never.
func (r *runner) progressAfter(d time.Duration, actor string, c *tool.Context) {
	if d <= 0 {
		return
	}
	r.gate.Go(actor+"/late", func() {
		_ = r.gate.Sleep(context.Background(), actor+"/late", d) // a gate that is closed lets it go
		c.Progress("still here")
	})
}

// pass lets the call's time pass and applies its fault.
func (r *runner) pass(ctx context.Context, actor string, d time.Duration, f scenario.Fault) error {
	wait := ctx
	if f.Deaf {
		wait = context.WithoutCancel(ctx)
	}
	if f.Hang {
		d = hang
	}
	if err := r.gate.Sleep(wait, actor, d); err != nil {
		return err
	}
	switch {
	case f.Panic != "":
		panic(f.Panic)
	case f.Error != "":
		return errors.New(f.Error)
	}
	return nil
}

func faultOf(sc *scenario.Scenario, call, name string) scenario.Fault {
	var all scenario.Fault
	for _, f := range sc.Faults {
		if f.Call != "" && f.Call == call || f.Tool != "" && f.Tool == name {
			all = join(all, f)
		}
	}
	return all
}

// join joins two faults of one call.
func join(f, g scenario.Fault) scenario.Fault {
	f.Panic, f.Error = cmp.Or(f.Panic, g.Panic), cmp.Or(f.Error, g.Error)
	f.Hang, f.Deaf = f.Hang || g.Hang, f.Deaf || g.Deaf
	f.Huge, f.Empty = f.Huge || g.Huge, f.Empty || g.Empty
	f.DiskFull, f.DiskReadOnly = f.DiskFull || g.DiskFull, f.DiskReadOnly || g.DiskReadOnly
	f.Slow, f.Progress = max(f.Slow, g.Slow), max(f.Progress, g.Progress)
	return f
}

// hugeResult is more than any message may hold, in characters.
const hugeResult = 500_000

// changeResult changes what a call gave.
func changeResult(f scenario.Fault, out tool.Output) tool.Output {
	switch {
	case f.Huge:
		out.Blocks = []message.Block{message.Text(strings.Repeat("0123456789", hugeResult/10))}
	case f.Empty:
		out.Blocks = nil
	}
	return out
}

// Own is what a program brings to the runs of its scenarios, beside what they describe.
type Own struct {
	// Tools makes the program's tools for one run; nil makes none. They are in the pool
	// beside those of the scenario, whose `only` does not concern them.
	Tools func(World) ([]*tool.Tool, error)
	// Decorate puts another tool in the place of each, the built-in ones as well, before the
	// scenario's times and faults are added to it; nil leaves them.
	Decorate func(*tool.Tool) *tool.Tool
	// Hooks are asked before those of the scenario.
	Hooks []hook.Hook
	// Checks look at what came of a run that was checked against its expectations; an
	// error is a failure under the check's name.
	Checks map[string]func(check.Result) error
}

// World is what a run has in place of a machine: its disk, its clock and its network.
type World struct {
	FS    afero.Fs
	Clock tool.Clock
	// Dir is the working directory at the beginning.
	Dir  string
	HTTP func(*http.Request) (*http.Response, error)
	// Cleanup takes what is to be called when the run is over, the last one first.
	Cleanup func(func())
}

// ownTools are the program's tools for this run, behind those of the scenario.
func (r *runner) ownTools() ([]*tool.Tool, error) {
	tools, err := ownTools(r.sc)
	if dir := r.sc.World.Memory; dir != "" {
		if !path.IsAbs(dir) {
			dir = path.Join(r.dir(), dir)
		}
		tools = append(tools, file.Memory(r.disk(), dir))
	}
	if err != nil || r.o.Own == nil || r.o.Own.Tools == nil {
		return tools, err
	}
	more, err := r.o.Own.Tools(World{FS: r.disk(), Clock: r.clock(), Dir: r.dir(), HTTP: r.fetch, Cleanup: func(f func()) { *r.ends = append(*r.ends, f) }})
	return slices.Concat(tools, more), err
}

// decorate makes of a tool what runs in its place.
func (r *runner) decorate(t *tool.Tool) *tool.Tool {
	if r.o.Own != nil && r.o.Own.Decorate != nil {
		t = r.o.Own.Decorate(t)
	}
	return r.simulate(t)
}

// Checked are the failures that the program's own checks find, by the checks' names.
func (o *Own) Checked(out check.Result) (failures []check.Failure) {
	if o == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Checks)) {
		if err := o.Checks[name](out); err != nil {
			failures = append(failures, check.Failure{Expectation: "checks." + name, Expected: "it holds", Found: err.Error(), At: out.File})
		}
	}
	return failures
}
