package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/search"
)

// mention is a name that stands somewhere in a scenario, and where.
type mention struct{ key, name string }

// mentions collects names with their places.
type mentions []mention

func (m *mentions) add(key string, names ...string) {
	for _, name := range names {
		if name != "" {
			*m = append(*m, mention{key, name})
		}
	}
}

func (m *mentions) list(key string, names []string) {
	for i, name := range names {
		m.add(fmt.Sprintf("%s.%d", key, i), name)
	}
}

func keysOf[V any](m *mentions, key string, named map[string]V) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		m.add(key+"."+name, name)
	}
}

// vocabulary is what may stand in some places of the format.
type vocabulary struct {
	what     string // completes "X is no ..."
	words    []string
	mentions mentions
}

// Words are the words of the system that a scenario may use: kinds of events, statuses of
// results, what calls wait for, events of hooks, and profiles of settings.
type Words struct{ Kinds, Statuses, Waits, Events, Profiles []string }

// CheckWords refuses words that are none of those the format has for their place.
func (sc *Scenario) CheckWords(w Words) error {
	for _, v := range sc.vocabularies(w) {
		for _, m := range v.mentions {
			if !slices.Contains(v.words, m.name) {
				return sc.ErrorAt(m.key, fmt.Sprintf("%q is %s", m.name, v.what), meant(m.name, v.words))
			}
		}
	}
	return nil
}

func (sc *Scenario) vocabularies(w Words) []vocabulary {
	var kinds, statuses, waits, files, policies, profiles, events, fails, rulings, interrupts mentions
	e := sc.Expect
	for _, list := range []struct {
		key    string
		events []EventExpect
	}{{"expect.trace", e.Trace}, {"expect.never", e.Never}} {
		for i, event := range list.events {
			kinds.add(fmt.Sprintf("%s.%d.kind", list.key, i), event.Kind)
		}
	}
	for i, f := range sc.Faults {
		if f.Kill != nil {
			kinds.add(fmt.Sprintf("faults.%d.kill.kind", i), f.Kill.Kind)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.Results)) {
		statuses.add("expect.results."+id+".status", e.Results[id].Status)
	}
	for _, id := range slices.Sorted(maps.Keys(e.Waits)) {
		waits.add("expect.waits."+id, e.Waits[id])
	}
	for _, file := range slices.Sorted(maps.Keys(e.Files)) {
		files.add("expect.files."+file+".is", e.Files[file].Is)
	}
	keysOf(&policies, "expect.policies", e.Policies)
	policies.list("expect.same_under", e.SameUnder)
	profiles.add("world.profile", sc.World.Profile)
	for i, g := range e.Gates {
		profiles.add(fmt.Sprintf("expect.gates.%d.profile", i), g.Profile)
	}
	for i, h := range sc.Hooks {
		events.add(fmt.Sprintf("hooks.%d.event", i), h.Event)
		fails.add(fmt.Sprintf("hooks.%d.fails", i), h.Fails)
	}
	for i, c := range sc.Classifier {
		rulings.add(fmt.Sprintf("classifier.%d.ruling", i), c.Ruling)
	}
	for i, t := range sc.World.Tools {
		interrupts.add(fmt.Sprintf("world.tools.%d.interrupt", i), t.Interrupt)
	}
	return []vocabulary{
		{"no kind of event", w.Kinds, kinds},
		{"no status of a result", w.Statuses, statuses},
		{"nothing that a call waits for", w.Waits, waits},
		{"nothing that becomes of a file", []string{"unchanged", "changed", "created", "absent"}, files},
		{"no policy", policyNames(), policies},
		{"no profile", w.Profiles, profiles},
		{"no event of a hook", w.Events, events},
		{"no way for a hook to fail", []string{"error", "panic", "hang"}, fails},
		{"no ruling", []string{"clears", "blocks"}, rulings},
		{"nothing that an interrupt does to a call", []string{"cancel", "block"}, interrupts},
	}
}

func policyNames() []string {
	var names []string
	for p := schedule.Policy(0); ; p++ {
		if _, err := schedule.ParsePolicy(p.String()); err != nil {
			return names
		}
		names = append(names, p.String())
	}
}

// meant proposes the word that is spelt most like another, or all where they are few.
func meant(word string, words []string) string {
	if near := search.Nearest(word, words, nil, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	if len(words) > 20 {
		return ""
	}
	return "use " + strings.Join(words, ", ")
}

// CheckBuiltins refuses a world that keeps a built-in tool which is none of these.
func (sc *Scenario) CheckBuiltins(names []string) error {
	for i, name := range sc.World.Only {
		if !slices.Contains(names, name) {
			return sc.ErrorAt(fmt.Sprintf("world.only.%d", i), fmt.Sprintf("there is no built-in tool %q", name), nearestTool(name, names))
		}
	}
	return nil
}

// CheckNames refuses calls that the model never makes and tools that do not exist,
// wherever the scenario names them. What there is, only a run has: call reports whether
// the model makes a call of that id, tool whether there is a tool of that name, and tools
// are names to propose.
func (sc *Scenario) CheckNames(call, tool func(string) bool, tools []string) error {
	for _, m := range sc.namedCalls() {
		if !call(m.name) {
			return sc.ErrorAt(m.key, fmt.Sprintf("the model makes no call %q", m.name), meant(m.name, sc.scriptedCalls()))
		}
	}
	for _, m := range sc.namedTools() {
		if !tool(m.name) {
			return sc.ErrorAt(m.key, fmt.Sprintf("there is no tool %q", m.name), nearestTool(m.name, tools))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sc.Durations)) {
		if !tool(name) && !call(name) {
			return sc.ErrorAt("durations."+name, fmt.Sprintf("there is no tool and no call %q", name), nearestTool(name, tools))
		}
	}
	return sc.checkRules(tool, tools)
}

func nearestTool(name string, tools []string) string {
	if near := search.Nearest(name, tools, nil, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

func (sc *Scenario) scriptedCalls() []string {
	var ids []string
	for _, t := range sc.Stream.Turns {
		for _, c := range t.Calls {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// namedCalls are the calls that a scenario names beside its turns.
func (sc *Scenario) namedCalls() mentions {
	var m mentions
	e := sc.Expect
	keysOf(&m, "expect.starts", e.Starts)
	keysOf(&m, "expect.ends", e.Ends)
	keysOf(&m, "expect.emits", e.Emits)
	keysOf(&m, "expect.results", e.Results)
	keysOf(&m, "expect.waits", e.Waits)
	m.list("expect.not_started", e.NotStarted)
	m.list("expect.order", e.Order)
	m.list("expect.hints", e.Hints)
	for i, c := range e.Called {
		m.add(fmt.Sprintf("expect.called.%d.id", i), c.ID)
	}
	for i, event := range e.Trace {
		m.add(fmt.Sprintf("expect.trace.%d.call", i), event.Call)
	}
	for i, event := range e.Never {
		m.add(fmt.Sprintf("expect.never.%d.call", i), event.Call)
	}
	for i, p := range sc.User.Permits {
		m.add(fmt.Sprintf("user.permits.%d.call", i), p.Call)
	}
	for i, f := range sc.Faults {
		m.add(fmt.Sprintf("faults.%d.call", i), f.Call)
		if f.Kill != nil {
			m.add(fmt.Sprintf("faults.%d.kill.call", i), f.Kill.Call)
		}
	}
	for i, t := range sc.World.Tools {
		keysOf(&m, fmt.Sprintf("world.tools.%d.answers", i), t.Answers)
		m.list(fmt.Sprintf("world.tools.%d.failed_calls", i), t.FailedCalls)
	}
	for i, s := range sc.World.MCP {
		for j, f := range s.Faults {
			m.add(fmt.Sprintf("world.mcp.%d.faults.%d.call", i, j), f.Call)
		}
	}
	return m
}

// namedTools are the tools that a scenario names beside its turns.
func (sc *Scenario) namedTools() mentions {
	var m mentions
	e := sc.Expect
	for i, batch := range e.Batches {
		m.list(fmt.Sprintf("expect.batches.%d", i), batch)
	}
	for i, c := range e.Called {
		m.add(fmt.Sprintf("expect.called.%d.tool", i), c.Tool)
	}
	for i, event := range e.Trace {
		m.add(fmt.Sprintf("expect.trace.%d.tool", i), event.Tool)
	}
	for i, event := range e.Never {
		m.add(fmt.Sprintf("expect.never.%d.tool", i), event.Tool)
	}
	m.list("expect.pool.tools", e.Pool.Tools)
	m.list("expect.pool.last", e.Pool.Last)
	m.list("expect.pool.contains", e.Pool.Contains)
	m.list("expect.pool.lacks", e.Pool.Lacks)
	m.list("expect.pool.deferred", e.Pool.Deferred)
	keysOf(&m, "expect.pool.omitted", e.Pool.Omitted)
	for i, p := range sc.User.Permits {
		m.add(fmt.Sprintf("user.permits.%d.tool", i), p.Tool)
	}
	for i, f := range sc.Faults {
		m.add(fmt.Sprintf("faults.%d.tool", i), f.Tool)
		if f.Kill != nil {
			m.add(fmt.Sprintf("faults.%d.kill.tool", i), f.Kill.Tool)
		}
	}
	return m
}

// checkRules refuses rules of tools that do not exist. A rule may also be of a server,
// with or without a star for its tools.
func (sc *Scenario) checkRules(tool func(string) bool, tools []string) error {
	p := sc.World.Permissions
	for _, list := range []struct {
		key   string
		rules []string
	}{{"allow", p.Allow}, {"ask", p.Ask}, {"deny", p.Deny}} {
		for i, text := range list.rules {
			rule, err := permission.ParseRule(text)
			if err != nil {
				return sc.ErrorAt(fmt.Sprintf("world.permissions.%s.%d", list.key, i), err.Error(), "")
			}
			name := strings.TrimSuffix(strings.TrimSuffix(rule.Tool(), "*"), "__")
			ofServer := strings.HasPrefix(name, "mcp__") && slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(t, name+"__") })
			if !tool(rule.Tool()) && !ofServer && name != "mcp" && name != "" {
				remedy := ""
				if near := search.Nearest(rule.Tool(), tools, nil, 1); len(near) > 0 {
					remedy = "write " + near[0]
				}
				return sc.ErrorAt(fmt.Sprintf("world.permissions.%s.%d", list.key, i), "the rule never matches: there is no tool "+rule.Tool(), remedy)
			}
		}
	}
	return nil
}
