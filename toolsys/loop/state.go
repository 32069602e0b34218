package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Change changes the state for the calls that start from here on, as when the user sets
// the mode. A modifier that panics changes nothing, which is the error.
func (s *Session) Change(m tool.Modifier) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, err = modified(s.state, m)
	return err
}

// modified is st after m; a modifier that panics changes nothing.
func modified(st tool.State, m tool.Modifier) (after tool.State, err error) {
	defer func() {
		if v := recover(); v != nil {
			after, err = st, fmt.Errorf("the modifier panicked: %v", v)
		}
	}()
	return m(st), nil
}

// commitResult moves what every result may move.
func (s *Session) commitResult(r *pipeline.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = learned(s.state, r)
	if r.Decided {
		s.decided = append(s.decided, tool.Decided{Call: r.CallID, Tool: r.Tool, Allowed: !r.Denied, Reason: r.Why})
	}
}

// Decisions are what was decided of the calls whose results are out, the oldest first.
func (s *Session) Decisions() []tool.Decided {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.decided)
}

// Interruptible reports whether calls run that the user's message would stop, and none that it
// would have to wait for (J4).
func (s *Session) Interruptible() bool {
	s.mu.Lock()
	ex := s.active
	s.mu.Unlock()
	if ex == nil {
		return false
	}
	running := ex.driver.Running()
	return len(running) > 0 && !slices.ContainsFunc(running, func(i int) bool { return !ex.job(i).pre.Cancellable })
}

// learned is st after what every result may move: observations and the denial count (B5, F3).
func learned(st tool.State, r *pipeline.Result) tool.State {
	for _, o := range r.Observed {
		st = st.Observe(o)
	}
	switch {
	case r.Denied:
		st.Denials = st.Denials.Denied()
	case r.Allowed:
		st.Denials = st.Denials.Allowed()
	}
	return st
}

// setActive makes the stream that is about to be read, or what is waited for before, the one
// Interrupt stops. A message that came a moment too early for that stops it here (J4).
func (s *Session) setActive(ex *execution, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.stop = ex, stop
	if len(s.pending) > 0 {
		stop(schedule.UserInterrupt)
	}
}

// gathering is a context for what is waited for before a request: the user's message ends
// it, as it will end the request (J4).
func (s *Session) gathering(ctx context.Context) (gather context.Context, done func()) {
	gather, stop := context.WithCancelCause(ctx)
	s.setActive(nil, stop)
	return gather, func() {
		s.setIdle()
		stop(nil)
	}
}

func (s *Session) setIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.stop = nil, nil
}

// mode is the one that binds the conversation at this moment.
func (s *Session) mode() permission.Mode { return s.bound(s.State().Mode) }

// bound is a mode, or that of the conversation above where it lets run what that does not: an agent that goes on in the
// background may do no more than who began it, once that plans.
func (s *Session) bound(own permission.Mode) permission.Mode {
	if s.cfg.above != nil {
		if above := s.cfg.above(); !own.Within(above) {
			return above
		}
	}
	return own
}

// context is what a call that starts now, in the given state, may read (B1).
func (s *Session) context(state tool.State, ex *execution) tool.Context {
	return tool.Context{
		Core: tool.Core{
			AgentID: s.cfg.Agent, Chain: tool.Chain{ID: s.cfg.Agent, Depth: s.cfg.Depth, Forked: s.cfg.forked}, Model: s.model(), Thinking: s.thinking(),
			NonInteractive: s.cfg.NonInteractive, Settings: &s.cfg.Settings, Messages: ex.history, FirstMessage: s.first,
			InProgress: ex.busy, Clock: s.cfg.Handlers.Clock, Commands: s.cfg.Commands,
		},
		Security:   tool.Security{Rules: state.Rules, Mode: s.bound(state.Mode), Roots: ex.roots(state), Home: s.cfg.Home},
		Extensions: ex.ways,
		State:      state,
	}
}

// places are the folders that a state lets calls work in, for the next call of that state.
type places struct {
	root, dir    string
	extra, roots []string
}

// roots are state's, made anew where they are others than the call's before.
func (ex *execution) roots(state tool.State) []string {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	p := &ex.places
	if p.roots == nil || p.root != state.Root || p.dir != state.Dir || !slices.Equal(p.extra, state.Extra) {
		*p = places{state.Root, state.Dir, slices.Clone(state.Extra), slices.Clip(state.Roots())}
	}
	return p.roots
}

// ways are a call's ways to the conversation, the same for all calls of a message.
func (s *Session) ways(snap *pool.Snapshot) tool.Extensions {
	return tool.Extensions{
		GlobLimit: s.cfg.GlobLimit,
		Overhead:  func() tool.Overhead { return s.overhead(snap) },
		Search: func(ctx context.Context, query string, max int) (tool.Found, error) {
			return s.search(ctx, snap, query, max)
		},
		Spawn: s.spawn, Enlist: s.enlist, Hook: s.hookOfModel, Servers: func() []tool.ServerState { return s.servers(snap) }, Replaced: s.replaced, Decisions: s.Decisions,
	}
}

// hook adds a hook for the rest of the session: the set is shared by all of its agents (B4).
func (s *Session) hook(spec tool.HookSpec) error {
	if s.cfg.HookExec == nil {
		return errors.New("commands of hooks cannot be run here")
	}
	made := hook.Hook{Name: spec.Name, Event: hook.Event(spec.Event), Matcher: spec.Matcher, If: spec.If, Timeout: spec.Timeout}
	return s.cfg.Handlers.Hooks.Add(hook.Command(made, spec.Command, s.cfg.HookExec))
}

// hookOfModel adds a hook that a model's call brings. Who approved the call did not approve what rules about commands forbid,
// which bind the hook's command as one of Bash.
func (s *Session) hookOfModel(spec tool.HookSpec) error {
	st := s.State()
	c := &tool.Context{State: st, Security: tool.Security{Rules: st.Rules, Mode: s.bound(st.Mode), Roots: st.Roots(), Home: s.cfg.Home}}
	raw, _ := json.Marshal(map[string]string{"command": spec.Command}) // a text is always written
	for _, e := range s.cfg.Catalogue.Entries() {
		if e.Name != "Bash" || e.Tool == nil {
			continue
		}
		d, _, err := pipeline.Decide(e.Tool, raw, c, s.cfg.Handlers.Resolve)
		asks := d.Behaviour == permission.Ask && (d.Reason.Kind == permission.ByRule || c.Mode == permission.Bypass)
		if err != nil || asks || d.Behaviour == permission.Deny {
			return fmt.Errorf("the command of its hook may not run: %s", cmp.Or(d.Reason.String(), "it cannot be decided upon"))
		}
	}
	return s.hook(spec)
}

// servers are those whose tools are in the request, and those that are being connected.
func (s *Session) servers(snap *pool.Snapshot) []tool.ServerState {
	counted := map[string]int{}
	for _, t := range snap.Pool.Tools {
		if t.IsMCP() {
			counted[t.Origin.Server]++
		}
	}
	there := tool.Each(slices.Sorted(maps.Keys(counted)), func(name string) tool.ServerState {
		return tool.ServerState{Name: name, Tools: counted[name]}
	})
	return append(there, tool.Each(s.pendingServers, func(name string) tool.ServerState {
		return tool.ServerState{Name: name, Pending: true}
	})...)
}

// replaced gives the file that holds the result of a call in full.
func (s *Session) replaced(call string) string {
	if s.cfg.Handlers.Budget == nil {
		return ""
	}
	return s.cfg.Handlers.Budget.File(call)
}

func (ex *execution) callID(i int) string { return ex.job(i).pre.Call.ID }

// view is the state as the trace has it.
func view(st tool.State) trace.StateView {
	v := trace.StateView{Dir: st.Dir, Mode: st.Mode.String(), Env: st.Env, Discovered: st.Discovered, Plan: st.Plan, Output: string(st.Output), Options: st.Options}
	v.Todos = tool.Each(st.Todos, func(t tool.Todo) trace.Todo { return trace.Todo(t) })
	v.Files = tool.Each(st.Files.All(), func(f tool.FileSeen) string { return f.Path })
	if d := st.Denials; d != (permission.Denials{}) {
		v.Denials = fmt.Sprintf("%d in a row, %d in all", d.InRow, d.Total)
	}
	for _, h := range st.Rules.All() {
		if h.Source == permission.Session {
			v.Rules = append(v.Rules, h.Behaviour.String()+" "+h.Rule.String())
		}
	}
	return v
}
