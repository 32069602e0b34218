package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"sync"

	"github.com/spf13/afero"

	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/world"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// checkSystem runs a system case and gives the first invariant that it violates, or nil. Seen
// counts the goals that came up, by their place in oracle.Goals; it may be nil.
func checkSystem(ctx context.Context, s *generate.SystemCase, seen []int) (check.Result, *oracle.Violation) {
	// Where the case is run again, under another policy, the watch is of the last run: such a case has
	// none of the tools that are watched.
	w := &watch{}
	out, err := runSystem(ctx, s, generate.InOrder, w)
	if err != nil {
		return out, &oracle.Violation{Name: systemCheck, Found: err.Error()}
	}
	v, err := oracle.ReadSystem(s, out, w.work)
	if err != nil {
		return out, &oracle.Violation{Name: systemCheck, Found: err.Error()}
	}
	if seen != nil {
		oracle.CountSystem(v, seen)
	}
	if b := oracle.CheckSystem(v); b != nil {
		return out, b
	}
	return out, reordered(ctx, s, out)
}

// runSystem runs a case once. Every fourth is run under the other policies too, where
// nothing makes them differ.
func runSystem(ctx context.Context, s *generate.SystemCase, o generate.Order, w *watch) (check.Result, error) {
	sc, err := scenario.Parse("case.yaml", []byte(generate.SystemScenario(s, "case", "One case.", o, nil)))
	if err != nil {
		return check.Result{}, fmt.Errorf("the case makes no scenario: %w", err)
	}
	if historyGrows(s) {
		sc.Expect.Requests.Grows = new(true)
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
func reordered(ctx context.Context, s *generate.SystemCase, first check.Result) *oracle.Violation {
	if s.Seed%4 != 1 || s.ServersChange() || len(s.Tools)+len(s.Servers) < 2 {
		return nil
	}
	again, err := runSystem(ctx, s, generate.Reversed, nil)
	if err != nil {
		return &oracle.Violation{Name: systemCheck, Found: err.Error()}
	}
	if len(again.Requests) != len(first.Requests) {
		return &oracle.Violation{Name: oracle.ReorderName, Found: fmt.Sprintf("%d requests were sent; in another order of tools and servers %d", len(first.Requests), len(again.Requests))}
	}
	for i := range first.Requests {
		if one, other := first.Requests[i].Bytes(), again.Requests[i].Bytes(); !bytes.Equal(one, other) {
			return &oracle.Violation{Name: oracle.ReorderName, Found: fmt.Sprintf("request %d differs when tools and servers come in another order: %s", i+1, firstDifference(one, other))}
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

// watch notes the work of the built-in tools in one run of a system case, from within: what each
// call was given and gave, and whether one that says it only reads changed anything.
type watch struct {
	disk *world.FS

	mu   sync.Mutex
	work []oracle.Work
	// changing are the calls at work that may change something; changes counts those that
	// began, so that a call knows whether it was alone. Once background is true, a command may
	// be at work at any time.
	changing, changes int
	background        bool
}

// own are the hooks into a run by which the watch sees it.
func (w *watch) own() *run.Own {
	return &run.Own{
		Tools: func(of run.World) ([]*tool.Tool, error) {
			disk, _ := of.FS.(*world.FS) // nil on a real disk, which no case has
			w.mu.Lock()
			defer w.mu.Unlock()
			w.disk, w.work, w.changing, w.background = disk, nil, 0, false
			return nil, nil
		},
		Decorate: func(t *tool.Tool) *tool.Tool {
			watched := *t
			watched.Call = func(ctx context.Context, in tool.Input, c *tool.Context) (tool.Output, error) {
				return w.call(ctx, t, in, c)
			}
			return &watched
		},
	}
}

// call lets a tool do its work, and notes it.
func (w *watch) call(ctx context.Context, t *tool.Tool, in tool.Input, c *tool.Context) (tool.Output, error) {
	reads := t.Behaviour.ReadOnly(in)
	n := oracle.Work{Call: c.CallID, Tool: t.Name, Agent: c.AgentID, Input: slices.Clone(in.Raw), Began: c.Clock.Now()}
	before := w.begin(reads, t.Name)
	out, err := t.Call(ctx, in, c)
	n.Ended, n.Failed = c.Clock.Now(), out.Failed
	if err != nil {
		n.Err = err.Error()
	}
	n.Data, _ = json.Marshal(out.Data) // what has no form is not looked at
	for _, b := range out.Blocks {
		if b.Type == message.TypeText {
			n.Text += b.Text
		}
	}
	if reads && out.Modify != nil {
		next := out.Modify(c.State)
		next.Dir = c.State.Dir // a shell's cd reads, and is for the calls behind it
		n.Modified = !reflect.DeepEqual(next, c.State)
	}
	w.end(n, before)
	return out, err
}

// before is how things stood when a call began.
type before struct {
	reads   bool
	disk    world.Snapshot
	changes int
}

func (w *watch) begin(reads bool, name string) before {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !reads {
		w.changing++
		w.changes++
		w.background = w.background || name == "Bash" || name == "PowerShell" || name == "Tungsten"
	}
	b := before{reads: reads, changes: w.changes}
	if reads && w.disk != nil && w.changing == 0 && !w.background {
		b.disk = w.disk.Snapshot()
	}
	return b
}

func (w *watch) end(n oracle.Work, b before) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !b.reads {
		w.changing--
	} else if b.disk != nil && b.changes == w.changes {
		c := world.DiffSnapshots(b.disk, w.disk.Snapshot())
		n.Alone, n.Changed = true, slices.Concat(c.Created, c.Changed, c.Removed)
	}
	if n.Tool == "EnterWorktree" || n.Tool == "ExitWorktree" {
		n.Trees = w.trees()
	}
	w.work = append(w.work, n)
}

// trees are the worktrees that there are on the disk.
func (w *watch) trees() []string {
	infos, _ := afero.ReadDir(w.disk, path.Join("/repo", shell.WorktreeDir)) // a folder that is not there has none
	return tool.Each(infos, fs.FileInfo.Name)
}
