package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/world/posix"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// runner is one run: the world, the clock and the system in it. It lives inside
// one bubble.
type runner struct {
	sc      *scenario.Scenario
	o       Options
	gate    timing
	live    *LiveConfig // nil in virtual time
	fs      *posix.FS
	before  posix.Snapshot
	log     *trace.Log
	wire    *wire
	player  *cassette.Player
	sys     *toolsys.System
	session *loop.Session
	servers *servers
	user    *person
	config  settings.Settings
	notes   []string

	// runs counts shell runs, to tell who sleeps.
	runs atomic.Int64

	mu   sync.Mutex
	turn int
}

// defaults of a world that says nothing.
const (
	defaultDir   = "/repo"
	defaultHome  = "/home/dev"
	defaultModel = "claude-sonnet-4-5"
)

// play runs a scenario once, inside a bubble.
func play(sc *scenario.Scenario, o Options) (*record, error) {
	r := &runner{sc: sc, o: o, gate: clock.Open(o.Seed), log: &trace.Log{}}
	defer r.gate.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	defer r.servers.close()
	return r.run(ctx)
}

func (r *runner) build(ctx context.Context) error {
	var err error
	if r.config, err = settingsOf(r.sc); err != nil {
		return err
	}
	if err := r.buildWorld(); err != nil {
		return err
	}
	if err := r.buildWire(); err != nil {
		return err
	}
	if r.servers, err = r.connect(ctx); err != nil {
		return err
	}
	r.user = &person{r: r, permits: slices.Clone(r.sc.User.Permits), answers: slices.Clone(r.sc.User.Answers), elicits: r.sc.User.Elicits}
	own, err := ownTools(r.sc)
	if err != nil {
		return err
	}
	r.sys, err = toolsys.New(toolsys.Config{
		FS: r.disk(), Shell: r.shell(), Resolve: r.resolve, HTTP: r.fetch, Clock: r.clock(), Tools: own, Decorate: r.simulate, Only: r.sc.World.Only,
		NoBuiltins: r.sc.World.Only != nil && len(r.sc.World.Only) == 0,
		SkillDirs:  []string{path.Join(r.dir(), ".claude/skills")}, Trace: r.trace, Servers: r.servers.fleets(),
	})
	if err != nil {
		return r.sc.ErrorAt("world.tools", err.Error(), "")
	}
	r.session, err = r.open()
	return err
}

func (r *runner) clock() tool.Clock {
	return tool.Clock{Now: r.gate.Now, Sleep: r.gate.Sleep, Go: r.gate.Go}
}

// trace notes an event, and which turn the main conversation is in.
func (r *runner) trace(e trace.Event) {
	if e.Kind == trace.TurnStart && e.Agent == "" {
		r.mu.Lock()
		r.turn = e.Turn
		r.mu.Unlock()
	}
	if r.live == nil {
		r.log.Add(e)
	} else if r.live.Trace != nil {
		r.live.Trace(e)
	}
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

// buildWire puts the model in place: the cassette, or the scripted turns.
func (r *runner) buildWire() error {
	if r.live != nil {
		r.wire = &wire{next: r.liveWire()}
		return nil
	}
	s := r.sc.Stream
	faults := streamFaults(r.sc)
	if r.o.chunk > 0 {
		faults = rechunked(faults, r.o.chunk)
	}
	if r.o.answers != nil {
		return r.lenient(faults)
	}
	if s.Cassette == "" || r.o.Scripted {
		turns, err := newScript(r.sc, playOptions{wait: r.gate.Sleep, now: r.gate.Now, seed: 1, pace: s.Pace.Stream(), fault: faults})
		if err != nil {
			return r.sc.ErrorAt("stream.turns", err.Error(), "")
		}
		r.wire = &wire{next: turns}
		return nil
	}
	fsys, name, err := r.sc.Resource(s.Cassette)
	if err != nil {
		return r.sc.ErrorAt("stream.cassette", err.Error(), "record it, or check the name")
	}
	c, err := cassette.LoadFile(fsys, name, cassette.Limits{})
	if err != nil {
		return r.sc.ErrorAt("stream.cassette", err.Error(), "")
	}
	r.player, err = cassette.NewPlayer(c, cassette.Options{
		Wait: r.gate.Sleep, Now: r.gate.Now, Pace: s.Pace.Stream(), Lenient: s.Requests == "lenient", Fault: faults,
	})
	if err != nil {
		return r.sc.ErrorAt("stream.cassette", err.Error(), "")
	}
	r.wire = &wire{next: r.player}
	return nil
}

func (r *runner) fetch(req *http.Request) (*http.Response, error) { return r.wire.RoundTrip(req) }

// open begins the conversation.
func (r *runner) open() (*loop.Session, error) {
	w := r.sc.World
	policy, err := schedule.ParsePolicy(cmp.Or(r.o.Policy, r.sc.PolicyName()))
	if err != nil {
		return nil, r.sc.ErrorAt("policy", err.Error(), "")
	}
	state, err := r.state()
	if err != nil {
		return nil, err
	}
	hooks, err := r.hooks()
	if err != nil {
		return nil, err
	}
	model := w.Model
	if model == "" {
		model = defaultModel
	}
	doors := pipeline.Doors{
		Clock: r.clock(), Since: r.gate.Since, Trace: r.trace, Hooks: hooks,
		Notify: func(text string) {
			r.trace(trace.Event{At: r.gate.Since(), Kind: trace.Notice, Attrs: []trace.Attr{trace.S("text", text)}})
		},
	}
	if len(r.sc.User.Permits) > 0 {
		doors.Ask = r.user.permit
	}
	if len(r.sc.User.Answers) > 0 {
		doors.AskUser = r.user.answer
	}
	if len(r.sc.User.Elicits) > 0 {
		doors.Elicit = r.user.elicit
	}
	if len(r.sc.Classifier) > 0 {
		doors.Classify = r.classify
	}
	reach := api.Config{Key: "bench", Transport: r.wire}
	if r.live != nil {
		doors, reach.Key, reach.BaseURL = r.live.handlersOf(doors), r.live.Key, r.live.BaseURL
	}
	return r.sys.Open(loop.Config{
		Model:  api.New(reach),
		Served: r.servers.served, Settings: r.config, Policy: policy, ModelName: model, Doors: doors, State: state,
		History: history(r.sc), MaxTurns: w.MaxTurns, Retries: w.Retries, Idle: w.StreamIdle.D(), Style: styles[w.Style], Betas: w.Betas,
		NonInteractive: w.NonInteractive, Home: r.home(), Compact: r.compact(),
	})
}

var styles = map[string]pool.Style{"": pool.Names, "names": pool.Names, "hints": pool.Hints, "api": pool.API}

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

// run sends the prompt, lets the user speak at their times and takes down what
// is left at the end.
func (r *runner) run(ctx context.Context) (*record, error) {
	speaking, hush := context.WithCancel(ctx)
	var silent sync.WaitGroup
	for i, say := range r.sc.User.Says {
		silent.Add(1)
		actor := fmt.Sprintf("user/say/%d", i)
		r.gate.Go(actor, func() {
			defer silent.Done()
			if r.gate.Sleep(speaking, actor, say.At.D()-r.gate.Since()) == nil {
				r.session.Interrupt(message.UserText(say.Text))
			}
		})
	}
	prompt := r.sc.Prompt
	if prompt == "" {
		prompt = "Go."
	}
	_, failed := r.session.Send(ctx, message.UserText(prompt))
	for _, next := range r.sc.Then {
		if failed == nil {
			_, failed = r.session.Send(ctx, message.UserText(next))
		}
	}
	hush()
	silent.Wait()
	if err := r.sys.Close(ctx); err != nil {
		return nil, err
	}
	r.servers.close()
	return r.takeDown(failed), nil
}

func (r *runner) takeDown(failed error) *record {
	r.traceFiles()
	rec := &record{sent: r.wire.sent, Record: check.Record{
		Events: r.log.Events(), Digest: r.log.Digest(), Requests: r.wire.bodies(), Dropped: r.wire.dropped(), Err: failed, Notes: r.notes, Limit: r.config.MaxConcurrency,
	}}
	for _, m := range r.wire.misses {
		rec.Misses = append(rec.Misses, m.Error())
	}
	if r.player != nil {
		for _, l := range r.player.Leftover() {
			rec.Leftover = append(rec.Leftover, fmt.Sprintf("interaction %d (%s %s)", l.Interaction, l.Method, l.URL))
		}
		for _, d := range r.player.Diffs() {
			rec.Notes = append(rec.Notes, fmt.Sprintf("request %d differs from its recording:\n%s", d.Interaction, d.Text))
		}
	}
	rec.Gates = r.funnels()
	return rec
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
		r.trace(trace.Event{At: r.gate.Since(), Kind: trace.File, Attrs: []trace.Attr{trace.S("path", p), trace.S("is", is), trace.S("content", content)}})
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
	r.trace(trace.Event{At: r.gate.Since(), Kind: trace.File, Attrs: []trace.Attr{trace.S("tree", after.Digest())}})
}

func presence(s posix.Snapshot, p string) string {
	if _, ok := slices.BinarySearchFunc(s, p, func(e posix.Entry, p string) int { return strings.Compare(e.Path, p) }); ok {
		return "unchanged"
	}
	return "absent"
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
