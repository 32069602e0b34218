package pool

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Inputs is all that a pool depends on.
type Inputs struct {
	Settings   settings.Settings
	Conditions Conditions
	Rules      permission.Rules
	// Served are the tools of connected servers, in any order.
	Served []*tool.Tool
	// Off are built-in tools that were switched off in the session.
	Off []string
	// Kinds are those of the agent whose pool it is and of the agents above it.
	Kinds []tool.AgentKind
}

// Pool is the ordered list of tools of one moment: built-ins by name, then served
// tools by name, in byte order (D1).
type Pool struct {
	Tools []*tool.Tool
	// Builtins is how many of Tools are built in; they come first.
	Builtins int
	// Omitted are the tools left out, by name, each with its reason.
	Omitted []Omission

	byName map[string]*tool.Tool
	// wrapped are the tools that a wrapper may call, by name.
	wrapped []*tool.Tool
	// builtins are the names of the built-in ones, joined by commas.
	builtins string
}

// Assemble makes the pool (C1, C3, D1, D2). It depends on the members of in and
// on nothing else: not on the order of Served, and not on an earlier call.
func (c *Catalogue) Assemble(in Inputs) *Pool {
	p := &Pool{byName: make(map[string]*tool.Tool, len(c.entries)+len(in.Served))}
	alone := in
	alone.Settings = in.Settings.Without(settings.ReplMode)
	for _, e := range c.entries {
		if e.Repl && c.omit(e, alone) == "" {
			p.wrapped = append(p.wrapped, e.Tool)
		}
		if reason := c.omit(e, in); reason != "" {
			p.Omitted = append(p.Omitted, Omission{e.Name, reason})
			continue
		}
		p.add(e.Tool)
	}
	p.Builtins = len(p.Tools)
	p.builtins = strings.Join(p.Names(), ",")
	p.addServed(in)
	p.alias()
	slices.SortFunc(p.Omitted, func(a, b Omission) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// Wrapped is the pool of the tools that the REPL may call: those it hides, and in other modes
// those beside it (C3).
func (p *Pool) Wrapped() *Pool {
	inner := &Pool{byName: make(map[string]*tool.Tool, len(p.wrapped))}
	for _, t := range p.wrapped {
		inner.add(t)
	}
	inner.alias()
	return inner
}

func (c *Catalogue) omit(e Entry, in Inputs) string {
	if reason := closed(e, in.Settings, in.Conditions); reason != "" {
		return reason
	}
	if e.Tool == nil {
		return "planned: it has no code yet"
	}
	on, err := e.Tool.Enabled(in.Settings)
	switch {
	case slices.Contains(in.Off, e.Name):
		return "switched off in this session"
	case err != nil:
		return "its enabled check failed: " + err.Error()
	case !on:
		return "disabled"
	}
	if rule, hidden := hides(in.Rules, e.Tool); hidden {
		return "denied by " + rule
	}
	return narrowed(in.Kinds, e.Tool)
}

func hides(rules permission.Rules, t *tool.Tool) (string, bool) {
	hit, hidden := rules.Hides(t.RuleSubject())
	return hit.Rule.String(), hidden
}

// addServed appends the servers' tools: sorted, without those that a rule hides
// and without those whose name a built-in has (D1).
func (p *Pool) addServed(in Inputs) {
	served := slices.Clone(in.Served)
	slices.SortFunc(served, compare)
	for _, t := range served {
		rule, hidden := hides(in.Rules, t)
		switch {
		case hidden:
			p.Omitted = append(p.Omitted, Omission{t.Name, "denied by " + rule})
		case p.byName[t.Name] != nil:
			p.Omitted = append(p.Omitted, Omission{t.Name, "another tool has its name"})
		case narrowed(in.Kinds, t) != "":
			p.Omitted = append(p.Omitted, Omission{t.Name, narrowed(in.Kinds, t)})
		default:
			p.add(t)
		}
	}
}

// compare orders served tools by name; the same name twice goes by origin, so
// that the one that stays does not depend on who connected first (D3).
func compare(a, b *tool.Tool) int {
	byName := strings.Compare(a.Name, b.Name)
	if a.Origin == nil || b.Origin == nil {
		return byName
	}
	return cmp.Or(byName, strings.Compare(a.Origin.Server, b.Origin.Server), strings.Compare(a.Origin.Tool, b.Origin.Tool))
}

func (p *Pool) add(t *tool.Tool) {
	p.Tools = append(p.Tools, t)
	p.byName[t.Name] = t
}

// alias adds the aliases after all names: a name beats an alias (A2).
func (p *Pool) alias() {
	for _, t := range p.Tools {
		for _, a := range t.Aliases {
			if _, taken := p.byName[a]; !taken {
				p.byName[a] = t
			}
		}
	}
}

// Find looks a tool up by name or alias (C4).
func (p *Pool) Find(name string) (*tool.Tool, bool) {
	t, ok := p.byName[name]
	return t, ok
}

// Names lists the pool's tools in order.
func (p *Pool) Names() []string { return tool.Names(p.Tools) }

// Assembly makes the pools and snapshots of one conversation, and gives the last ones
// again as long as what they depend on is the same: with thousands of tools, most
// requests change none of them. The zero Assembly has none. One goroutine uses it at a
// time; what it gives may be read by any number.
type Assembly struct {
	catalogue *Catalogue
	inputs    Inputs
	pool      *Pool
	snapshot  *Snapshot
	indexes   indexes
}

// Assemble is c.Assemble.
func (a *Assembly) Assemble(c *Catalogue, in Inputs) *Pool {
	if a.pool != nil && a.catalogue == c && a.inputs.equal(&in) {
		return a.pool
	}
	a.catalogue, a.pool = c, c.Assemble(in)
	a.inputs = in
	a.inputs.Served, a.inputs.Off = slices.Clone(in.Served), slices.Clone(in.Off)
	return a.pool
}

// Look is p.Look.
func (a *Assembly) Look(p *Pool, v View) *Snapshot {
	if s := a.snapshot; s != nil && s.Pool == p && s.View.equal(&v) {
		return s
	}
	v.Discovered = slices.Clone(v.Discovered)
	a.snapshot = p.look(v, &a.indexes)
	return a.snapshot
}

// equal reports whether the same pool comes of both. Served tools in another order count
// as others.
func (in *Inputs) equal(other *Inputs) bool {
	return in.Settings == other.Settings && in.Conditions == other.Conditions && in.Rules.Equal(other.Rules) &&
		slices.Equal(in.Off, other.Off) && slices.Equal(in.Served, other.Served) && slices.EqualFunc(in.Kinds, other.Kinds, narrowAlike)
}

func (v *View) equal(other *View) bool {
	return v.Settings == other.Settings && v.Deferring == other.Deferring && v.Style == other.Style &&
		slices.Equal(v.Discovered, other.Discovered)
}

// renderedDefinitions is what a snapshot's definitions came to, by the store that they are in.
type renderedDefinitions struct {
	mu   sync.Mutex
	by   *Definitions
	defs []json.RawMessage
}

// of gives the definitions written by d, which write makes at the first time.
func (w *renderedDefinitions) of(d *Definitions, write func() []json.RawMessage) []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by != d {
		w.by, w.defs = d, write()
	}
	return slices.Clip(w.defs)
}

// narrowed gives the reason for which an agent's kind leaves a tool out, or "". An agent of
// an agent has what both kinds leave it.
func narrowed(kinds []tool.AgentKind, t *tool.Tool) string {
	for _, k := range kinds {
		if k.Tools != nil && !slices.ContainsFunc(k.Tools, func(name string) bool { return t.Matches(name) || served(t, name) }) {
			return "not among the tools of the agent's type"
		}
		if t.Origin != nil && k.Servers != nil && !slices.Contains(k.Servers, t.Origin.Server) {
			return "not of a server of the agent's type"
		}
	}
	return ""
}

// served reports whether a name stands for a server that the tool is of.
func served(t *tool.Tool, name string) bool {
	return t.Origin != nil && (name == "mcp__"+t.Origin.Server || name == "mcp__"+t.Origin.Server+"__*")
}

// narrowAlike reports whether two kinds leave an agent the same tools.
func narrowAlike(a, b tool.AgentKind) bool {
	same := func(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }
	return same(a.Tools, b.Tools) && same(a.Servers, b.Servers)
}
