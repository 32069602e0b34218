package generate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/fault"
)

// Order is the order of tools and servers in a scenario (D3).
type Order bool

const (
	// InOrder is the order in which the case has them.
	InOrder Order = false
	// Reversed is the other way round.
	Reversed Order = true
)

// Expected is what a scenario of a system case expects of it.
type Expected struct {
	// Breaks: the conversation ends in an error, since its retries are used up.
	Breaks bool
	// Results are how calls end, each as "id: status"; NotStarted are the calls that
	// must not run.
	Results, NotStarted []string
}

// SystemScenario writes a system case as a scenario's file; name and about head it. A
// nil expect expects nothing.
func SystemScenario(s *SystemCase, name, about string, o Order, expect *Expected) string {
	w := &systemWriter{}
	w.Line(0, "name: %s", name)
	w.Line(0, "about: %s", Quoted(about))
	w.Line(0, "tags: [faults]")
	w.world(s, o)
	w.Line(0, "prompt: %s", mainPrompt)
	w.hooks(s)
	w.people(s)
	w.stream(s)
	w.List(0, "faults", eachQuoted(s.effectiveFaults()))
	w.Line(0, "policy: %s", s.Policy)
	w.expect(expect)
	return w.String()
}

// effectiveFaults are the faults without those of calls that are not made, which a
// scenario may not name.
func (s *SystemCase) effectiveFaults() []string {
	made := map[string]bool{"": true}
	s.Each(func(c *Call, _ int, _ *Call) { made[c.ID] = true })
	return slices.DeleteFunc(slices.Clone(s.Faults), func(line string) bool {
		f, err := fault.Parse(line)
		return err == nil && !made[f.Call]
	})
}

// effectiveRules are rules without those of tools that the case does not have, which a
// scenario may not name.
func (s *SystemCase) effectiveRules(rules []string) []string {
	called := map[string]bool{}
	s.Each(func(c *Call, _ int, _ *Call) { called[c.Tool] = true })
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool {
		tool, _, _ := strings.Cut(rule, "(")
		served := slices.ContainsFunc(s.Servers, func(v Server) bool { return strings.HasPrefix(tool+"__", "mcp__"+v.Name+"__") })
		return !served && !called[tool] && !slices.Contains(Builtins, tool) && s.Tool(tool) == nil
	})
}

// eachQuoted are texts, each as YAML on one line.
func eachQuoted(all []string) []string {
	var out []string
	for _, text := range all {
		out = append(out, Quoted(text))
	}
	return out
}

type systemWriter struct{ Writer }

func (w *systemWriter) world(s *SystemCase, o Order) {
	w.Line(0, "world:")
	w.Line(1, "only: [%s]", strings.Join(Builtins, ", "))
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
	p := Members{}
	p.Add(s.Mode != "", "mode: %s", s.Mode)
	for _, list := range []struct {
		key   string
		rules []string
	}{{"allow", s.Allow}, {"ask", s.Ask}, {"deny", s.Deny}} {
		if rules := s.effectiveRules(list.rules); len(rules) > 0 {
			p.Add(true, "%s: %s", list.key, Quoted(rules))
		}
	}
	w.Line(1, "permissions: %s", p)
	if len(s.Discovered) > 0 {
		w.Line(1, "history:")
		w.Line(2, "- {role: user, text: %s, discovered: %s}", mainPrompt, Quoted(s.Discovered))
		w.Line(2, "- {role: assistant, text: Hello.}")
	}
	var tools, servers []string
	for i := range s.Tools {
		tools = append(tools, s.Tools[i].line())
	}
	for _, v := range s.Servers {
		m := Members{catalogues[v.Name]}
		m.Add(v.From > 0, "from_turn: %d", v.From)
		m.Add(v.Until > 0, "until_turn: %d", v.Until)
		m.Add(v.Connect == "refused", "faults: [{connect: 1, refused: true}]")
		m.Add(v.Connect == "fails" || v.Connect == "hangs", "faults: [{connect: 1, list: %s}]", v.Connect)
		if v.Relist > 0 {
			list := Members{fmt.Sprintf("turn: %d", v.Relist)}
			list.Add(len(v.Without) > 0, "without: %s", Quoted(v.Without))
			list.Add(v.List != "", "list: %s", v.List)
			m.Add(true, "lists: [%s]", list)
		}
		m.Add(o == Reversed, "reverse: true")
		servers = append(servers, m.String())
	}
	if o == Reversed {
		slices.Reverse(tools)
		slices.Reverse(servers)
	}
	w.List(1, "mcp", servers)
	w.List(1, "tools", tools)
}

const schema = `{type: object, required: [n], properties: {n: {type: integer}}, additionalProperties: false}`

func (t *Tool) line() string {
	m := Members{"name: " + t.Name}
	m.Add(t.Safe, "safe: true")
	m.Add(t.ReadOnly, "read_only: true")
	m.Add(t.Deferrable, "deferrable: true")
	m.Add(t.Always, "always: true")
	m.Add(t.Fails, "failed: true")
	m.Add(t.Stops, "stops_siblings: true")
	m.Add(t.WritesEnv, `set_env: {NOTES: "$old %s"}`, t.Name)
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

func (w *systemWriter) hooks(s *SystemCase) {
	var items []string
	for i := range s.Hooks {
		h := &s.Hooks[i]
		m := Members{"name: " + HookName(i), "event: " + h.Event}
		m.Add(h.Tool != "", "matcher: %s", h.Tool)
		m.Add(h.OnFailure != "", "on_failure: %s", h.OnFailure)
		if h.Fails == "rubbish" {
			m.Add(true, "command: echo I am no hook")
			items = append(items, m.String())
			continue
		}
		m.Add(h.Decision != "", "decision: %s", h.Decision)
		if h.Input != "" {
			c := &Call{Tool: h.Tool, ID: HookName(i)}
			m.Add(true, "input: %s", s.InputText(c, s.InputByHook(c, i)))
		}
		m.Add(h.Output, "output: output of %s", HookName(i))
		m.Add(h.Stop, "stop: true, reason: enough")
		m.Add(h.Fails != "", "fails: %s", h.Fails)
		items = append(items, m.String())
	}
	w.List(0, "hooks", items)
}

func (w *systemWriter) people(s *SystemCase) {
	var permits, interrupts []string
	if s.Person {
		s.Each(func(c *Call, _ int, _ *Call) {
			m := Members{"call: " + c.ID}
			m.Add(true, "allow: %t", c.Answer != "no")
			if slices.Contains([]string{"good", "bad", "barred"}, c.Answer) {
				m.Add(true, "input: %s", s.InputText(c, s.InputByPerson(c)))
			}
			for range 1 + len(s.Faults) { // the question comes again when a stream is tried again
				permits = append(permits, m.String())
			}
		})
	}
	for i, at := range s.Interrupts {
		interrupts = append(interrupts, fmt.Sprintf("{at: %s, text: Message %d.}", at, i+1))
	}
	if len(permits)+len(interrupts) > 0 {
		w.Line(0, "user:")
		w.List(1, "permits", permits)
		w.List(1, "says", interrupts)
	}
}

func (w *systemWriter) stream(s *SystemCase) {
	w.Line(0, "stream:")
	w.Line(1, "turns:")
	var durations []string
	for _, t := range s.Turns {
		w.turn(s, mainPrompt, t.Calls)
	}
	// Whatever is asked beyond the script has an answer.
	w.Line(2, "- {for: %s, text: Done., repeat: %d}", mainPrompt, len(s.Interrupts)+1)
	agents := 0
	s.Each(func(c *Call, _ int, _ *Call) {
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

func (w *systemWriter) turn(s *SystemCase, by string, calls []Call) {
	m := Members{}
	m.Add(by != "", "for: %s, ", by)
	w.Line(2, "- %scalls:", strings.ReplaceAll(strings.Join(m, ""), ", ", "\n      "))
	for i := range calls {
		c := &calls[i]
		line := Members{"id: " + c.ID, "tool: " + c.Tool}
		line.Add(true, "input: %s", s.InputText(c, Input{N: CallNumber(c.ID), Path: c.Path, Bad: c.Bad}))
		line.Add(c.At > 0, "at: %s", c.At.Round(time.Millisecond))
		w.Line(4, "- %s", line)
	}
}

func (w *systemWriter) expect(e *Expected) {
	if e == nil {
		return
	}
	w.Line(0, "expect:")
	if e.Breaks {
		w.Line(1, "outcome: turn")
	}
	if len(e.Results) > 0 {
		w.Line(1, "results: {%s}", strings.Join(e.Results, ", "))
	}
	w.Line(1, "not_started: [%s]", strings.Join(e.NotStarted, ", "))
}

// Writer takes the lines of a document; String gives it.
type Writer struct{ strings.Builder }

// Line writes one line, so many levels in.
func (w *Writer) Line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
}

// List writes a key with items below it, or nothing if there are none.
func (w *Writer) List(indent int, key string, items []string) {
	if len(items) == 0 {
		return
	}
	w.Line(indent, "%s:", key)
	for _, item := range items {
		w.Line(indent+1, "- %s", item)
	}
}

// Members are those of a mapping on one line.
type Members []string

// Add adds one if it is there.
func (m *Members) Add(is bool, format string, args ...any) {
	if is {
		*m = append(*m, fmt.Sprintf(format, args...))
	}
}

// String gives the mapping.
func (m Members) String() string { return "{" + strings.Join(m, ", ") + "}" }

// Quoted is a text, or texts, as YAML on one line.
func Quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts have a form
	}
	return string(raw)
}
