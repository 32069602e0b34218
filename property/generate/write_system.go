package generate

import (
	_ "embed" // the pages of the simulated web
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/property/des"
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
	// Error is that in which the conversation ends, "" where it ends without.
	Error string
	// Results are how calls end, each as "id: status"; NotStarted are the calls that must not run.
	Results, NotStarted []string
}

// SystemScenario writes a system case as a scenario's file; name and about head it. A nil expect expects nothing.
func SystemScenario(s *SystemCase, name, about string, o Order, expect *Expected) string {
	w := &systemWriter{}
	w.keys(0, "name", name, "about", about, "tags", []string{"faults"})
	w.world(s, o)
	w.keys(0, "prompt", mainPrompt)
	w.list(0, "hooks", s.hookLines())
	w.user(s.permitLines(), s.answerLines(), s.Interrupts)
	w.stream(s)
	made := map[string]bool{"": true} // a scenario may not name other calls
	s.Each(func(c *Call, _ int, _ *Call) { made[c.ID] = true })
	faults := slices.DeleteFunc(slices.Clone(s.Faults), func(f des.Fault) bool { return !made[f.Call] })
	w.list(0, "faults", faultLines(faults))
	w.keys(0, "policy", s.Policy)
	w.expect(expect)
	return w.String()
}

// effectiveRules are rules without those of tools that the case does not have, which a scenario may not name.
func (s *SystemCase) effectiveRules(rules []string) []string {
	called := map[string]bool{}
	s.Each(func(c *Call, _ int, _ *Call) { called[c.Tool] = true })
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool {
		tool, _, _ := strings.Cut(rule, "(")
		served := slices.ContainsFunc(s.Servers, func(v Server) bool { return strings.HasPrefix(tool+"__", "mcp__"+v.Name+"__") })
		return !served && !called[tool] && !slices.Contains(Builtins, tool) && !s.InKit(tool) && s.Tool(tool) == nil
	})
}

type systemWriter struct{ writer }

func (w *systemWriter) world(s *SystemCase, o Order) {
	model := ""
	if s.Small {
		model = "claude-2-0"
	}
	w.line(0, "world:")
	w.keys(1, "only", slices.Concat(Builtins, s.Kit), "tree", "trees/webapp.txtar", "settings", s.settingsLine(), "style", s.Style, "model", model,
		"retries", s.Retries, "stream_idle", s.Idle, "agent_depth", s.Depth, "stay", s.Stay, "max_turns", s.maxTurns(),
		"permissions", flow(mapping("mode", s.Mode, "allow", s.effectiveRules(s.Allow), "ask", s.effectiveRules(s.Ask), "deny", s.effectiveRules(s.Deny))))
	if len(s.Discovered) > 0 {
		w.list(1, "history", []string{
			mapping("role", "user", "text", mainPrompt, "discovered", s.Discovered), mapping("role", "assistant", "text", "Hello."),
		})
	}
	w.surroundings(s)
	var tools, servers []string
	for i := range s.Tools {
		tools = append(tools, s.Tools[i].line())
	}
	for i := range s.Servers {
		servers = append(servers, s.Servers[i].line(o, s.resources()))
	}
	if o == Reversed {
		slices.Reverse(tools)
		slices.Reverse(servers)
	}
	w.list(1, "mcp", servers)
	w.list(1, "tools", tools)
}

func (v *Server) line(o Order, resources flow) string {
	where := catalogues[v.Name]
	var faults, lists flow
	switch v.Connect {
	case "":
	case "refused":
		faults = "[{connect: 1, refused: true}]"
	default:
		faults = flow("[{connect: 1, list: " + v.Connect + "}]")
	}
	if v.Relist > 0 {
		lists = flow("[" + mapping("turn", v.Relist, "without", v.Without, "list", v.List) + "]")
	}
	return mapping("catalogue", where.file, "only", where.only, "from_turn", v.From, "until_turn", v.Until,
		"faults", faults, "lists", lists, "resources", resources, "reverse", o == Reversed)
}

const schema flow = `{type: object, required: [n], properties: {n: {type: integer}}, additionalProperties: false}`

func (t *Tool) line() string {
	answer, env := "$input", flow("")
	if t.Chars > 0 {
		answer = "x"
	}
	if t.WritesEnv {
		env = flow(fmt.Sprintf(`{NOTES: "$old %s"}`, t.Name))
	}
	return mapping("name", t.Name, "safe", t.Safe, "read_only", t.ReadOnly, "deferrable", t.Deferrable, "always", t.Always,
		"failed", t.Fails, "stops_siblings", t.Stops, "set_env", env, "result_chars", t.Limit, "timeout", t.Timeout,
		"answer", answer, "repeat", t.Chars, "interrupt", "cancel", "schema", schema)
}

func (s *SystemCase) hookLines() (items []string) {
	for i := range s.Hooks {
		h := &s.Hooks[i]
		name := HookName(i)
		if h.Fails == "rubbish" {
			items = append(items, mapping("name", name, "event", h.Event, "matcher", h.Tool, "on_failure", h.OnFailure, "command", "echo I am no hook"))
			continue
		}
		var input flow
		output, reason := "", ""
		if h.Input != "" {
			input = flow(s.InputText(&Call{Tool: h.Tool, ID: name}, s.InputByHook(&Call{Tool: h.Tool, ID: name}, i)))
		}
		if h.Output {
			output = "output of " + name
		}
		if h.Stop {
			reason = "enough"
		}
		items = append(items, mapping("name", name, "event", h.Event, "matcher", h.Tool, "on_failure", h.OnFailure, "decision", h.Decision,
			"input", input, "output", output, "stop", h.Stop, "reason", reason, "fails", h.Fails))
	}
	return items
}

func (s *SystemCase) permitLines() (permits []string) {
	if !s.Person {
		return nil
	}
	s.Each(func(c *Call, _ int, _ *Call) {
		var input flow
		if slices.Contains([]string{"good", "bad", "barred"}, c.Answer) {
			input = flow(s.InputText(c, s.InputByPerson(c)))
		}
		for range 1 + len(s.Faults) { // the question comes again when a stream is tried again
			permits = append(permits, mapping("call", c.ID, "allow", flow(fmt.Sprint(c.Answer != "no")), "input", input))
		}
	})
	return permits
}

func (w *systemWriter) stream(s *SystemCase) {
	w.line(0, "stream:")
	w.line(1, "turns:")
	for _, t := range s.Turns {
		w.turn(s, mainPrompt, t.Calls)
	}
	// Whatever is asked beyond the script has an answer.
	w.line(2, "- {for: %s, text: Done., repeat: %d}", mainPrompt, len(s.Interrupts)+1+s.maxTurns())
	agents := 0
	var durations []string
	s.Each(func(c *Call, _ int, _ *Call) {
		durations = append(durations, members([]any{c.ID, c.For})...)
		if c.Tool == "Agent" || s.InKit(c.Tool) && slices.Contains([]string{"VerifyPlanExecution", "SuggestBackgroundPR"}, c.Tool) {
			if len(c.Inside) > 0 {
				w.turn(s, prompt(c), c.Inside)
			}
			last := "Done."
			if c.Tool == "VerifyPlanExecution" {
				last = "Looked.\n\n**VERDICT: partly**"
			}
			w.line(2, "- {for: %s, text: %q, repeat: %d}", prompt(c), last, 3+s.maxTurns())
			agents++
		}
	})
	if agents > 0 && len(s.Faults) > 0 { // a sub-agent's prompt may come garbled
		w.line(2, "- {text: Done., repeat: %d}", 4*agents)
	}
	w.keys(0, "durations", inBraces(durations))
}

func (w *systemWriter) turn(s *SystemCase, by string, calls []Call) {
	w.line(2, "- for: %s", by)
	if CallNumber(calls[0].ID)%3 == 0 {
		w.line(3, `text: " "`) // a model may write it, and no API takes it back
	}
	w.line(3, "calls:")
	for i := range calls {
		c := &calls[i]
		input := s.InputText(c, Input{N: CallNumber(c.ID), Path: c.Path, Bad: c.Bad})
		w.line(4, "- %s", mapping("id", c.ID, "tool", c.Tool, "input", flow(input), "at", c.At.Round(time.Millisecond)))
	}
}

func (w *systemWriter) expect(e *Expected) {
	if e == nil || e.Error == "" && len(e.Results)+len(e.NotStarted) == 0 {
		return
	}
	w.line(0, "expect:")
	w.keys(1, "outcome", e.Error, "results", inBraces(e.Results), "not_started", e.NotStarted)
}

// settingsLine are the variables of the case's settings.
func (s *SystemCase) settingsLine() flow {
	values := s.settings()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+": "+strconv.Quote(values[name]))
	}
	return inBraces(all)
}

//go:embed pages.txt
var pages string // by tool and address

// addPages adds what a tool finds in the web.
func addPages(web map[string]string, tool string) {
	for line := range strings.Lines(pages) {
		if page, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), tool+"\t"); is {
			address, text, _ := strings.Cut(page, "\t")
			web[address] = text
		}
	}
}

// surroundings are what the kit's tools work with outside of the conversation.
func (w *systemWriter) surroundings(s *SystemCase) {
	web, files := map[string]string{}, map[string]string{}
	for _, name := range s.Kit {
		addPages(web, name)
		maps.Copy(files, kitTables().Kit[name].Files)
	}
	if len(files) > 0 {
		w.line(1, "files:")
		for _, path := range slices.Sorted(maps.Keys(files)) {
			w.line(2, "%s: %s", path, strconv.Quote(files[path]))
		}
	}
	if len(web) > 0 {
		w.line(1, "web:")
		for _, address := range slices.Sorted(maps.Keys(web)) {
			w.line(2, "%q: %s", address, web[address])
		}
	}
	if s.InKit("WebBrowser") {
		w.line(1, `browser: {values: {document.title: '"Shop"'}}`)
	}
	if s.InKit("PushNotification") {
		w.keys(1, "push", "https://ntfy.example/my-topic")
	}
	if s.InKit("SyntheticOutput") {
		w.line(1, "output: {type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}")
	}
	if s.InKit("LSP") {
		w.line(1, "languages:")
		w.line(2, "- {name: go, extensions: [.go], ends: textDocument/implementation, answers: {%s}}", strings.Join([]string{
			`textDocument/definition: {uri: "file:///repo/b.go", range: {start: {line: 0, character: 0}, end: {line: 0, character: 3}}}`,
			`textDocument/hover: {contents: {kind: markdown, value: func greet()}}`,
		}, ", "))
		w.line(2, "- {name: python, extensions: [.py], refused: true}")
	}
}

// resources are what servers have to be read.
func (s *SystemCase) resources() flow {
	if !s.InKit("ReadMcpResource") {
		return ""
	}
	return `{"note:one": One.}`
}

// maxTurns bounds a conversation that jobs wake again and again; 0 leaves the bound that all have.
func (s *SystemCase) maxTurns() int {
	if !s.Lively() {
		return 0
	}
	return len(s.Turns) + len(s.Interrupts) + 8
}

// answerLines are the answers of the person to the questions of the model.
func (s *SystemCase) answerLines() (answers []string) {
	s.Each(func(c *Call, _ int, _ *Call) {
		choose := map[string]string{"AskUserQuestion": "Blue", "SuggestBackgroundPR": "Yes, in the background"}[c.Tool]
		if s.Person && choose != "" {
			for range 1 + len(s.Faults) { // the question comes again when a stream is tried again
				answers = append(answers, fmt.Sprintf("{choose: [%q], after: 2s}", choose))
			}
		}
	})
	return answers
}
