package oracle

import (
	"slices"
	"strings"

	"toolbench/property/generate"
)

// Prediction is what must become of a call, if nothing stops it from outside.
type Prediction struct {
	// Status are the ways it may end; nil where that depends on what a file holds or on how a sub-agent fares.
	Status []string
	// BadInput: its input breaks the schema.
	BadInput bool
	// Hooks are those that run, each with its event, in order.
	Hooks []string
	// Input is what a tool of the case's own ran with, "" if it did not run.
	Input string
	// Output is the text a hook put in the place of the result; "" for none. Withheld:
	// it is the beginning of the text that a failed hook withholds the result with.
	Output   string
	Withheld bool
	// Rewritten: a hook or a person changed the input; Refused: this is why the call did
	// not run. EndsTurn: a hook stops the turn.
	Rewritten, Refused, EndsTurn bool
	// Unknown: nothing of its end is predicted.
	Unknown bool
	// Why is what decided.
	Why string
	// StopsTurn reports whether a hook, named with its event, would stop the turn.
	StopsTurn func(hook string) bool
}

// predictor is one call on its way through the reference.
type predictor struct {
	s             *generate.SystemCase
	c             *generate.Call
	input         generate.Input
	circumstances Circumstances
	Prediction
	decision string // of the hooks
}

// Predict is the reference: the way of one call, from the rows H1, F2 and G2, and from the circumstances that it met.
func Predict(s *generate.SystemCase, c *generate.Call, turn int, of Circumstances) Prediction {
	f := &predictor{s: s, c: c, circumstances: of, input: generate.Input{N: generate.CallNumber(c.ID), Path: c.Path, Bad: c.Bad}}
	f.StopsTurn = func(hook string) bool { return stopsTurn(s, hook) }
	p := f.call(turn)
	if of.Unknown || s.Unsettled() || s.InKit(c.Tool) {
		return Prediction{Unknown: true, BadInput: c.Bad, StopsTurn: f.StopsTurn, Why: "its circumstances are unknown"}
	}
	return p
}

func (f *predictor) call(turn int) Prediction {
	s, c := f.s, f.c
	switch {
	case f.circumstances.NotOffered || !InPool(s, c.Tool, turn):
		return f.end("unknown_tool", "it is not in the pool")
	case c.Bad:
		f.BadInput = true
		return f.end("invalid", "its input breaks the schema")
	}
	if f.beforeRun() {
		return f.Prediction
	}
	if text, why := f.permission(); text != "" {
		if text == "denied" {
			f.afterRun("PermissionDenied")
		}
		return f.end(text, why)
	}
	return f.run()
}

// stopsTurn reports whether a hook after the run, or at a refusal, stops the turn.
func stopsTurn(s *generate.SystemCase, hook string) bool {
	for i, h := range s.Hooks {
		if h.Stop && h.Fails == "" && h.Event != "PreToolUse" && hook == h.Event+" "+generate.HookName(i) {
			return true
		}
	}
	return false
}

func (f *predictor) end(status, why string) Prediction {
	f.Status, f.Why = []string{status}, why
	return f.Prediction
}

func (f *predictor) ruled(rules []string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool { return ruleMatches(rule, f.c.Tool, f.input.Path) })
}

// dueHooks calls each with the hooks that match the call at an event.
func (f *predictor) dueHooks(event string, each func(i int, h *generate.Hook)) {
	for i := range f.s.Hooks {
		h := &f.s.Hooks[i]
		if h.Event != event || h.Tool != "" && h.Tool != f.c.Tool {
			continue
		}
		f.Hooks = append(f.Hooks, event+" "+generate.HookName(i))
		if h.Fails != "" {
			h = h.Failed()
		}
		each(i, h)
	}
}

// beforeRun applies the hooks before the run and reports whether they end the call. An allow
// is taken back by a later hook that rewrites the input, which the first did not know.
func (f *predictor) beforeRun() (over bool) {
	stop, rewritten, input := false, false, f.input
	f.dueHooks("PreToolUse", func(i int, h *generate.Hook) {
		stop = stop || h.Stop
		if h.Input != "" {
			before := f.s.InputText(f.c, input)
			input, rewritten = f.s.InputByHook(f.c, i), true
			if f.decision == "allow" && f.s.InputText(f.c, input) != before {
				f.decision = ""
			}
		}
		if strictness[h.Decision] > strictness[f.decision] {
			f.decision = h.Decision
		}
	})
	if stop {
		f.end("stopped", "a hook stops it")
		return true
	}
	if f.input, f.Rewritten = input, rewritten; rewritten && input.Bad {
		f.Refused = true
		f.end("invalid", "a hook's input breaks the schema")
		return true
	}
	return false
}

// strictness orders decisions: of several hooks the strictest counts.
var strictness = map[string]int{"": 0, "allow": 1, "ask": 2, "deny": 3}

// permission decides; "" lets the call run.
func (f *predictor) permission() (status, why string) {
	behaviour, why := f.resolve()
	if behaviour == "ask" {
		switch {
		case !f.s.Person:
			return "denied", "nobody is there to be asked: " + why
		case f.c.Answer == "no":
			return "denied", "the person denied it"
		}
		behaviour = "allow"
		if f.c.Answer != "" && f.c.Answer != "yes" {
			return f.byPerson()
		}
	}
	if behaviour == "deny" {
		f.Refused = f.Rewritten
		return "denied", why
	}
	return "", why
}

// byPerson goes through all of it again with the person's input, who need not be asked twice.
func (f *predictor) byPerson() (status, why string) {
	f.input, f.Rewritten = f.s.InputByPerson(f.c), true
	if f.input.Bad {
		f.Refused = true
		return "invalid", "the person's input breaks the schema"
	}
	if behaviour, why := f.resolve(); behaviour == "deny" {
		f.Refused = true
		return "denied", why
	}
	return "", "the person allowed it"
}

// resolve is F2, in the order of the row and of the readings settled there.
func (f *predictor) resolve() (behaviour, why string) {
	behaviour, why = f.decided()
	switch {
	case behaviour == "deny":
	case f.ruled(f.s.Ask):
		return "ask", "an ask rule"
	case f.decision == "ask":
		return "ask", "a hook asks"
	}
	return behaviour, why
}

func (f *predictor) decided() (behaviour, why string) {
	reads := readOnly(f.s, f.c.Tool)
	switch {
	case f.ruled(f.s.Deny):
		return "deny", "a deny rule"
	case f.decision == "deny":
		return "deny", "a hook denies"
	case f.decision == "allow":
		return "allow", "a hook allows"
	case f.c.Tool == "Agent" || f.c.Tool == "ToolSearch":
		return "allow", "the tool allows"
	case f.s.Mode == "plan" && !reads:
		return "deny", "plan mode"
	case f.s.Mode == "bypass":
		return "allow", "bypass mode"
	case f.ruled(f.s.Allow):
		return "allow", "an allow rule"
	case reads:
		return "allow", "it only reads"
	case f.s.Mode == "acceptEdits" && (f.c.Tool == "Write" || f.c.Tool == "Edit"):
		return "allow", "a file edit in the roots"
	}
	return "ask", "no rule matches"
}

func readOnly(s *generate.SystemCase, name string) bool {
	if t := s.Tool(name); t != nil {
		return t.ReadOnly
	}
	if v := generate.Served[name]; v != nil {
		return v.ReadOnly
	}
	return name == "Read" || name == "ToolSearch"
}

// run is what comes of a call that runs.
func (f *predictor) run() Prediction {
	event := "PostToolUse"
	f.end("ok", "it runs")
	t := f.s.Tool(f.c.Tool)
	switch {
	case f.circumstances.Status != "":
		event = "PostToolUseFailure"
		f.Status = []string{f.circumstances.Status}
	case t != nil && t.Fails:
		event = "PostToolUseFailure"
		f.Status = []string{"failed"}
	case f.c.Tool == "Read" || f.c.Tool == "Write" || f.c.Tool == "Edit" || f.c.Tool == "Agent" || f.c.Tool == "ToolSearch":
		f.Status = nil // what files hold, and how an agent fares, is not predicted
	}
	if t != nil {
		f.input.Path = ""
		if f.Prediction.Input = f.s.InputText(f.c, f.input); f.s.Suffers(f.c.ID, "empty") {
			f.Prediction.Input = ""
		}
	}
	if f.Status != nil {
		f.afterRun(event)
	}
	return f.Prediction
}

// afterRun applies the hooks after the run, or at a refusal.
func (f *predictor) afterRun(event string) {
	f.dueHooks(event, func(i int, h *generate.Hook) {
		f.EndsTurn = f.EndsTurn || h.Stop
		f.Withheld = h.Withholds() || f.Withheld && !h.Output
		switch {
		case h.Withholds():
			f.Output = "The call ran. What it gave is withheld, because the hook " + generate.HookName(i)
		case h.Output:
			f.Output = "output of " + generate.HookName(i)
		}
	})
}

// ResultChars is how long the result of a call of a case's own tool is, where that is certain:
// of one that is long, or was made so.
func ResultChars(s *generate.SystemCase, c *generate.Call) int {
	t := s.Tool(c.Tool)
	switch {
	case t == nil || s.Suffers(c.ID, "empty"):
		return 0
	case s.Suffers(c.ID, "huge"):
		return hugeChars
	}
	return t.Chars
}

// hugeChars is how long the result of a call is that is made huge.
const hugeChars = 500_000

// RunStatus is how the run of a call ends for what goes wrong with it and for its tool's own
// time limit; "" as it would.
func RunStatus(s *generate.SystemCase, c *generate.Call) string {
	t := s.Tool(c.Tool)
	panics, errs := s.Suffers(c.ID, "panic"), s.Suffers(c.ID, "error")
	late := t != nil && t.Timeout > 0 && (s.Suffers(c.ID, "hang") || c.For+s.Delay(c.ID, "slow") > t.Timeout)
	switch {
	case late && !s.Suffers(c.ID, "deaf"), late && errs && !panics:
		return "timeout"
	case panics:
		return "panic"
	case errs:
		return "failed"
	}
	return ""
}

// ExpectSystem is what the reference predicts of a case: how the main conversation's calls end, where nothing stops
// them from outside and no hook may have ended it, and which calls must not run.
func ExpectSystem(s *generate.SystemCase) *generate.Expected {
	x := &generate.Expected{}
	last := len(s.Turns)
	s.Each(func(c *generate.Call, turn int, parent *generate.Call) {
		f := Predict(s, c, turn, Circumstances{Status: RunStatus(s, c)})
		if f.EndsTurn || f.Status == nil && slices.ContainsFunc(s.Hooks, func(h generate.Hook) bool { return h.Stop }) {
			last = min(last, turn)
		}
		sure := len(f.Status) == 1 && (c.Path == "" || s.Rewritable(c)) && turn <= last
		if sure && s.Undisturbed() && parent == nil && !s.BreaksStreams() && !s.ServersChange() {
			x.Results = append(x.Results, c.ID+": "+f.Status[0])
		}
		if (f.BadInput || f.Refused) && !s.BreaksStreams() { // what comes twice may mend it
			x.NotStarted = append(x.NotStarted, c.ID)
		}
	})
	return x
}

// Circumstances are what a call met that its case does not determine.
type Circumstances struct {
	// NotOffered: its request did not have the tool. Unknown: nothing can be predicted.
	// Status is how its run ended for it; "" as it would.
	NotOffered, Unknown bool
	Status              string
}

// Allows reports whether an allow rule of the case matches a call.
func Allows(s *generate.SystemCase, c *generate.Call) bool {
	f := predictor{s: s, c: c, input: generate.Input{Path: c.Path}}
	return f.ruled(s.Allow)
}

// missing reports whether a server's list that changed lacks a tool by now; unread: and could not be read.
func missing(s *generate.SystemCase, tool string, turn int, unread bool) bool {
	return slices.ContainsFunc(s.Servers, func(v generate.Server) bool {
		return v.Relist > 0 && turn >= v.Relist && (v.List != "") == unread && generate.ServerOf(tool) == v.Name &&
			slices.Contains(v.Without, strings.TrimPrefix(tool, "mcp__"+v.Name+"__"))
	})
}

// ListChanged reports whether a server's list has changed by now, or was to.
func ListChanged(s *generate.SystemCase, server string, turn int) bool {
	return slices.ContainsFunc(s.Servers, func(v generate.Server) bool { return v.Name == server && v.Relist > 0 && turn >= v.Relist })
}

// Connected reports whether a server is connected in a request.
func Connected(s *generate.SystemCase, server string, turn int) bool {
	return slices.ContainsFunc(s.Servers, func(v generate.Server) bool {
		return v.Name == server && turn >= v.From && (v.Until == 0 || turn <= v.Until)
	})
}

// InPool reports whether a request has the tool: its server is connected, and no rule
// hides it (C1, D2); ToolSearch is there where it may be needed (E3).
func InPool(s *generate.SystemCase, name string, turn int) bool {
	if server := generate.ServerOf(name); server != "" && (!Connected(s, server, turn) || missing(s, name, turn, false)) {
		return false
	}
	on, sure := Deferring(s)
	return (name != "ToolSearch" || !sure || on) && !slices.ContainsFunc(s.Deny, func(rule string) bool { return !strings.Contains(rule, "(") && ruleMatches(rule, name, "") })
}

// ruleMatches reports whether a rule is about a call.
func ruleMatches(rule, tool, path string) bool {
	if name, content, ok := strings.Cut(rule, "("); ok {
		return name == tool && strings.HasPrefix(path, strings.TrimSuffix(content, "**)"))
	}
	v := generate.Served[tool]
	return rule == tool || v != nil && (rule == "mcp__"+v.Server || rule == "mcp__"+v.Server+"__*")
}

// Deferring reports whether the setting defers tools (E2); sure is false where it depends on their size.
func Deferring(s *generate.SystemCase) (on, sure bool) {
	switch s.Search {
	case "", "true", "auto:0":
		return true, true
	case "false", "auto:100":
		return false, true
	}
	return false, false
}
