package scene

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
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
	w.line(0, "name: %s", name)
	w.line(0, "about: %s", quoted(about))
	w.line(0, "tags: [faults]")
	w.world(s, o)
	w.line(0, "prompt: %s", mainPrompt)
	w.hooks(s)
	w.people(s)
	w.stream(s)
	w.list(0, "faults", eachQuoted(s.Faults))
	w.line(0, "policy: %s", s.Policy)
	if expect {
		w.expect(s)
	} else {
		w.line(0, "expect: {}")
	}
	return w.String()
}

// eachQuoted are texts, each as YAML on one line.
func eachQuoted(all []string) []string {
	var out []string
	for _, text := range all {
		out = append(out, quoted(text))
	}
	return out
}

type writer struct{ strings.Builder }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
}

// list writes a key with lines below it, or nothing if there are none.
func (w *writer) list(indent int, key string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.line(indent, "%s:", key)
	for _, l := range lines {
		w.line(indent+1, "- %s", l)
	}
}

// members are those of a mapping on one line.
type members []string

func (m *members) add(is bool, format string, args ...any) {
	if is {
		*m = append(*m, fmt.Sprintf(format, args...))
	}
}

func (m members) String() string { return "{" + strings.Join(m, ", ") + "}" }

// quoted is a text, or texts, as YAML on one line.
func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts have a form
	}
	return string(raw)
}

func (w *writer) world(s *Scene, o order) {
	w.line(0, "world:")
	w.line(1, "only: [%s]", strings.Join(builtins, ", "))
	w.line(1, "tree: trees/webapp.txtar")
	if s.Search != "" {
		w.line(1, `settings: {ENABLE_TOOL_SEARCH: "%s"}`, s.Search)
	}
	if s.Style != "" {
		w.line(1, "style: %s", s.Style)
	}
	if s.Small {
		w.line(1, "model: claude-2-0")
	}
	if s.Retries > 0 {
		w.line(1, "retries: %d", s.Retries)
	}
	if s.Idle > 0 {
		w.line(1, "stream_idle: %s", s.Idle)
	}
	p := members{}
	p.add(s.Mode != "", "mode: %s", s.Mode)
	p.add(len(s.Allow) > 0, "allow: %s", quoted(s.Allow))
	p.add(len(s.Ask) > 0, "ask: %s", quoted(s.Ask))
	p.add(len(s.Deny) > 0, "deny: %s", quoted(s.Deny))
	w.line(1, "permissions: %s", p)
	if len(s.Known) > 0 {
		w.line(1, "history:")
		w.line(2, "- {role: user, text: %s, discovered: %s}", mainPrompt, quoted(s.Known))
		w.line(2, "- {role: assistant, text: Hello.}")
	}
	var tools, servers []string
	for i := range s.Tools {
		tools = append(tools, s.Tools[i].line())
	}
	for _, v := range s.Servers {
		m := members{catalogues[v.Name]}
		m.add(v.From > 0, "from_turn: %d", v.From)
		m.add(v.Until > 0, "until_turn: %d", v.Until)
		m.add(v.Connect == "refused", "faults: [{connect: 1, refused: true}]")
		m.add(v.Connect == "fails" || v.Connect == "hangs", "faults: [{connect: 1, list: %s}]", v.Connect)
		if v.Relist > 0 {
			list := members{fmt.Sprintf("turn: %d", v.Relist)}
			list.add(len(v.Without) > 0, "without: %s", quoted(v.Without))
			list.add(v.List != "", "list: %s", v.List)
			m.add(true, "lists: [%s]", list)
		}
		m.add(o == backwards, "reverse: true")
		servers = append(servers, m.String())
	}
	if o == backwards {
		slices.Reverse(tools)
		slices.Reverse(servers)
	}
	w.list(1, "mcp", servers)
	w.list(1, "tools", tools)
}

const schema = `{type: object, required: [n], properties: {n: {type: integer}}, additionalProperties: false}`

func (t *Tool) line() string {
	m := members{"name: " + t.Name}
	m.add(t.Safe, "safe: true")
	m.add(t.ReadOnly, "read_only: true")
	m.add(t.Deferrable, "deferrable: true")
	m.add(t.Always, "always: true")
	m.add(t.Fails, "failed: true")
	m.add(t.Stops, "stops_siblings: true")
	m.add(t.Notes, `set_env: {NOTES: "$old %s"}`, t.Name)
	m.add(t.Limit > 0, "result_chars: %d", t.Limit)
	m.add(t.Timeout > 0, "timeout: %s", t.Timeout)
	if t.Chars > 0 {
		m.add(true, "answer: x, repeat: %d", t.Chars)
	} else {
		m.add(true, `answer: "$input"`)
	}
	m.add(true, "interrupt: cancel")
	m.add(true, "schema: %s", schema)
	return m.String()
}

func (w *writer) hooks(s *Scene) {
	var lines []string
	for i := range s.Hooks {
		h := &s.Hooks[i]
		m := members{"name: " + hookName(i), "event: " + h.Event}
		m.add(h.Tool != "", "matcher: %s", h.Tool)
		if h.Fails == "rubbish" {
			m.add(true, "command: echo I am no hook")
			lines = append(lines, m.String())
			continue
		}
		m.add(h.Says != "", "decision: %s", h.Says)
		if h.Input != "" {
			c := &Call{Tool: h.Tool, ID: hookName(i)}
			m.add(true, "input: %s", s.text(c, s.byHook(c, i)))
		}
		m.add(h.Output, "output: output of %s", hookName(i))
		m.add(h.Stop, "stop: true, reason: enough")
		m.add(h.Fails != "", "fails: %s", h.Fails)
		lines = append(lines, m.String())
	}
	w.list(0, "hooks", lines)
}

func (w *writer) people(s *Scene) {
	var permits, says []string
	if s.Person {
		s.each(func(c *Call, _ int, _ *Call) {
			m := members{"call: " + c.ID}
			m.add(true, "allow: %t", c.Person != "no")
			if slices.Contains([]string{"good", "bad", "barred"}, c.Person) {
				m.add(true, "input: %s", s.text(c, s.byPerson(c)))
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
		w.line(0, "user:")
		w.list(1, "permits", permits)
		w.list(1, "says", says)
	}
}

func (w *writer) stream(s *Scene) {
	w.line(0, "stream:")
	w.line(1, "turns:")
	var durations []string
	for _, t := range s.Turns {
		w.turn(s, mainPrompt, t.Calls)
	}
	// Whatever is asked beyond the script has an answer.
	w.line(2, "- {for: %s, text: Done., repeat: %d}", mainPrompt, len(s.Says)+1)
	agents := 0
	s.each(func(c *Call, _ int, _ *Call) {
		if c.For > 0 {
			durations = append(durations, c.ID+": "+c.For.String())
		}
		if c.Tool == "Agent" {
			if len(c.Inside) > 0 {
				w.turn(s, prompt(c), c.Inside)
			}
			w.line(2, "- {for: %s, text: Done., repeat: 3}", prompt(c))
			agents++
		}
	})
	if agents > 0 && len(s.Faults) > 0 { // a sub-agent's prompt may come garbled
		w.line(2, "- {text: Done., repeat: %d}", 4*agents)
	}
	if len(durations) > 0 {
		w.line(0, "durations: {%s}", strings.Join(durations, ", "))
	}
}

func (w *writer) turn(s *Scene, by string, calls []Call) {
	m := members{}
	m.add(by != "", "for: %s, ", by)
	w.line(2, "- %scalls:", strings.ReplaceAll(strings.Join(m, ""), ", ", "\n      "))
	for i := range calls {
		c := &calls[i]
		line := members{"id: " + c.ID, "tool: " + c.Tool}
		line.add(true, "input: %s", s.text(c, input{n: number(c.ID), path: c.Path, bad: c.Bad}))
		line.add(c.At > 0, "at: %s", c.At.Round(time.Millisecond))
		w.line(4, "- %s", line)
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
	w.line(0, "expect:")
	if s.streams() && s.endsBadly() {
		w.line(1, "outcome: turn")
	}
	if len(results) > 0 {
		w.line(1, "results: {%s}", strings.Join(results, ", "))
	}
	w.line(1, "not_started: [%s]", strings.Join(broken, ", "))
}
