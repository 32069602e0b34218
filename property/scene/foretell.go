package scene

import (
	"fmt"
)

// foretold is what must become of a call, if nothing stops it from outside.
type foretold struct {
	// status are the ways it may end: more than one only where that is another
	// promise's business, as what a file holds.
	status []string
	// broken: its input breaks the schema.
	broken bool
	// hooks are those asked, each with its event, in order.
	hooks []string
	// input is what a tool of the scene's own ran with, "" if it did not run.
	input string
	// output is the text a hook put in the place of the result; "" for none. withheld:
	// it is the beginning of the text that a failed hook withholds the result with.
	output   string
	withheld bool
	// rewritten says by whom the input was changed, and refused that this was why it
	// did not run. ends: a hook stops the turn.
	rewritten, refused, ends bool
	// unsure: nothing of its end is foretold.
	unsure bool
	// why says what decided.
	why string
	// stopper says whether a hook, named with its event, would stop the turn.
	stopper func(hook string) bool
}

// foretelling is one call on its way through the reference.
type foretelling struct {
	s     *Scene
	c     *Call
	input input
	fate  fate
	foretold
	decision string // of the hooks
	approved bool
}

// input is an input as far as a scene has any: the number of a tool of its own, or a
// path.
type input struct {
	n    int
	path string
	bad  bool
}

// foretell is the reference: the way of one call, from the rows H1, F2 and G2, and what
// befell it.
func (s *Scene) foretell(c *Call, turn int, of fate) foretold {
	f := &foretelling{s: s, c: c, fate: of, input: input{n: number(c.ID), path: c.Path, bad: c.Bad}}
	f.stopper = s.stopper
	told := f.tell(turn)
	if of.unsure {
		return foretold{unsure: true, stopper: f.stopper, why: "what befell it cannot be told"}
	}
	return told
}

func (f *foretelling) tell(turn int) foretold {
	s, c := f.s, f.c
	switch {
	case f.fate.out || !s.inPool(c.Tool, turn):
		return f.end("unknown_tool", "it is not in the pool")
	case c.Bad:
		f.broken = true
		return f.end("invalid", "its input breaks the schema")
	}
	if f.before() {
		return f.foretold
	}
	if text, why := f.permission(); text != "" {
		if text == "denied" {
			f.behind("PermissionDenied")
		}
		return f.end(text, why)
	}
	return f.run()
}

// stopper says whether a hook after the run, or at a refusal, stops the turn.
func (s *Scene) stopper(hook string) bool {
	for i := range s.Hooks {
		h := &s.Hooks[i]
		if h.Stop && h.Fails == "" && h.Event != "PreToolUse" && hook == h.Event+" "+hookName(i) {
			return true
		}
	}
	return false
}

func (f *foretelling) end(status, why string) foretold {
	f.status, f.why = []string{status}, why
	return f.foretold
}

// number is the number of a call.
func number(id string) (n int) {
	_, _ = fmt.Sscanf(id, "c%d", &n) // an id of another kind has 0
	return n
}

func (f *foretelling) ruled(rules []string) bool {
	for _, rule := range rules {
		if speaks(rule, f.c.Tool, f.input.path) {
			return true
		}
	}
	return false
}

// due are the hooks that listen to the call at an event.
func (f *foretelling) due(event string, each func(i int, h *Hook)) {
	for i := range f.s.Hooks {
		h := &f.s.Hooks[i]
		if h.Event != event || h.Tool != "" && h.Tool != f.c.Tool {
			continue
		}
		f.hooks = append(f.hooks, event+" "+hookName(i))
		if h.Fails != "" {
			h = h.failed()
		}
		each(i, h)
	}
}

// failed is what a hook that fails counts as: a guarding command denies by default, and
// what could not be looked at after the run is withheld (G4).
func (h *Hook) failed() *Hook {
	counts := &Hook{Event: h.Event, Tool: h.Tool}
	switch {
	case h.Event != "PreToolUse":
		counts.Output = h.OnFailure == "deny"
		counts.withholds = counts.Output
	case h.OnFailure == "" && h.Fails == "rubbish":
		counts.Says = "deny"
	case h.OnFailure != "allow":
		counts.Says = h.OnFailure
	}
	return counts
}

func hookName(i int) string { return fmt.Sprintf("h%d", i+1) }

// before asks the hooks before the run; it says whether that is the end.
func (f *foretelling) before() (over bool) {
	stop, rewritten := false, -1
	f.due("PreToolUse", func(i int, h *Hook) {
		stop = stop || h.Stop
		if h.Input != "" {
			rewritten = i
		}
		if strength[h.Says] > strength[f.decision] {
			f.decision = h.Says
		}
	})
	switch {
	case stop:
		f.end("stopped", "a hook stops it")
	case rewritten < 0:
		return false
	default:
		f.input, f.rewritten = f.s.byHook(f.c, rewritten), true
		if !f.input.bad {
			return false
		}
		f.refused = true
		f.end("invalid", "a hook's input breaks the schema")
	}
	return true
}

// strength: of several hooks the strictest counts.
var strength = map[string]int{"": 0, "allow": 1, "ask": 2, "deny": 3}

// permission decides; "" lets the call run.
func (f *foretelling) permission() (status, why string) {
	behaviour, why := f.resolve()
	if behaviour == "ask" {
		switch {
		case !f.s.Person:
			return "denied", "nobody is there to be asked: " + why
		case f.c.Person == "no":
			return "denied", "the person said no"
		}
		behaviour, f.approved = "allow", true
		if f.c.Person != "" && f.c.Person != "yes" {
			return f.byPerson()
		}
	}
	if behaviour == "deny" {
		f.refused = f.rewritten
		return "denied", why
	}
	return "", why
}

// byPerson goes through all of it again with the person's input, who need not be asked
// twice.
func (f *foretelling) byPerson() (status, why string) {
	f.input, f.rewritten = f.s.byPerson(f.c), true
	if f.input.bad {
		f.refused = true
		return "invalid", "the person's input breaks the schema"
	}
	if behaviour, why := f.resolve(); behaviour == "deny" {
		f.refused = true
		return "denied", why
	}
	return "", "the person allowed it"
}

// resolve is F2, in the order of the row and of the readings settled there.
func (f *foretelling) resolve() (behaviour, why string) {
	behaviour, why = f.settled()
	if behaviour == "deny" {
		return behaviour, why
	}
	switch {
	case f.ruled(f.s.Ask):
		return "ask", "an ask rule"
	case f.decision == "ask":
		return "ask", "a hook asks"
	}
	return behaviour, why
}

func (f *foretelling) settled() (behaviour, why string) {
	reads := f.s.readOnly(f.c.Tool)
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
	return "ask", "no rule speaks"
}

func (s *Scene) readOnly(name string) bool {
	if t := s.tool(name); t != nil {
		return t.ReadOnly
	}
	if v := served[name]; v != nil {
		return v.readOnly
	}
	return name == "Read" || name == "ToolSearch"
}

// run is what comes of a call that runs.
func (f *foretelling) run() foretold {
	event := "PostToolUse"
	f.end("ok", "it runs")
	t := f.s.tool(f.c.Tool)
	switch {
	case f.fate.status != "":
		event = "PostToolUseFailure"
		f.status = []string{f.fate.status}
	case t != nil && t.Fails:
		event = "PostToolUseFailure"
		f.status = []string{"failed"}
	case f.c.Tool == "Read" || f.c.Tool == "Write" || f.c.Tool == "Edit" || f.c.Tool == "Agent" || f.c.Tool == "ToolSearch":
		f.status = nil // what files hold, and how an agent fares, is not foretold
	}
	if t != nil {
		f.input.path = ""
		if f.foretold.input = f.s.text(f.c, f.input); f.s.spoilt(f.c.ID).empty {
			f.foretold.input = ""
		}
	}
	if f.status != nil {
		f.behind(event)
	}
	return f.foretold
}

// behind asks the hooks after the run, or at a refusal.
func (f *foretelling) behind(event string) {
	f.due(event, func(i int, h *Hook) {
		f.ends = f.ends || h.Stop
		f.withheld = h.withholds || f.withheld && !h.Output
		switch {
		case h.withholds:
			f.output = "The call ran. What it gave is withheld, because the hook " + hookName(i)
		case h.Output:
			f.output = "output of " + hookName(i)
		}
	})
}
