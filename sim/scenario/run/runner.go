package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"toolbench/sim/cassette"
	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
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
	sc     *scenario.Scenario
	o      Options
	gate   timing
	moved  *atomic.Int64 // events so far, for who waits in real time
	live   *LiveConfig   // nil in virtual time
	fs     *world.FS
	before world.Snapshot
	log    *trace.Log
	wire   *wire
	player *cassette.Player
	// answered is the recording that the run replays, or nil.
	answered *cassette.Cassette
	sys      *toolsys.System
	session  *loop.Session
	servers  *servers
	user     *person
	config   settings.Settings
	notes    []string

	// process is what the scenario's kills end, nil where it has none; past is the
	// transcript that the session begins with, reader the model that read it, prompts what is
	// still to be sent.
	process *process
	kills   []scenario.Fault
	past    []message.Message
	reader  string
	prompts []string
	// ends are called when the run is over, those of all its processes.
	ends *[]func()

	// runs counts shell runs, to give each its own name at the gate.
	runs atomic.Int64

	mu   sync.Mutex
	turn int
}

// defaults of a world.
const (
	defaultDir   = "/repo"
	defaultHome  = "/home/dev"
	defaultModel = "claude-sonnet-4-5"
)

// play runs a scenario once, inside a bubble.
func play(sc *scenario.Scenario, o Options, moved *atomic.Int64) (*record, error) {
	gate := clock.Open(o.Seed)
	r := &runner{sc: sc, o: o, moved: moved, gate: gate, log: &trace.Log{}, ends: &[]func(){}}
	r.kills = slices.DeleteFunc(slices.Clone(sc.Faults), func(f scenario.Fault) bool { return f.Kill == nil })
	defer gate.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer func() { r.servers.close() }() // also of those that an error leaves behind
	defer func() {
		for _, end := range slices.Backward(*r.ends) {
			end()
		}
	}()
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	rec, err := r.run(ctx)
	if r.process != nil {
		cancel()
		r.process.remains.end()
	}
	return rec, err
}

func (r *runner) build(ctx context.Context) error {
	if err := r.sc.CheckWords(Words()); err != nil {
		return err
	}
	var err error
	if r.config, err = settingsOf(r.sc); err != nil {
		return err
	}
	if r.fs, err = tree(r.sc, r.gate.Now); err != nil {
		return err
	}
	r.fs.SetReadOnly(r.sc.World.ReadOnly)
	r.before = r.fs.Snapshot()
	if err := r.buildWire(); err != nil {
		return err
	}
	if len(r.kills) > 0 || r.o.killAfter > 0 {
		r.process = newProcess(r.gate, &leftovers{over: make(chan struct{})})
		r.gate = r.process
	}
	r.user = &person{r: r, permits: slices.Clone(r.sc.User.Permits), answers: slices.Clone(r.sc.User.Answers), elicits: r.sc.User.Elicits}
	r.past = history(r.sc)
	r.prompts = append([]string{cmp.Or(r.sc.Prompt, "Go.")}, r.sc.Then...)
	return r.start(ctx)
}

// start starts the program in its world: the servers, the system and the session.
func (r *runner) start(ctx context.Context) error {
	var err error
	if r.servers, err = r.connect(ctx); err != nil {
		return err
	}
	own, err := r.ownTools()
	if err != nil {
		return err
	}
	cfg := toolsys.Config{
		Clock: r.clock(), Tools: own, Decorate: r.decorate, Trace: r.trace, Start: r.gate.Now().Add(-r.gate.Since()), Servers: r.servers.way,
		Keep: builtin.Keep(r.disk()), Resolve: r.resolve,
	}
	push, err := r.push()
	if err != nil {
		return err
	}
	if only := r.sc.World.Only; only == nil || len(only) > 0 {
		var engine web.Engine // none where the scenario names none
		if address := r.sc.World.Search; address != "" {
			engine = web.SearXNG(r.fetch, address)
		}
		cfg.Builtins = builtin.All(builtin.Deps{
			Worktrees: r.worktrees(),
			FS:        r.disk(), Resolve: r.resolve, Shell: r.shell(), HTTP: r.fetch, Search: engine, FetchSkill: r.remoteSkills(), Push: push, Browser: r.browser(), Terminal: r.terminal, Languages: r.servers.languages, AgentDirs: []string{path.Join(r.dir(), ".claude/agents")}, Depth: r.sc.World.AgentDepth, SkillDirs: []string{path.Join(r.dir(), ".claude/skills")}, WorkflowDirs: []string{path.Join(r.dir(), ".claude/workflows")},
		}, only...)
	}
	r.sys, err = toolsys.New(cfg)
	if err != nil {
		return r.sc.ErrorAt("world.tools", err.Error(), "")
	}
	if r.session, err = r.open(); err != nil {
		return err
	}
	return r.checkNames()
}

func (r *runner) clock() tool.Clock {
	return tool.Clock{Now: r.gate.Now, Sleep: r.gate.Sleep, Go: r.gate.Go}
}

// trace notes an event, and which turn the main conversation is in.
func (r *runner) trace(e trace.Event) {
	r.moved.Add(1)
	if r.process != nil {
		if r.process.dead() {
			return
		}
		defer r.killAt(e)
	}
	if e.Kind() == trace.KindTurnStart && e.Agent == "" {
		r.mu.Lock()
		r.turn = e.Turn
		r.mu.Unlock()
	}
	r.o.Watched.add(trace.Seen{Event: e})
	if r.live == nil {
		r.log.Add(e)
	} else if r.live.Trace != nil {
		r.live.Trace(e)
	}
}

// remoteSkills fetches the skills of the scenario, or is nil where it has none.
func (r *runner) remoteSkills() func(ctx context.Context, ref string) (string, error) {
	if r.sc.World.RemoteSkills == nil {
		return nil
	}
	return func(_ context.Context, ref string) (string, error) {
		text, known := r.sc.World.RemoteSkills[ref]
		if !known {
			return "", fmt.Errorf("there is no %q", ref)
		}
		return text, nil
	}
}

// push is the channel for notifications, nil where the scenario has none.
func (r *runner) push() (web.Channel, error) {
	if r.sc.World.Push == "" {
		return nil, nil
	}
	channel, err := web.Ntfy(r.fetch, r.sc.World.Push)
	if err != nil {
		return nil, r.sc.ErrorAt("world.push", err.Error(), "")
	}
	return channel, nil
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
	if err := r.checkRules(state.Rules); err != nil {
		return nil, err
	}
	hooks, err := r.hooks()
	if err != nil {
		return nil, err
	}
	model := cmp.Or(w.Model, defaultModel)
	handlers := pipeline.Handlers{
		Clock: r.clock(), Since: r.gate.Since, Trace: r.trace, Hooks: hooks,
		Notify: func(text string) { r.trace(trace.Event{At: r.gate.Since(), Data: trace.Notice{Text: text}}) },
	}
	if len(r.sc.User.Permits) > 0 {
		handlers.Ask = r.user.permit
	}
	if len(r.sc.User.Answers) > 0 {
		handlers.AskUser = r.user.answer
	}
	if len(r.sc.User.Elicits) > 0 {
		handlers.Elicit = r.user.elicit
	}
	if len(r.sc.Classifier) > 0 {
		handlers.Classify = r.classify
	}
	reach := api.Config{Key: "bench", Transport: r.wire}
	var journal func(loop.Entry) error
	if r.process != nil {
		journal, reach.Transport = r.process.record, r.process.transport(r.wire)
	}
	if r.live != nil {
		handlers, reach.Key, reach.BaseURL = r.live.handlersOf(handlers), r.live.Key, r.live.BaseURL
	}
	session, err := r.sys.Open(loop.Config{
		Model:  api.New(reach),
		Served: r.servers.served, Settings: r.config, Policy: policy, ModelName: model, Handlers: handlers, State: state,
		History: r.past, Reader: r.reader, MaxTurns: w.MaxTurns, Retries: w.Retries, Idle: w.StreamIdle.D(), Stay: w.Stay.D(), Style: styles[w.Style], Betas: w.Betas,
		NonInteractive: w.NonInteractive, Home: r.home(), Compact: r.compact(), Journal: journal, Output: schemaOf(w.Output), Watch: r.watch(),
		Diagnose: w.Diagnose, Reminder: w.Reminder, HookExec: r.exec, Thinking: message.Thinking(w.Thinking), Editing: message.Editing(w.Editing),
	})
	if errors.Is(err, loop.ErrConfig) {
		return nil, r.sc.ErrorAt("world", err.Error(), "")
	}
	return session, err
}

// watch hands on the model's stream to who watches the run, and nil where nobody does.
func (r *runner) watch() func(agent string, data []byte) {
	w := r.o.Watched
	if w == nil {
		return nil
	}
	return func(agent string, data []byte) {
		w.add(trace.Seen{Event: trace.Event{At: r.gate.Since(), Agent: agent}, Streamed: bytes.Clone(data)})
	}
}

var styles = map[string]pool.Style{"": pool.Names, "names": pool.Names, "hints": pool.Hints, "api": pool.API, "server-regex": pool.ServerRegex, "server-bm25": pool.ServerBM25}

// run sends the user's messages, further ones at their times, and records what is left at
// the end.
func (r *runner) run(ctx context.Context) (*record, error) {
	interrupting, stop := context.WithCancel(ctx)
	defer stop()
	var interruptions sync.WaitGroup
	for i, m := range r.sc.User.Messages {
		if r.past != nil && r.process != nil && m.At.D() < r.gate.Since() {
			continue // the process that was killed had it
		}
		interruptions.Add(1)
		actor := fmt.Sprintf("user/say/%d", i)
		r.gate.Go(actor, func() {
			defer interruptions.Done()
			if r.gate.Sleep(interrupting, actor, m.At.D()-r.gate.Since()) == nil {
				r.session.Interrupt(message.UserText(m.Text))
			}
		})
	}
	killed, failed := r.sendAll(ctx)
	if killed {
		next, err := r.restarted(ctx)
		if err != nil {
			return nil, err
		}
		return next.run(ctx)
	}
	stop()
	interruptions.Wait()
	if err := r.sys.Close(ctx); err != nil {
		return nil, err
	}
	r.servers.close()
	if len(r.kills) > 0 {
		return nil, r.sc.ErrorAt("faults", "the process was to be killed at an event that did not come: "+check.Wording(*r.kills[0].Kill), "see the events with `toolbench run -v`")
	}
	return r.takeDown(failed), nil
}

// send sends the messages that are still to be sent, one when the one before is answered.
func (r *runner) send(ctx context.Context) error {
	for len(r.prompts) > 0 && (r.process == nil || r.process.alive()) {
		next := r.prompts[0]
		r.prompts = r.prompts[1:]
		r.o.Watched.add(trace.Seen{Event: trace.Event{At: r.gate.Since()}, Said: next})
		if _, err := r.session.Send(ctx, message.UserText(next)); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) takeDown(failed error) *record {
	r.traceFiles()
	rec := &record{sent: r.wire.sent, Record: check.Record{
		Events: r.log.Events(), Digest: r.log.Digest(), Err: failed, Notes: r.notes, Limit: r.config.MaxConcurrency, Servers: r.servers.received(),
	}}
	r.wire.note(&rec.Record)
	rec.Misses = append(rec.Misses, tool.Each(r.wire.misses, func(m *cassette.MissError) string { return m.Error() })...)
	if r.player != nil {
		rec.Leftover = leftover(r.player)
		for _, d := range r.player.Diffs() {
			rec.Notes = append(rec.Notes, fmt.Sprintf("request %d differs from its recording:\n%s", d.Interaction, d.Text))
		}
	}
	rec.Gates = r.funnels()
	return rec
}

// leftover are the recorded interactions that nobody asked for.
func leftover(p *cassette.Player) []string {
	return tool.Each(p.Leftover(), func(l cassette.Leftover) string {
		return fmt.Sprintf("interaction %d (%s %s)", l.Interaction, l.Method, l.URL)
	})
}

// history is the transcript of the session before the run.
func history(sc *scenario.Scenario) []message.Message {
	var out []message.Message
	for _, past := range sc.World.History {
		m := message.Message{Role: past.Role}
		m.Content = append(m.Content, tool.Each(past.Results, pastResult)...)
		m.Content = append(m.Content, tool.Each(past.Blocks, rawBlock)...)
		if past.Text != "" {
			m.Content = append(m.Content, message.Text(past.Text))
		}
		for _, c := range past.Calls {
			m.Content = append(m.Content, message.Block{Type: message.TypeToolUse, ID: c.ID, Name: c.Tool, Input: c.InputJSON()})
		}
		if len(past.Discovered) > 0 {
			m.Content = append(m.Content, pool.Discovery(slices.Clone(past.Discovered)))
		}
		out = append(out, m)
	}
	return out
}

func pastResult(r scenario.PastResult) message.Block {
	if len(r.References) == 0 {
		return message.ToolResult(r.Call, r.Error, message.Text(r.Text))
	}
	return message.ToolResult(r.Call, r.Error, tool.Each(r.References, message.ToolReference)...)
}

// rawBlock is a block as an API gave it.
func rawBlock(members map[string]any) message.Block {
	raw, err := jsonscan.Marshal(members)
	if err != nil {
		return message.Text(err.Error()) // a key that is no text; the API refuses it as well
	}
	var b message.Block
	if json.Unmarshal(raw, &b) != nil {
		return message.Block{Raw: raw}
	}
	return b
}
