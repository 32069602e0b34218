package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolbench/property/model"
	"toolbench/property/promise"
	"toolbench/property/scene"
	"toolbench/property/whole"
	"toolbench/sim/des"
	"toolbench/toolsys/schedule"
)

// Engine is what plays the cases.
type Engine string

// The engines: discrete events, the whole system in virtual time, or both, held
// against each other.
const (
	DES  Engine = "des"
	Full Engine = "full"
	Both Engine = "both"
)

// Broken is what a case broke.
type Broken struct {
	// Name is a promise's name, or one of those of Checks.
	Name string
	// Found says what was found, Log what happened.
	Found string
	Log   string
}

// Check is one thing that every case is held against, beside the promises.
type Check struct{ Name, Says string }

// The names of checks.
const (
	endsCheck    = "ends"
	modelCheck   = "model"
	formulaCheck = "formula"
	policyCheck  = "policies-agree"
	enginesCheck = "engines-agree"
	systemCheck  = "system"
	waysCheck    = "ways-agree"
)

// EveryNth is how many cases of the whole system there are to one that is also played
// the long way: as a scenario, over HTTP and through the client library.
const EveryNth = 50

// Checks are those beside the promises.
func Checks() []Check {
	checks := []Check{
		{endsCheck, "a conversation ends: nothing waits for ever, and nothing goes on for ever"},
		{modelCheck, "the scheduler does what its definition says, action for action"},
		{formulaCheck, "where nothing stops anything, starts and ends follow from the formula"},
		{policyCheck, "all policies give the same results and the same state, where nothing stops anything (O6)"},
		{enginesCheck, "the whole system does what the simulation does, entry for entry"},
		{systemCheck, "the whole system ends, without a deadlock, a leaked goroutine or an error of its own"},
		{waysCheck, "a case as a scenario, over HTTP and through the client library, does what it does without them"},
	}
	for _, c := range whole.Checks() {
		checks = append(checks, Check{c.Name, c.Says})
	}
	for _, p := range scene.Promises() {
		checks = append(checks, Check{p.Name, p.Says})
	}
	return checks
}

// Tester holds cases against everything. It keeps its buffers; one goroutine may use
// it at a time.
type Tester struct {
	engine Engine
	// core plays what pair decides: the scheduler, its definition beside it.
	core  des.Engine
	pair  model.Pair
	other des.Engine
	lean  *whole.Lean
	view  promise.View
	// did and want are the effects of a case under two policies.
	did, want []des.Entry
	// Seen counts the situations, by their place in Situations; Counting says
	// whether to.
	Seen     []int
	Counting bool
	// Long plays every case of the whole system the long way too, not one in EveryNth.
	Long bool
}

// NewTester makes a tester.
func NewTester(e Engine) *Tester {
	t := &Tester{engine: e, lean: whole.NewLean(), Seen: make([]int, len(Situations())), Counting: true}
	if e != Full {
		t.core.New = t.pair.Begin
	}
	return t
}

// Test gives the first thing a case breaks, or nil.
func (t *Tester) Test(ctx context.Context, c *des.Case) *Broken {
	log, err := t.core.Run(c)
	if err != nil {
		return &Broken{Name: endsCheck, Found: err.Error()}
	}
	t.view.Look(c, log)
	if t.engine != Full {
		if b := t.simulated(c, log); b != nil {
			return b
		}
	}
	t.count()
	if t.engine == DES {
		return nil
	}
	return t.whole(ctx, c, log)
}

func (t *Tester) count() {
	if !t.Counting {
		return
	}
	for i, s := range promise.Situations() {
		t.Seen[i] += s.In(&t.view)
	}
}

func (t *Tester) simulated(c *des.Case, log *des.Log) *Broken {
	differs := t.pair.Differs()
	if b := t.promises(log); b != nil {
		return b
	}
	if differs != "" {
		return &Broken{modelCheck, defined(c, log) + differs, log.String()}
	}
	if !quiet(c) {
		return nil
	}
	if !model.Quiet(c) { // the formula is of the other policies
		return t.policies(c, log)
	}
	if id, want, ok := model.Follows(c, log); !ok {
		return &Broken{formulaCheck, fmt.Sprintf("call %s should start at %s and end at %s, counted from its request", id, want.Start, want.End), log.String()}
	}
	return t.policies(c, log)
}

// quiet: nothing stops anything, whatever the policy.
func quiet(c *des.Case) bool {
	other := *c
	other.Policy = schedule.Serial.String()
	return model.Quiet(&other)
}

// defined says what should have come of a case by the scheduler's definition alone, in
// what it differs from the log.
func defined(c *des.Case, log *des.Log) string {
	machine := des.Engine{New: model.New}
	want, err := machine.Run(c)
	if err != nil {
		return ""
	}
	return whole.Differ(want, log)
}

// promises holds the log that the view shows against the promises.
func (t *Tester) promises(log *des.Log) *Broken {
	if b := promise.Check(&t.view); b != nil {
		return &Broken{b.Promise.Name, b.Found.Error(), log.String()}
	}
	return nil
}

// policies plays a case under each policy.
func (t *Tester) policies(c *des.Case, log *des.Log) *Broken {
	for n := range c.Calls() {
		if k := c.Call(n); k.Safe && k.Modifies {
			return nil // what becomes of its modifier is the policy's (B3)
		}
	}
	t.want = effect(t.want[:0], log)
	other := *c
	for _, other.Policy = range policies {
		if other.Policy == c.Policy {
			continue
		}
		got, err := t.other.Run(&other)
		if err != nil {
			return &Broken{Name: endsCheck, Found: "under " + other.Policy + ": " + err.Error()}
		}
		if t.did = effect(t.did[:0], got); !slices.Equal(t.did, t.want) || !slices.Equal(got.State, log.State) {
			return &Broken{policyCheck, fmt.Sprintf("%s:\n%s%s:\n%s", c.Policy, told(t.want, log), other.Policy, told(t.did, got)), log.String()}
		}
	}
	return nil
}

// effect is what a case did, without when: its results, in order.
func effect(out []des.Entry, log *des.Log) []des.Entry {
	for _, e := range log.Entries {
		if e.What == des.Emitted {
			out = append(out, des.Entry{What: e.What, Call: e.Call, Code: e.Code})
		}
	}
	return out
}

// told words an effect.
func told(effect []des.Entry, log *des.Log) string {
	var b strings.Builder
	for _, e := range effect {
		fmt.Fprintf(&b, "#%d %s\n", e.Call, des.Status(e.Code))
	}
	fmt.Fprintln(&b, "state", log.State)
	return b.String()
}

// whole plays a case through the whole system.
func (t *Tester) whole(ctx context.Context, c *des.Case, want *des.Log) *Broken {
	got, out, err := t.lean.Run(ctx, c)
	if err != nil {
		return &Broken{Name: systemCheck, Found: err.Error()}
	}
	t.view.Look(c, got)
	if b := t.promises(got); b != nil {
		return b
	}
	if b := t.lean.Broken(out); b != nil {
		return &Broken{b.Name, b.Found, got.String()}
	}
	if t.engine == Both {
		if d := whole.Differ(want, got); d != "" {
			return &Broken{enginesCheck, d, got.String()}
		}
	}
	// That a conversation is stopped from outside is nothing a scenario can say. The low
	// bits of the seed decide what else the long way looks at.
	if c.Leaves == 0 && (t.Long || c.Seed>>8%EveryNth == 0) {
		return long(ctx, c, got)
	}
	return nil
}

// long plays a case the long way; it must come to the same.
func long(ctx context.Context, c *des.Case, want *des.Log) *Broken {
	got, out, err := whole.Run(ctx, c)
	if err != nil {
		return &Broken{Name: systemCheck, Found: err.Error()}
	}
	if b := whole.Broken(c, out); b != nil {
		return &Broken{b.Name, b.Found, got.String()}
	}
	if d := whole.Differ(want, got); d != "" {
		return &Broken{waysCheck, d, got.String()}
	}
	return nil
}
