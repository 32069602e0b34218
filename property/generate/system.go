package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// SystemMaker makes the system cases of a plan, one after the other or any. One goroutine may use it at a time.
type SystemMaker struct {
	plan Plan
	src  rand.PCG
	rng  *rand.Rand
	has  uint32
	s    *SystemCase
	ids  int
	// made counts what the calls of the case may have made, by kind; agents are names.
	made   map[string]int
	agents []string
	// opening is what the conversation begins with.
	opening [][]step
}

// NewSystemMaker makes a maker of a plan's system cases: of its features the faults count.
func NewSystemMaker(p Plan) *SystemMaker {
	m := &SystemMaker{plan: p}
	m.rng = rand.New(&m.src)
	return m
}

// What a case may have. Each leaves some of it out (swarm testing).
const (
	deferral uint32 = 1 << iota
	servers
	churn
	rules
	modes
	people
	deciding  // hooks that decide
	rewriting // hooks and people that rewrite
	after     // hooks after the run, and at refusals
	failing
	stopping // failures that stop siblings, and messages of the user
	large
	files
	agents
	turns
	noting
	kits // the families of the other built-ins
	nesting
	anyFault // things that go wrong, of which some:
	toolFaults
	streamFaults
	serverFaults
	diskFault
)

// Case makes case number i.
func (m *SystemMaker) Case(i uint64) *SystemCase {
	m.src.Seed(m.plan.Seed, i^0x5ce4e<<32)
	m.has, m.ids, m.made, m.agents, m.opening = m.rng.Uint32(), 0, map[string]int{}, nil, nil
	if m.odds(1, 4) { // hardly any: what is about one thing is found sooner
		m.has &= m.rng.Uint32() & m.rng.Uint32()
	}
	if m.serversFail() {
		m.has |= servers
	}
	m.s = &SystemCase{Seed: m.rng.Uint64() >> 33, Policy: m.plan.Policies[m.rng.IntN(len(m.plan.Policies))]}
	m.choose()
	m.pool()
	m.guards()
	m.open()
	for range m.some(turns|kits, 1, 4) {
		m.s.Turns = append(m.s.Turns, Turn{Calls: m.message(1+m.rng.IntN(5), 0)})
	}
	for range m.some(stopping, 0, 2) {
		m.s.Interrupts = append(m.s.Interrupts, m.span(20))
	}
	if m.has&anyFault != 0 {
		m.inject()
	}
	return m.s
}

func (m *SystemMaker) odds(n, of int) bool { return m.rng.IntN(of) < n }

func (m *SystemMaker) chance(f uint32, n, of int) bool { return m.has&f != 0 && m.odds(n, of) }

// some is a number from low to high, with the feature; low without.
func (m *SystemMaker) some(f uint32, low, high int) int {
	if m.has&f == 0 {
		return low
	}
	return low + m.rng.IntN(high-low+1)
}

func (m *SystemMaker) span(tenths int) time.Duration {
	return time.Duration(m.rng.IntN(tenths)) * 100 * time.Millisecond
}

func pick[T any](m *SystemMaker, from ...T) T { return from[m.rng.IntN(len(from))] }

// pool makes what there is to be called.
func (m *SystemMaker) pool() {
	s := m.s
	if m.has&deferral != 0 {
		s.Search = pick(m, "", "", "true", "auto:0", "auto:1", "auto:1", "auto:50", "false", "auto:100")
		s.Style = pick(m, "", "", "hints", "api")
		s.Small = m.odds(1, 2)
	}
	for i := range 2 + m.rng.IntN(4) {
		s.Tools = append(s.Tools, m.tool(fmt.Sprintf("%s%d", pick(m, "Alpha", "Beta", "Gamma"), i+1)))
	}
	if m.has&servers != 0 {
		for _, name := range serverNames {
			if !m.odds(1, 2) || name == "bulk" && !m.odds(1, 3) {
				continue
			}
			v := Server{Name: name}
			if m.chance(churn, 1, 2) {
				v.From, v.Until = m.rng.IntN(3), m.rng.IntN(2)*(2+m.rng.IntN(2))
			}
			s.Servers = append(s.Servers, v)
		}
	}
	for _, name := range m.names() {
		if m.chance(deferral, 1, 4) && s.Deferrable(name) {
			s.Discovered = append(s.Discovered, name)
		}
	}
}

// choose makes which of the other built-ins there are, and what goes with them.
func (m *SystemMaker) choose() {
	s := m.s
	if m.has&kits == 0 {
		return
	}
	for range 1 + m.rng.IntN(3) {
		f := pick(m, kitTables().Families...)
		for _, name := range f.Tools {
			if !m.s.InKit(name) {
				s.Kit = append(s.Kit, name)
			}
		}
		if m.odds(1, 2) {
			m.opening = append(m.opening, f.Opening...)
		}
	}
	slices.Sort(s.Kit)
	if m.s.InKit("ReadMcpResource") {
		m.has |= servers
	}
	s.Stay = pick(m, 0, 0, 10*time.Minute, time.Hour)
	if s.Forks = m.chance(nesting, 1, 2); s.Forks {
		m.has |= agents
	}
	if m.has&nesting != 0 {
		s.Depth = 1 + m.rng.IntN(3)
	}
}

func (m *SystemMaker) tool(name string) Tool {
	t := Tool{
		Name: name, Safe: m.odds(1, 2), ReadOnly: m.odds(1, 2), Deferrable: m.chance(deferral, 1, 2), Always: m.chance(deferral, 1, 8),
		Fails: m.chance(failing|stopping, 1, 3), Stops: m.chance(stopping, 1, 2),
	}
	t.WritesEnv = m.chance(noting, 1, 2) && !t.Safe
	switch {
	case m.chance(large, 1, 2): // some of these are too much for one message
		t.Chars, t.Limit = pick(m, 60_000, 75_000, 90_000, 120_000, 150_000), 300_000
	case m.chance(large, 2, 3):
		t.Chars = pick(m, 400, 30_000, 49_999, 50_001, 90_000, 120_000, 450_000)
		t.Limit = pick(m, 0, 1_000, 100_000, 300_000, 300_000)
	}
	return t
}

// names are all tools there are to call, less the built-ins.
func (m *SystemMaker) names() []string {
	var names []string
	for _, t := range m.s.Tools {
		names = append(names, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(Served)) {
		if slices.ContainsFunc(m.s.Servers, func(v Server) bool { return v.Name == Served[name].Server }) {
			names = append(names, name)
		}
	}
	return names
}

// callable are the servers' tools; where there are none, all.
func (m *SystemMaker) callable() []string {
	if names := m.names()[len(m.s.Tools):]; len(names) > 0 {
		return names
	}
	return m.names()
}

// guards are the rules, the mode, the hooks and the person.
func (m *SystemMaker) guards() {
	s := m.s
	s.Mode = pick(m, "", "default", "acceptEdits")
	if m.has&modes != 0 {
		s.Mode = pick(m, "default", "plan", "acceptEdits", "bypass")
	}
	s.Person = m.has&people != 0 || len(m.opening) > 0
	names := append(m.names(), "Write(/repo/a/**)", "Write(/repo/barred/**)", "Write", "mcp__git", "mcp__weather__*", "Read(/repo/docs/**)")
	for _, name := range append(names, s.Kit...) {
		if m.odds(1, 2) || len(m.opening) > 0 && m.s.InKit(name) || m.serversFail() && strings.HasPrefix(name, "mcp__") {
			s.Allow = append(s.Allow, name)
		}
		if m.chance(rules, 1, 6) || name == "Write" && m.chance(people, 1, 3) {
			s.Ask = append(s.Ask, name)
		}
		if m.chance(rules, 1, 8) || strings.HasPrefix(name, "Write(") && m.chance(rules, 1, 3) {
			s.Deny = append(s.Deny, name)
		}
	}
	for range m.some(deciding|rewriting, 0, 3) {
		s.Hooks = append(s.Hooks, m.before())
	}
	for range m.some(after, 0, 3) {
		s.Hooks = append(s.Hooks, m.behind())
	}
}

func (m *SystemMaker) matched() string {
	return pick(m, append(append(m.names(), m.s.Kit...), "Write", "Write", "")...)
}

func (m *SystemMaker) before() Hook {
	h := Hook{Event: "PreToolUse", Tool: m.matched()}
	if m.chance(deciding, 2, 3) {
		h.Decision = pick(m, "allow", "allow", "ask", "deny")
	}
	if m.chance(rewriting, 2, 3) && h.Tool != "" && !strings.HasPrefix(h.Tool, "mcp__") && !m.s.InKit(h.Tool) {
		h.Input = pick(m, "good", "bad", "barred")
	}
	h.Stop = m.chance(deciding, 1, 8)
	m.breaks(&h)
	return h
}

// breaks has a hook fail now and then.
func (m *SystemMaker) breaks(h *Hook) {
	if m.plan.May.Has(BrokenHooks) && m.chance(failing, 1, 6) {
		h.Fails = pick(m, "error", "panic", "hang", "rubbish")
		if h.Event == "PreToolUse" {
			h.OnFailure = pick(m, "", "allow", "ask", "deny")
		} else if h.Event != "PermissionDenied" {
			h.OnFailure = pick(m, "", "", "allow", "deny")
		}
	}
}

func (m *SystemMaker) behind() Hook {
	h := Hook{Event: pick(m, "PostToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied"), Tool: m.matched(), Stop: m.odds(1, 10)}
	h.Output = h.Event != "PermissionDenied" && m.odds(1, 2)
	m.breaks(&h)
	return h
}

// message are the calls of one message, so deep in sub-agents.
func (m *SystemMaker) message(n, depth int) []Call {
	var all []Call
	at := time.Duration(0)
	for range n {
		at += m.span(4)
		m.ids++
		c := Call{ID: m.id(), At: at, For: m.span(12), Bad: m.odds(1, 4)}
		switch main := depth == 0; {
		case m.chance(deferral, 1, 5):
			c.Tool, c.Bad, c.Query = "ToolSearch", false, m.query()
		case len(m.s.Kit) > 0 && m.odds(1, 2):
			m.other(&c)
		case m.chance(files, 1, 2):
			c.Tool, c.Bad = pick(m, "Read", "Write", "Edit"), false
			c.Path = pick(m, "/repo/a.go", "/repo/b.go", "/repo/docs/index.md", "/repo/new.txt")
		case m.starts(depth) && m.chance(agents, 1, 3):
			m.agent(&c, depth)
		case main && m.chance(rules|rewriting, 1, 3):
			c.Tool, c.Path = "Write", fmt.Sprintf("/repo/%s/%s.txt", pick(m, "a", "barred", "free"), c.ID)
		case m.serversFail() && m.odds(1, 2):
			c.Tool, c.Bad = pick(m, m.callable()...), false
		default:
			c.Tool = pick(m, m.names()...)
		}
		m.answer(&c)
		all = append(all, c)
	}
	return all
}

// starts reports whether a conversation so deep may start agents; some try where they may not.
func (m *SystemMaker) starts(depth int) bool {
	return depth < max(1, m.s.Depth) && (depth == 0 || !m.s.Forks) || m.chance(nesting, 1, 4)
}

// agent makes a call of Agent with what the sub-agent calls.
func (m *SystemMaker) agent(c *Call, depth int) {
	c.Tool, c.Bad, c.For = "Agent", false, 0
	if c.Background = m.chance(kits, 1, 2); c.Background {
		m.made["jobs"]++
		if m.odds(2, 3) {
			c.Name = pick(m, "ann", "bob", "cleo", "main")
			m.agents = append(m.agents, c.Name)
		}
	}
	if depth < 3 {
		c.Inside = m.message(1+m.rng.IntN(3), depth+1)
	}
}

// open makes the messages that the conversation begins with.
func (m *SystemMaker) open() {
	for _, steps := range m.opening {
		var t Turn
		for _, is := range steps {
			m.ids++
			c := Call{ID: m.id(), Tool: is.Tool, For: m.span(4)}
			switch is.Tool {
			case "Read":
				c.Path = is.Of
			case "Agent":
				c.Background, c.Name, c.For = true, is.Of, 0
				c.Inside = m.message(1+m.rng.IntN(2), 1)
				m.made["jobs"]++
				m.agents = append(m.agents, is.Of)
			default:
				c.Input = strings.ReplaceAll(string(is.Input), "%s", c.ID)
			}
			t.Calls = append(t.Calls, c)
		}
		m.s.Turns = append(m.s.Turns, t)
	}
	m.made["tasks"] += 2
	m.made["crons"] += 2
	m.made["jobs"]++
}

// other makes a call of one of the other built-ins.
func (m *SystemMaker) other(c *Call) {
	c.Tool = pick(m, m.s.Kit...)
	if c.Bad = m.odds(1, 8); c.Bad {
		return
	}
	raw, _ := json.Marshal(m.input(c.Tool)) // numbers and texts have a form
	c.Input = string(raw)
}

func (m *SystemMaker) answer(c *Call) {
	c.Answer = pick(m, "", "", "no")
	if c.Tool == "Write" && m.s.Rewritable(c) && m.odds(1, 3) { // the way around a rule
		c.Answer = "barred"
		return
	}
	if m.chance(rewriting, 1, 2) && m.s.Rewritable(c) {
		c.Answer = pick(m, "good", "bad", "barred", "barred")
	}
}

func (m *SystemMaker) query() string {
	names := append(append(m.names(), m.s.Kit...), "Read", "Nope")
	if m.odds(1, 4) {
		return pick(m, "forecast", "alpha", "status of files", "mcp__git", "+beta tool")
	}
	m.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return "select:" + strings.Join(names[:1+m.rng.IntN(2)], ",")
}
