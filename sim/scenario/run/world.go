package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	simshell "toolbench/sim/shell"
	"toolbench/sim/world/posix"
	shelltool "toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/footprint"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// settings are the profile's, or what the scenario's variables make of the
// default.
func settingsOf(sc *scenario.Scenario) (settings.Settings, error) {
	w := sc.World
	switch {
	case w.Profile != "" && len(w.Settings) > 0:
		return settings.Settings{}, sc.ErrorAt("world.profile", "profile and settings exclude each other", "keep one")
	case w.Profile != "":
		s, err := settings.FindProfile(w.Profile)
		if err != nil {
			return s, sc.ErrorAt("world.profile", err.Error(), "")
		}
		return s, nil
	}
	s, err := settings.FromMap(w.Settings)
	if err != nil {
		return s, sc.ErrorAt("world.settings", err.Error(), "")
	}
	return s, nil
}

// shell is Bash's shell: the in-process one on the world's disk, its sleeps at
// the gate.
func (r *runner) shell() shelltool.Runner {
	return func(ctx context.Context, c shelltool.Request) (shelltool.Exit, error) {
		exit, err := r.simulated(fmt.Sprintf("bash/%d", r.runs.Add(1))).Run(ctx, simshell.Command{
			Script: c.Script, Dir: c.Dir, Env: c.Env, Stdout: c.Stdout, Stderr: c.Stderr,
		})
		return shelltool.Exit{Code: exit.Code, Dir: exit.Dir, Env: exit.Env}, err
	}
}

// simulated is the in-process shell; an actor has its own place at the gate.
func (r *runner) simulated(actor string) simshell.Shell {
	return simshell.Shell{
		FS: r.fs, Now: r.gate.Now, User: "dev", Host: "bench",
		Sleep: func(ctx context.Context, d time.Duration) error { return r.gate.Sleep(ctx, "shell/"+actor, d) },
	}
}

// resolve follows the links of a path as far as it exists.
func (r *runner) resolve(p string) string {
	if r.live != nil && r.live.Disk != nil {
		return r.live.Disk.Resolve(p)
	}
	real, err := footprint.Follow(r.fs, p, nil)
	if err != nil {
		return p // a circle leads nowhere: the path stands for itself
	}
	return real
}

// funnels runs the catalogue's gates for the profiles that are asked about.
func (r *runner) funnels() map[string]check.Funnel {
	out := map[string]check.Funnel{}
	for _, g := range r.sc.Expect.Gates {
		s, err := settings.FindProfile(g.Profile)
		if err != nil {
			continue // the check reports it
		}
		entries := r.sys.Catalogue.Entries()
		gone := r.sys.Catalogue.Gated(s, pool.Conditions{Search: s.ToolSearch.Kind != settings.Off})
		f := check.Funnel{In: len(entries) - len(gone), Out: len(gone), Reasons: map[string]string{}}
		for _, o := range gone {
			f.Reasons[o.Name] = o.Reason
		}
		out[g.Profile] = f
	}
	return out
}

func (r *runner) dir() string {
	if r.sc.World.CWD != "" {
		return r.sc.World.CWD
	}
	return defaultDir
}

func (r *runner) home() string {
	if r.sc.World.Home != "" {
		return r.sc.World.Home
	}
	return defaultHome
}

// buildWorld makes the disk, as a user who is not root.
func (r *runner) buildWorld() error {
	w := r.sc.World
	root := posix.New(posix.Config{Now: r.gate.Now, UID: 1000, GID: 1000, Capacity: w.Capacity})
	if w.Tree != "" {
		data, err := r.sc.Open("world.tree", w.Tree)
		if err != nil {
			return err
		}
		if err := root.Load("/", txtar.Parse(data)); err != nil {
			return r.sc.ErrorAt("world.tree", err.Error(), "")
		}
	}
	extra := &txtar.Archive{}
	for _, p := range sorted(w.Files) {
		extra.Files = append(extra.Files, txtar.File{Name: strings.TrimPrefix(p, "/"), Data: []byte(w.Files[p])})
	}
	if err := root.Load("/", extra); err != nil {
		return r.sc.ErrorAt("world.files", err.Error(), "paths are absolute, each given once")
	}
	for _, dir := range []string{r.dir(), r.home(), "/tmp"} {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return r.sc.ErrorAt("world.cwd", err.Error(), "")
		}
	}
	root.SetReadOnly(w.ReadOnly)
	r.fs, r.before = root, root.Snapshot()
	return nil
}

func (r *runner) state() (tool.State, error) {
	p := r.sc.World.Permissions
	st := tool.State{Dir: r.dir(), Root: r.dir(), Env: map[string]string{"HOME": r.home()}, Extra: p.Roots}
	for k, v := range r.sc.World.Env {
		st.Env[k] = v
	}
	if p.Mode != "" {
		mode, err := permission.ParseMode(p.Mode)
		if err != nil {
			return st, r.sc.ErrorAt("world.permissions.mode", err.Error(), "")
		}
		st.Mode = mode
	}
	for _, list := range []struct {
		behaviour permission.Behaviour
		texts     []string
	}{{permission.Allow, p.Allow}, {permission.Ask, p.Ask}, {permission.Deny, p.Deny}} {
		rules, err := st.Rules.Parse(permission.Project, list.behaviour, list.texts...)
		if err != nil {
			return st, r.sc.ErrorAt("world.permissions", err.Error(), "")
		}
		st.Rules = rules
	}
	return st, nil
}

// checkRules refuses rules that can never match a call: in a scenario they are a
// mistake. Servers may have tools of bare names, and a scenario may keep few built-in
// tools: then CheckNames looks for unknown names.
func (r *runner) checkRules(rules permission.Rules) error {
	p := r.sc.World.Permissions
	for _, problem := range r.sys.RuleProblems(rules) {
		if problem.Unknown && (len(r.sc.World.MCP) > 0 || r.sc.World.Only != nil) || problem.Shadowed {
			continue
		}
		for key, texts := range map[string][]string{"allow": p.Allow, "ask": p.Ask, "deny": p.Deny} {
			if i := slices.Index(texts, problem.Hit.Rule.String()); i >= 0 && key == problem.Hit.Behaviour.String() {
				remedy := ""
				if problem.Nearest != "" {
					remedy = "write " + problem.Nearest
				}
				return r.sc.ErrorAt(fmt.Sprintf("world.permissions.%s.%d", key, i), "the rule "+problem.Why, remedy)
			}
		}
	}
	return nil
}

// disk is where tools read and write.
func (r *runner) disk() afero.Fs {
	if r.live != nil && r.live.Disk != nil {
		return r.live.Disk.FS
	}
	return r.fs
}

// traceFiles ends the trace with what became of the disk: every change, and the
// files that are asked about.
func (r *runner) traceFiles() {
	after := r.fs.Snapshot()
	changes := posix.Diff(r.before, after)
	note := func(p, is string) {
		content := ""
		if i, ok := slices.BinarySearchFunc(after, p, func(e posix.Entry, p string) int { return strings.Compare(e.Path, p) }); ok {
			content = string(after[i].Content)
		}
		r.trace(trace.Event{At: r.gate.Since(), Data: trace.File{Path: p, Is: is, Content: content}})
	}
	named := map[string]bool{}
	for _, list := range []struct {
		is    string
		paths []string
	}{{"created", changes.Created}, {"changed", changes.Changed}, {"absent", changes.Removed}} {
		for _, p := range list.paths {
			named[p] = true
			note(p, list.is)
		}
	}
	for _, p := range sorted(r.sc.Expect.Files) {
		if !named[p] {
			note(p, presence(after, p))
		}
	}
	r.trace(trace.Event{At: r.gate.Since(), Data: trace.Tree{Tree: after.Digest()}})
}

func presence(s posix.Snapshot, p string) string {
	if _, ok := slices.BinarySearchFunc(s, p, func(e posix.Entry, p string) int { return strings.Compare(e.Path, p) }); ok {
		return "unchanged"
	}
	return "absent"
}
