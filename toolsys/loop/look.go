package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// look assembles the pool anew, as before every request (C1), and decides what of it is deferred (E3).
func (s *Session) look(ctx context.Context) *pool.Snapshot {
	gather, done := s.gathering(ctx)
	served := s.cfg.Served(gather)
	done()
	s.gone, s.pendingServers = served.Gone, served.Pending
	state := s.State()
	tools := s.cfg.Settings.ToolSearch
	mode := modes[tools.Kind]
	p := s.assembly.Assemble(s.catalogue, pool.Inputs{
		Settings: s.cfg.Settings, Rules: state.Rules, Served: served.Tools, Off: switchedOff(state), Kinds: s.cfg.kinds,
		Conditions: pool.Conditions{Resources: served.Resources, Search: search.Optimistic(mode, s.cfg.Settings.BaseURL, tools.Explicit), Output: s.cfg.Output != nil},
	})
	on, reason := s.deferring(p, mode)
	snap := s.assembly.Look(p, pool.View{Settings: s.cfg.Settings, Deferring: on, Discovered: state.Discovered, Style: s.cfg.Style})
	s.tracePool(snap, on, reason)
	return snap
}

// model is the one of the next request: what was changed in the session, or the configured.
func (s *Session) model() string { return cmp.Or(s.State().Options[tool.OptionModel], s.cfg.ModelName) }

// thinking is how the model of the next request may think: what was changed in the session, or the configured.
func (s *Session) thinking() message.Thinking {
	t := s.cfg.Thinking
	switch option := s.State().Options[tool.OptionThinking]; option {
	case "":
	case "off":
		t = message.Thinking{}
	case "adaptive":
		t.Budget, t.Adaptive = 0, true
	default:
		if n, err := strconv.Atoi(option); err == nil && n >= minThinking && n < s.cfg.MaxTokens {
			t.Budget, t.Adaptive = n, false
		}
	}
	return t
}

// switchedOff are the tools that options of the session take away.
func switchedOff(st tool.State) []string {
	if st.Off(tool.OptionTodos) {
		return []string{"TodoWrite"}
	}
	return nil
}

var modes = map[settings.Kind]search.Mode{
	settings.Always: search.Always, settings.Auto: search.Automatic, settings.Off: search.Off,
}

// deferring is the final decision (E3). The automatic one is made once and kept: a server that arrives late must not
// flip built-ins between loaded and deferred (D4).
func (s *Session) deferring(p *pool.Pool, mode search.Mode) (bool, string) {
	if s.latched != nil {
		return *s.latched, "decided earlier in this conversation"
	}
	_, present := p.Find(search.ToolName)
	in := search.FinalInput{
		Mode: mode, Percent: s.cfg.Settings.ToolSearch.Percent, Model: s.model(), Betas: s.cfg.Betas, Present: present,
	}
	if mode == search.Automatic {
		in.DeferredTokens = s.deferredTokens(p)
	}
	on, reason := search.Final(in)
	if mode == search.Automatic {
		s.latched = &on
	}
	return on, reason
}

// deferredTokens estimates what the deferred definitions would cost if they were sent, at four bytes a token.
func (s *Session) deferredTokens(p *pool.Pool) int {
	bytes := 0
	undeferred := p.Look(pool.View{Settings: s.cfg.Settings, Deferring: false})
	defs := undeferred.Definitions(s.cfg.Definitions)
	for i, t := range undeferred.Loaded() {
		if pool.Deferred(t, s.cfg.Settings) {
			bytes += len(defs[i])
		}
	}
	return bytes / 4
}

func (s *Session) tracePool(snap *pool.Snapshot, on bool, reason string) {
	if !s.traces() {
		return
	}
	defs := snap.Definitions(s.cfg.Definitions)
	s.traceBroken(s.cfg.Definitions.Broken())
	if s.shown.snap != snap {
		s.shown = shown{snap, s.poolEvent(snap, defs)}
	}
	event := s.shown.event
	event.Deferring, event.Reason = on, reason
	s.trace(event)
}

// shown is what the trace has of a snapshot. It is kept while nothing changes: with
// thousands of tools, to list and to hash them is most of what a request costs.
type shown struct {
	snap  *pool.Snapshot
	event trace.Pool
}

func (s *Session) poolEvent(snap *pool.Snapshot, defs []json.RawMessage) trace.Pool {
	undeferred := snap.Pool.Look(pool.View{Settings: s.cfg.Settings, Deferring: false}).Definitions(s.cfg.Definitions)
	sent := size(defs[:len(snap.Loaded())]) + len(snap.Announcement())
	return trace.Pool{
		Tools: tool.Names(snap.Loaded()), Deferred: tool.Names(snap.Deferred()), Builtins: snap.Pool.Builtins, Prefix: snap.Fixed(),
		PrefixHash: pool.Hash(defs[:snap.Fixed()]), Hash: pool.Hash(defs), WholeBytes: size(undeferred), SentBytes: sent,
		Omitted: omitted(snap.Pool.Omitted),
		Find:    func(name string) any { return found(snap.Pool, name) },
	}
}

// found is the tool of a name, nil where there is none: also one that calls reach within a wrapper alone.
func found(p *pool.Pool, name string) any {
	if t, ok := p.Find(name); ok {
		return t
	}
	if t, ok := p.Wrapped().Find(name); ok {
		return t
	}
	return nil
}

// traceBroken names, once, the tools whose prompt panicked (A5).
func (s *Session) traceBroken(prompts map[string]error) {
	for _, name := range slices.Sorted(maps.Keys(prompts)) {
		if !s.broken[name] {
			s.broken[name] = true
			s.trace(trace.Predicate{Predicate: "prompt", Tool: name, Error: prompts[name].Error()})
		}
	}
}

// overhead is what a request carries beside the messages.
func (s *Session) overhead(snap *pool.Snapshot) tool.Overhead {
	o := tool.Overhead{Tools: size(snap.Definitions(s.cfg.Definitions)), Names: len(snap.Announcement())}
	for _, b := range s.cfg.System {
		o.System += message.Size(b)
	}
	o.Window, _ = search.Window(s.model(), s.cfg.Betas)
	return o
}

// size is what definitions come to in bytes.
func size(defs []json.RawMessage) int {
	n := 0
	for _, d := range defs {
		n += len(d)
	}
	return n
}

func omitted(all []pool.Omission) map[string]string {
	byName := map[string]string{}
	for _, o := range all {
		byName[o.Name] = o.Reason
	}
	return byName
}

func (s *Session) deltaMode() bool { return s.cfg.Settings.Has(settings.DeltaDiscovery) }

// announceDelta reports to the model, in delta mode, what changed in the list of deferred tools: as a reminder where
// the conversation stands, so that its beginning stays as it was (E6).
func (s *Session) announceDelta(snap *pool.Snapshot) {
	if !s.deltaMode() {
		return
	}
	now := tool.Names(snap.Deferred())
	if text := pool.Delta(s.announced, now); text != "" {
		s.append(message.UserText(text))
	}
	s.announced = now
}

// nearest names tools like an unknown one, by spelling and then by meaning (C4).
func (s *Session) nearest(snap *pool.Snapshot) func(string) []string {
	return func(name string) []string {
		return search.Nearest(name, snap.Pool.Names(), snap.Index(), 3)
	}
}

// search answers ToolSearch from the tools of this request (E5).
func (s *Session) search(ctx context.Context, snap *pool.Snapshot, query string, limit int) (tool.Found, error) {
	q, err := search.ParseQuery(query)
	if err != nil {
		return tool.Found{}, err
	}
	res := snap.Index().Search(q, limit)
	found := tool.Found{
		Missing: res.Missing, Deferred: res.TotalDeferred, Pending: slices.Clone(s.cfg.Served(ctx).Pending),
		References: snap.Refers(),
	}
	for _, m := range res.Matches {
		t, ok := snap.Pool.Find(m.Name)
		if !ok {
			continue
		}
		found.Names = append(found.Names, t.Name)
		found.Definitions = append(found.Definitions, tool.Definition{
			Description: t.Prompt(tool.PromptOptions{Settings: s.cfg.Settings}), Name: t.Name, Parameters: pool.SchemaOf(t),
		})
	}
	return found, nil
}
