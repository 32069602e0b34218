package fuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/invariant"
	"toolbench/property/oracle"
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
type Violation struct {
	// Name is a promise's name, or one of those of Checks.
	Name string
	// Found says what was found, Log what happened.
	Found string
	Log   string
}

// Check is one thing that every case is held against, beside the promises.
type Invariant struct{ Name, About string }

// The names of checks.
const (
	endsCheck     = "ends"
	modelCheck    = "model"
	formulaCheck  = "formula"
	policyCheck   = "policies-agree"
	enginesCheck  = "engines-agree"
	systemCheck   = "system"
	endToEndCheck = "ways-agree"
)

// EveryNth is how many cases of the whole system there are to one that is also played
// the long way: as a scenario, over HTTP and through the client library.
const endToEndEvery = 50

// Checks are those beside the promises.
func ExtraInvariants() []Invariant {
	checks := []Invariant{
		{endsCheck, "a conversation ends: nothing waits for ever, and nothing goes on for ever"},
		{modelCheck, "the scheduler does what its definition says, action for action"},
		{formulaCheck, "where nothing stops anything, starts and ends follow from the formula"},
		{policyCheck, "all policies give the same results and the same state, where nothing stops anything (O6)"},
		{enginesCheck, "the whole system does what the simulation does, entry for entry"},
		{systemCheck, "the whole system ends, without a deadlock, a leaked goroutine or an error of its own"},
		{endToEndCheck, "a case as a scenario, over HTTP and through the client library, does what it does without them"},
	}
	for _, c := range invariant.RunInvariants() {
		checks = append(checks, Invariant{c.Name, c.About})
	}
	for _, p := range invariant.SystemInvariants() {
		checks = append(checks, Invariant{p.Name, p.About})
	}
	return checks
}

// Tester holds cases against everything. It keeps its buffers; one goroutine may use
// it at a time.
type Checker struct {
	engine Engine
	// core plays what pair decides: the scheduler, its definition beside it.
	core      des.Engine
	pair      oracle.Pair
	other     des.Engine
	inProcess *InProcess
	view      invariant.View
	// did and want are the effects of a case under two policies.
	did, want []des.Entry
	// Seen counts the situations, by their place in Situations; Counting says
	// whether to.
	Seen     []int
	Counting bool
	// Long plays every case of the whole system the long way too, not one in EveryNth.
	EndToEnd bool
}

// NewTester makes a tester.
func NewChecker(e Engine) *Checker {
	t := &Checker{engine: e, inProcess: NewInProcess(), Seen: make([]int, len(Goals())), Counting: true}
	if e != Full {
		t.core.New = t.pair.Reset
	}
	return t
}

// Test gives the first thing a case breaks, or nil.
func (t *Checker) checkScheduler(ctx context.Context, c *des.Case) *Violation {
	log, err := t.core.Run(c)
	if err != nil {
		return &Violation{Name: endsCheck, Found: err.Error()}
	}
	t.view.Read(c, log)
	if t.engine != Full {
		if b := t.simulated(c, log); b != nil {
			return b
		}
	}
	t.count()
	if t.engine == DES {
		return nil
	}
	return t.system(ctx, c, log)
}

func (t *Checker) count() {
	if !t.Counting {
		return
	}
	for i, s := range invariant.SchedulerGoals() {
		t.Seen[i] += s.Count(&t.view)
	}
}

func (t *Checker) simulated(c *des.Case, log *des.Log) *Violation {
	differs := t.pair.Difference()
	if b := t.invariants(log); b != nil {
		return b
	}
	if differs != "" {
		return &Violation{modelCheck, defined(c, log) + differs, log.String()}
	}
	if !undisturbed(c) {
		return nil
	}
	if !oracle.Undisturbed(c) { // the formula is of the other policies
		return t.policies(c, log)
	}
	if id, want, ok := oracle.CheckSpans(c, log); !ok {
		return &Violation{formulaCheck, fmt.Sprintf("call %s should start at %s and end at %s, counted from its request", id, want.Start, want.End), log.String()}
	}
	return t.policies(c, log)
}

// quiet: nothing stops anything, whatever the policy.
func undisturbed(c *des.Case) bool {
	other := *c
	other.Policy = schedule.Serial.String()
	return oracle.Undisturbed(&other)
}

// defined says what should have come of a case by the scheduler's definition alone, in
// what it differs from the log.
func defined(c *des.Case, log *des.Log) string {
	machine := des.Engine{New: oracle.NewScheduler}
	want, err := machine.Run(c)
	if err != nil {
		return ""
	}
	return Diff(want, log)
}

// promises holds the log that the view shows against the promises.
func (t *Checker) invariants(log *des.Log) *Violation {
	if b := invariant.CheckScheduler(&t.view); b != nil {
		return &Violation{b.Promise.Name, b.Found.Error(), log.String()}
	}
	return nil
}

// policies plays a case under each policy.
func (t *Checker) policies(c *des.Case, log *des.Log) *Violation {
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
			return &Violation{Name: endsCheck, Found: "under " + other.Policy + ": " + err.Error()}
		}
		if t.did = effect(t.did[:0], got); !slices.Equal(t.did, t.want) || !slices.Equal(got.State, log.State) {
			return &Violation{policyCheck, fmt.Sprintf("%s:\n%s%s:\n%s", c.Policy, effectText(t.want, log), other.Policy, effectText(t.did, got)), log.String()}
		}
	}
	return nil
}

// effect is what a case did, without when: its results, in order.
func effect(out []des.Entry, log *des.Log) []des.Entry {
	for _, e := range log.Entries {
		if e.Kind == des.Emitted {
			out = append(out, des.Entry{Kind: e.Kind, Call: e.Call, Code: e.Code})
		}
	}
	return out
}

// told words an effect.
func effectText(effect []des.Entry, log *des.Log) string {
	var b strings.Builder
	for _, e := range effect {
		fmt.Fprintf(&b, "#%d %s\n", e.Call, des.Status(e.Code))
	}
	fmt.Fprintln(&b, "state", log.State)
	return b.String()
}

// whole plays a case through the whole system.
func (t *Checker) system(ctx context.Context, c *des.Case, want *des.Log) *Violation {
	got, out, err := t.inProcess.Run(ctx, c)
	if err != nil {
		return &Violation{Name: systemCheck, Found: err.Error()}
	}
	t.view.Read(c, got)
	if b := t.invariants(got); b != nil {
		return b
	}
	if b := t.inProcess.Broken(out); b != nil {
		return &Violation{b.Name, b.Found, got.String()}
	}
	if t.engine == Both {
		if d := Diff(want, got); d != "" {
			return &Violation{enginesCheck, d, got.String()}
		}
	}
	// That a conversation is stopped from outside is nothing a scenario can say. The low
	// bits of the seed decide what else the long way looks at.
	if c.AbortAt == 0 && (t.EndToEnd || c.Seed>>8%endToEndEvery == 0) {
		return endToEnd(ctx, c, got)
	}
	return nil
}

// long plays a case the long way; it must come to the same.
func endToEnd(ctx context.Context, c *des.Case, want *des.Log) *Violation {
	got, out, err := EndToEnd(ctx, c)
	if err != nil {
		return &Violation{Name: systemCheck, Found: err.Error()}
	}
	if b := invariant.CheckRun(c, out); b != nil {
		return &Violation{b.Name, b.Found, got.String()}
	}
	if d := Diff(want, got); d != "" {
		return &Violation{endToEndCheck, d, got.String()}
	}
	return nil
}

// NewMaker makes a maker of the cases of a plan that an engine plays.
func NewMaker(p generate.Plan, e Engine) *generate.Maker { return generate.NewMixedMaker(p, e != DES) }

// Scenario writes a case as a scenario's file that expects what is known to come of it:
// of a mix what the definition of the scheduler says, of a scene what its reference
// foretells.
func Scenario(d generate.Case, name, about string) string {
	if d.System != nil {
		return SystemFile(d.System, name, about)
	}
	return schedulerScenario(d.Scheduler, name, about)
}

// Try gives the first thing a case breaks, or nil, whatever it is.
func (t *Checker) Check(ctx context.Context, d generate.Case) *Violation {
	if d.System == nil {
		return t.checkScheduler(ctx, d.Scheduler)
	}
	var seen []int
	if t.Counting {
		seen = t.Seen[len(invariant.SchedulerGoals()):]
	}
	if b := RunSystem(ctx, d.System, seen); b != nil {
		return &Violation{Name: b.Name, Found: b.Found, Log: b.Log}
	}
	return nil
}

// Small makes a failing case small: it breaks the same thing, and also, where given,
// fails as the caller wants it to.
func (t *Checker) Shrink(ctx context.Context, d generate.Case, name string, also func(generate.Case) bool) generate.Case {
	counting := t.Counting
	t.Counting = false
	defer func() { t.Counting = counting }()
	return d.Shrink(func(smaller generate.Case) bool {
		if ctx.Err() != nil {
			return false
		}
		b := t.Check(ctx, smaller)
		return ctx.Err() == nil && b != nil && b.Name == name && (also == nil || also(smaller))
	})
}

// Situation is something rare worth having seen.
type Goal struct {
	Name string
	// Policy is the only one under which it can come up; "" for any. Scene says that
	// only scenes have it.
	Policy string
	System bool
}

// Situations are all of them, in the order in which a Result counts them.
func Goals() []Goal {
	var all []Goal
	for _, s := range invariant.SchedulerGoals() {
		all = append(all, Goal{Name: s.Name, Policy: s.Policy})
	}
	for _, s := range invariant.SystemGoals() {
		all = append(all, Goal{Name: s.Name, System: true})
	}
	return all
}

// Differ says how the logs of the two engines differ; "" when they do not.
func Diff(model, whole *des.Log) string {
	want, got := model.String(), whole.String()
	if want == got {
		return ""
	}
	return udiff.Unified("model", "system", want, got)
}
