package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	simshell "toolbench/sim/shell"
	"toolbench/sim/world"
	"toolbench/toolsys/builtin/file"
	shelltool "toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// settingsOf gives the profile's settings, or what the scenario's variables make of the
// default.
func settingsOf(sc *scenario.Scenario) (settings.Settings, error) {
	w := sc.World
	if w.Profile != "" && len(w.Settings) > 0 {
		return settings.Settings{}, sc.ErrorAt("world.profile", "profile and settings exclude each other", "keep one")
	}
	key := "world.settings"
	s, err := settings.FromMap(w.Settings)
	if w.Profile != "" {
		key = "world.profile"
		s, err = settings.FindProfile(w.Profile)
	}
	if err != nil {
		return s, sc.ErrorAt(key, err.Error(), "")
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
	real, err := schedule.Follow(r.fs, p, nil)
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
	dir, _ := Dirs(r.sc)
	return dir
}

func (r *runner) home() string {
	_, home := Dirs(r.sc)
	return home
}

// Tree is a scenario's disk as it stands at the start, for programs that are run on a real
// one. Errors are those of the scenario's files.
func Tree(sc *scenario.Scenario) (world.Snapshot, error) {
	root, err := tree(sc, time.Now)
	if err != nil {
		return nil, err
	}
	return root.Snapshot(), nil
}

// Dirs are a scenario's working directory and home.
func Dirs(sc *scenario.Scenario) (dir, home string) {
	return cmp.Or(sc.World.CWD, defaultDir), cmp.Or(sc.World.Home, defaultHome)
}

// tree makes a scenario's disk, as a user who is not root.
func tree(sc *scenario.Scenario, now func() time.Time) (*world.FS, error) {
	w := sc.World
	root := world.NewFS(world.FSConfig{Now: now, UID: 1000, GID: 1000, Capacity: w.Capacity})
	if w.Tree != "" {
		data, err := sc.Open("world.tree", w.Tree)
		if err != nil {
			return nil, err
		}
		if err := root.Load("/", txtar.Parse(data)); err != nil {
			return nil, sc.ErrorAt("world.tree", err.Error(), "")
		}
	}
	extra := &txtar.Archive{}
	for _, p := range slices.Sorted(maps.Keys(w.Files)) {
		extra.Files = append(extra.Files, txtar.File{Name: strings.TrimPrefix(p, "/"), Data: []byte(w.Files[p])})
	}
	if err := root.Load("/", extra); err != nil {
		return nil, sc.ErrorAt("world.files", err.Error(), "paths are absolute, each given once")
	}
	dir, home := Dirs(sc)
	for _, dir := range []string{dir, home, "/tmp"} {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return nil, sc.ErrorAt("world.cwd", err.Error(), "")
		}
	}
	return root, nil
}

func (r *runner) state() (tool.State, error) {
	p := r.sc.World.Permissions
	st := tool.State{Dir: r.dir(), Root: r.dir(), Env: map[string]string{"HOME": r.home()}, Extra: p.Roots}
	maps.Copy(st.Env, r.sc.World.Env)
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

// traceFiles ends the trace with what became of the disk.
func (r *runner) traceFiles() {
	after := r.fs.Snapshot()
	for _, f := range FileChanges(r.sc, r.before, after) {
		r.trace(trace.Event{At: r.gate.Since(), Data: f})
	}
	r.trace(trace.Event{At: r.gate.Since(), Data: trace.Tree{Tree: after.Digest()}})
}

// FileChanges are what became of a scenario's disk: every change, and the files that its
// expectations ask about.
func FileChanges(sc *scenario.Scenario, before, after world.Snapshot) (files []trace.File) {
	changes := world.DiffSnapshots(before, after)
	// A file that is there at the end has a content, and is unchanged where nothing else is known of it.
	note := func(p, is string) {
		f := trace.File{Path: p, Is: cmp.Or(is, "absent")}
		if i, ok := slices.BinarySearchFunc(after, p, func(e world.SnapshotEntry, p string) int { return strings.Compare(e.Path, p) }); ok {
			f.Is, f.Content = cmp.Or(is, "unchanged"), string(after[i].Content)
		}
		files = append(files, f)
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
	for _, p := range slices.Sorted(maps.Keys(sc.Expect.Files)) {
		if p = path.Clean("/" + p); !named[p] {
			note(p, "")
		}
	}
	return files
}

var errNoServer = errors.New("there is no such program")

// languages are the scenario's language servers, in memory.
func (r *runner) languages() *file.Languages {
	cfg := file.LanguagesConfig{Start: r.startLanguage}
	for _, l := range r.sc.World.Languages {
		cfg.Servers = append(cfg.Servers, file.LanguageServer{Language: l.Name, Extensions: l.Extensions, Command: []string{l.Name}})
	}
	return file.NewLanguages(cfg)
}

func (r *runner) startLanguage(ctx context.Context, command []string, _ string, _ map[string]string) (io.ReadWriteCloser, error) {
	i := slices.IndexFunc(r.sc.World.Languages, func(l scenario.Language) bool { return l.Name == command[0] })
	l := r.sc.World.Languages[i]
	if l.Refused {
		return nil, errNoServer
	}
	mine, theirs := net.Pipe()
	jsonrpc2.NewConn(context.WithoutCancel(ctx), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.AsyncHandler(languageServer{l}))
	return mine, nil
}

// languageServer answers as the scenario has it.
type languageServer struct{ scenario.Language }

// Handle implements jsonrpc2.Handler.
func (l languageServer) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch {
	case req.Method == "exit", l.Ends != "" && req.Method == l.Ends:
		_ = conn.Close() // it may be closed already
	case req.Notif:
	case req.Method == "initialize":
		_ = conn.Reply(ctx, req.ID, map[string]any{"capabilities": map[string]any{}})
	default:
		_ = conn.Reply(ctx, req.ID, l.Answers[req.Method])
	}
}
