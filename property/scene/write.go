package scene

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/property/lines"
)

// How a scene is written in another order: the same world, other arrivals (D3).
type order bool

const (
	asIs      order = false
	backwards order = true
)

// Scenario writes a scene as a scenario's file; name and about head it. What the
// reference foretells is expected there.
func (s *Scene) Scenario(name, about string) string {
	return s.write(name, about, asIs, true)
}

func (s *Scene) write(name, about string, o order, expect bool) string {
	w := &writer{}
	w.Line(0, "name: %s", name)
	w.Line(0, "about: %s", lines.Quoted(about))
	w.Line(0, "tags: [faults]")
	w.world(s, o)
	w.Line(0, "prompt: %s", mainPrompt)
	w.hooks(s)
	w.people(s)
	w.stream(s)
	w.List(0, "faults", eachQuoted(s.Faults))
	w.Line(0, "policy: %s", s.Policy)
	if expect {
		w.expect(s)
	} else {
		w.Line(0, "expect: {}")
	}
	return w.String()
}

// eachQuoted are texts, each as YAML on one line.
func eachQuoted(all []string) []string {
	var out []string
	for _, text := range all {
		out = append(out, lines.Quoted(text))
	}
	return out
}

type writer struct{ lines.Writer }

func (w *writer) world(s *Scene, o order) {
	w.Line(0, "world:")
	w.Line(1, "only: [%s]", strings.Join(builtins, ", "))
	w.Line(1, "tree: trees/webapp.txtar")
	if s.Search != "" {
		w.Line(1, `settings: {ENABLE_TOOL_SEARCH: "%s"}`, s.Search)
	}
	if s.Style != "" {
		w.Line(1, "style: %s", s.Style)
	}
	if s.Small {
		w.Line(1, "model: claude-2-0")
	}
	if s.Retries > 0 {
		w.Line(1, "retries: %d", s.Retries)
	}
	if s.Idle > 0 {
		w.Line(1, "stream_idle: %s", s.Idle)
	}
	p := lines.Members{}
	p.Add(s.Mode != "", "mode: %s", s.Mode)
	p.Add(len(s.Allow) > 0, "allow: %s", lines.Quoted(s.Allow))
	p.Add(len(s.Ask) > 0, "ask: %s", lines.Quoted(s.Ask))
	p.Add(len(s.Deny) > 0, "deny: %s", lines.Quoted(s.Deny))
	w.Line(1, "permissions: %s", p)
	if len(s.Known) > 0 {
		w.Line(1, "history:")
		w.Line(2, "- {role: user, text: %s, discovered: %s}", mainPrompt, lines.Quoted(s.Known))
		w.Line(2, "- {role: assistant, text: Hello.}")
	}
	var tools, servers []string
	for i := range s.Tools {
		tools = append(tools, s.Tools[i].line())
	}
	for _, v := range s.Servers {
		m := lines.Members{catalogues[v.Name]}
		m.Add(v.From > 0, "from_turn: %d", v.From)
		m.Add(v.Until > 0, "until_turn: %d", v.Until)
		m.Add(v.Connect == "refused", "faults: [{connect: 1, refused: true}]")
		m.Add(v.Connect == "fails" || v.Connect == "hangs", "faults: [{connect: 1, list: %s}]", v.Connect)
		if v.Relist > 0 {
			list := lines.Members{fmt.Sprintf("turn: %d", v.Relist)}
			list.Add(len(v.Without) > 0, "without: %s", lines.Quoted(v.Without))
			list.Add(v.List != "", "list: %s", v.List)
			m.Add(true, "lists: [%s]", list)
		}
		m.Add(o == backwards, "reverse: true")
		servers = append(servers, m.String())
	}
	if o == backwards {
		slices.Reverse(tools)
		slices.Reverse(servers)
	}
	w.List(1, "mcp", servers)
	w.List(1, "tools", tools)
}

const schema = `{type: object, required: [n], properties: {n: {type: integer}}, additionalProperties: false}`

func (t *Tool) line() string {
	m := lines.Members{"name: " + t.Name}
	m.Add(t.Safe, "safe: true")
	m.Add(t.ReadOnly, "read_only: true")
	m.Add(t.Deferrable, "deferrable: true")
	m.Add(t.Always, "always: true")
	m.Add(t.Fails, "failed: true")
	m.Add(t.Stops, "stops_siblings: true")
	m.Add(t.Notes, `set_env: {NOTES: "$old %s"}`, t.Name)
	m.Add(t.Limit > 0, "result_chars: %d", t.Limit)
	m.Add(t.Timeout > 0, "timeout: %s", t.Timeout)
	if t.Chars > 0 {
		m.Add(true, "answer: x, repeat: %d", t.Chars)
	} else {
		m.Add(true, `answer: "$input"`)
	}
	m.Add(true, "interrupt: cancel")
	m.Add(true, "schema: %s", schema)
	return m.String()
}

func (w *writer) hooks(s *Scene) {
	var items []string
	for i := range s.Hooks {
		h := &s.Hooks[i]
		m := lines.Members{"name: " + hookName(i), "event: " + h.Event}
		m.Add(h.Tool != "", "matcher: %s", h.Tool)
		m.Add(h.OnFailure != "", "on_failure: %s", h.OnFailure)
		if h.Fails == "rubbish" {
			m.Add(true, "command: echo I am no hook")
			items = append(items, m.String())
			continue
		}
		m.Add(h.Says != "", "decision: %s", h.Says)
		if h.Input != "" {
			c := &Call{Tool: h.Tool, ID: hookName(i)}
			m.Add(true, "input: %s", s.text(c, s.byHook(c, i)))
		}
		m.Add(h.Output, "output: output of %s", hookName(i))
		m.Add(h.Stop, "stop: true, reason: enough")
		m.Add(h.Fails != "", "fails: %s", h.Fails)
		items = append(items, m.String())
	}
	w.List(0, "hooks", items)
}

func (w *writer) people(s *Scene) {
	var permits, says []string
	if s.Person {
		s.each(func(c *Call, _ int, _ *Call) {
			m := lines.Members{"call: " + c.ID}
			m.Add(true, "allow: %t", c.Person != "no")
			if slices.Contains([]string{"good", "bad", "barred"}, c.Person) {
				m.Add(true, "input: %s", s.text(c, s.byPerson(c)))
			}
			for range 1 + len(s.Faults) { // the question comes again when a stream is tried again
				permits = append(permits, m.String())
			}
		})
	}
	for i, at := range s.Says {
		says = append(says, fmt.Sprintf("{at: %s, text: Message %d.}", at, i+1))
	}
	if len(permits)+len(says) > 0 {
		w.Line(0, "user:")
		w.List(1, "permits", permits)
		w.List(1, "says", says)
	}
}

func (w *writer) stream(s *Scene) {
	w.Line(0, "stream:")
	w.Line(1, "turns:")
	var durations []string
	for _, t := range s.Turns {
		w.turn(s, mainPrompt, t.Calls)
	}
	// Whatever is asked beyond the script has an answer.
	w.Line(2, "- {for: %s, text: Done., repeat: %d}", mainPrompt, len(s.Says)+1)
	agents := 0
	s.each(func(c *Call, _ int, _ *Call) {
		if c.For > 0 {
			durations = append(durations, c.ID+": "+c.For.String())
		}
		if c.Tool == "Agent" {
			if len(c.Inside) > 0 {
				w.turn(s, prompt(c), c.Inside)
			}
			w.Line(2, "- {for: %s, text: Done., repeat: 3}", prompt(c))
			agents++
		}
	})
	if agents > 0 && len(s.Faults) > 0 { // a sub-agent's prompt may come garbled
		w.Line(2, "- {text: Done., repeat: %d}", 4*agents)
	}
	if len(durations) > 0 {
		w.Line(0, "durations: {%s}", strings.Join(durations, ", "))
	}
}

func (w *writer) turn(s *Scene, by string, calls []Call) {
	m := lines.Members{}
	m.Add(by != "", "for: %s, ", by)
	w.Line(2, "- %scalls:", strings.ReplaceAll(strings.Join(m, ""), ", ", "\n      "))
	for i := range calls {
		c := &calls[i]
		line := lines.Members{"id: " + c.ID, "tool: " + c.Tool}
		line.Add(true, "input: %s", s.text(c, input{n: number(c.ID), path: c.Path, bad: c.Bad}))
		line.Add(c.At > 0, "at: %s", c.At.Round(time.Millisecond))
		w.Line(4, "- %s", line)
	}
}

// expect says what the reference foretells: of scenes that nothing stops from outside,
// how the main conversation's calls end, as long as no hook may have ended it.
func (w *writer) expect(s *Scene) {
	var results, broken []string
	last := len(s.Turns)
	s.each(func(c *Call, turn int, parent *Call) {
		f := s.foretell(c, turn, fate{status: s.ends(c)})
		if f.ends || f.status == nil && slices.ContainsFunc(s.Hooks, func(h Hook) bool { return h.Stop }) {
			last = min(last, turn)
		}
		sure := len(f.status) == 1 && (c.Path == "" || s.own(c)) && turn <= last
		if sure && s.undisturbed() && parent == nil && !s.streams() && !s.shaky() {
			results = append(results, c.ID+": "+f.status[0])
		}
		if f.broken || f.refused {
			broken = append(broken, c.ID)
		}
	})
	w.Line(0, "expect:")
	if s.streams() && s.endsBadly() {
		w.Line(1, "outcome: turn")
	}
	if len(results) > 0 {
		w.Line(1, "results: {%s}", strings.Join(results, ", "))
	}
	w.Line(1, "not_started: [%s]", strings.Join(broken, ", "))
}
