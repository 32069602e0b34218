package fuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/trace"
)

// Engine is what runs the cases.
type Engine string

// The engines: discrete events, the whole system in virtual time, or both, compared
// with each other.
const (
	DES  Engine = "des"
	Full Engine = "full"
	Both Engine = "both"
)

// The names of invariants that take more than one log.
const (
	endsCheck     = "ends"
	modelCheck    = "model"
	formulaCheck  = "formula"
	policyCheck   = "policies-agree"
	enginesCheck  = "engines-agree"
	systemCheck   = "system"
	endToEndCheck = "ways-agree"
)

// endToEndEvery is how many cases of the whole system there are to one that is also run
// end to end: as a scenario, over HTTP and through the client library.
const endToEndEvery = 50

// Invariants are all that cases are checked against: those of the scheduler, those that
// take more than one log, and those of the whole system.
func Invariants() []oracle.Invariant {
	return slices.Concat(oracle.SchedulerInvariants(), []oracle.Invariant{
		{Name: endsCheck, About: "a conversation ends: nothing waits for ever, and nothing goes on for ever"},
		{Name: modelCheck, About: "the scheduler decides as its definition does, action for action"},
		{Name: formulaCheck, About: "where nothing stops anything, starts and ends follow from the formula"},
		{Name: policyCheck, About: "all policies give the same results and the same state, where nothing stops anything (O6)"},
		{Name: enginesCheck, About: "the whole system does what the simulation does, entry for entry"},
		{Name: systemCheck, About: "the whole system ends, without a deadlock, a leaked goroutine or an error of its own"},
		{Name: endToEndCheck, About: "a case as a scenario, over HTTP and through the client library, does what it does without them"},
	}, oracle.SystemInvariants())
}

// Checker runs cases and checks every invariant. It keeps its buffers; one goroutine may
// use it at a time.
type Checker struct {
	engine Engine
	// core runs cases with the pair: the scheduler, and its definition beside it.
	core      des.Engine
	pair      oracle.Pair
	other     des.Engine
	inProcess *InProcess
	view      oracle.View
	// results and want are the results of a case under two policies.
	results, want []des.Entry
	// Seen counts the goals, by their place in oracle.Goals, if Counting is set.
	Seen     []int
	Counting bool
	// log and trace are what the last case came to: one of the two, or none.
	log   *des.Log
	trace []trace.Event
	// EndToEnd runs every case of the whole system end to end too, not one in
	// endToEndEvery.
	EndToEnd bool
}

// NewChecker makes a checker that counts.
func NewChecker(e Engine) *Checker {
	t := &Checker{engine: e, inProcess: NewInProcess(), Seen: make([]int, len(oracle.Goals())), Counting: true}
	if e != Full {
		t.core.New = t.pair.Reset
	}
	return t
}

// NewMaker makes a maker of the cases of a plan that an engine runs.
func NewMaker(p generate.Plan, e Engine) *generate.Maker { return generate.NewMaker(p, e != DES) }

// Check gives the first invariant that a case violates, or nil.
func (t *Checker) Check(ctx context.Context, c generate.Case) *oracle.Violation {
	if c.System == nil {
		return t.scheduler(ctx, c.Scheduler)
	}
	seen := t.Seen
	if !t.Counting {
		seen = nil
	}
	out, b := checkSystem(ctx, c.System, seen)
	t.trace = out.Trace
	return b
}

// Shrink makes a failing case small: it violates the same invariant and, if also is
// given, fails as that wants it to.
func (t *Checker) Shrink(ctx context.Context, c generate.Case, name string, also func(generate.Case) bool) generate.Case {
	counting := t.Counting
	t.Counting = false
	defer func() { t.Counting = counting }()
	return c.Shrink(func(smaller generate.Case) bool {
		if ctx.Err() != nil {
			return false
		}
		b := t.Check(ctx, smaller)
		return ctx.Err() == nil && b != nil && b.Name == name && (also == nil || also(smaller))
	})
}

// violation gives one with the log beside it.
func violation(name, found string, log *des.Log) *oracle.Violation {
	return &oracle.Violation{Name: name, Found: found, Log: log.String()}
}

func (t *Checker) scheduler(ctx context.Context, c *des.Case) *oracle.Violation {
	log, err := t.core.Run(c)
	if err != nil {
		return &oracle.Violation{Name: endsCheck, Found: err.Error()}
	}
	t.log = log
	t.view.Read(c, log)
	if t.engine != Full {
		if b := t.simulated(c, log); b != nil {
			return b
		}
	}
	if t.Counting {
		oracle.CountScheduler(&t.view, t.Seen)
	}
	if t.engine == DES {
		return nil
	}
	return t.system(ctx, c, log)
}

// simulated checks what discrete events gave.
func (t *Checker) simulated(c *des.Case, log *des.Log) *oracle.Violation {
	differs := t.pair.Difference()
	if b := oracle.CheckScheduler(&t.view); b != nil {
		return b
	}
	if differs != "" {
		return violation(modelCheck, defined(c, log)+differs, log)
	}
	serial := *c // whose formula holds unless something stops something, whatever the policy
	serial.Policy = schedule.Serial.String()
	if !oracle.Undisturbed(&serial) {
		return nil
	}
	if !oracle.Undisturbed(c) { // the formula is of the other policies
		return t.policies(c, log)
	}
	if id, want, ok := oracle.CheckSpans(c, log); !ok {
		return violation(formulaCheck, fmt.Sprintf("call %s should start at %s and end at %s, counted from its request", id, want.Start, want.End), log)
	}
	return t.policies(c, log)
}

// defined is how the log differs from what the definition of the scheduler gives by
// itself.
func defined(c *des.Case, log *des.Log) string {
	machine := des.Engine{New: oracle.NewScheduler}
	want, err := machine.Run(c)
	if err != nil {
		return ""
	}
	return Diff(want, log)
}

// policies runs a case under each other policy and compares the results.
func (t *Checker) policies(c *des.Case, log *des.Log) *oracle.Violation {
	for n := range c.Calls() {
		if k := c.Call(n); k.Safe && k.Modifies {
			return nil // whether its modifier acts depends on the policy (B3)
		}
	}
	t.want = results(t.want[:0], log)
	other := *c
	for _, other.Policy = range policies {
		if other.Policy == c.Policy {
			continue
		}
		got, err := t.other.Run(&other)
		if err != nil {
			return &oracle.Violation{Name: endsCheck, Found: "under " + other.Policy + ": " + err.Error()}
		}
		if t.results = results(t.results[:0], got); !slices.Equal(t.results, t.want) || !slices.Equal(got.State, log.State) {
			return violation(policyCheck, fmt.Sprintf("%s:\n%s%s:\n%s", c.Policy, resultsText(t.want, log), other.Policy, resultsText(t.results, got)), log)
		}
	}
	return nil
}

// results are the results of a case, in order, without their times.
func results(out []des.Entry, log *des.Log) []des.Entry {
	for _, e := range log.Entries {
		if e.Kind == des.Emitted {
			out = append(out, des.Entry{Kind: e.Kind, Call: e.Call, Code: e.Code})
		}
	}
	return out
}

func resultsText(results []des.Entry, log *des.Log) string {
	var b strings.Builder
	for _, e := range results {
		fmt.Fprintf(&b, "#%d %s\n", e.Call, des.Status(e.Code))
	}
	fmt.Fprintln(&b, "state", log.State)
	return b.String()
}

// system runs a case through the whole system.
func (t *Checker) system(ctx context.Context, c *des.Case, want *des.Log) *oracle.Violation {
	got, out, err := t.inProcess.Run(ctx, c)
	if err != nil {
		return &oracle.Violation{Name: systemCheck, Found: err.Error()}
	}
	t.log = got
	t.view.Read(c, got)
	if b := oracle.CheckScheduler(&t.view); b != nil {
		return b
	}
	if b := t.inProcess.Check(out); b != nil {
		return violation(b.Name, b.Found, got)
	}
	if t.engine == Both {
		if d := Diff(want, got); d != "" {
			return violation(enginesCheck, d, got)
		}
	}
	// A scenario cannot express that a conversation is stopped from outside. The low bits
	// of the seed decide what else an end-to-end run checks.
	if c.AbortAt == 0 && (t.EndToEnd || c.Seed>>8%endToEndEvery == 0) {
		return endToEnd(ctx, c, got)
	}
	return nil
}

// endToEnd runs a case end to end; it must give the same log.
func endToEnd(ctx context.Context, c *des.Case, want *des.Log) *oracle.Violation {
	got, out, err := EndToEnd(ctx, c)
	if err != nil {
		return &oracle.Violation{Name: systemCheck, Found: err.Error()}
	}
	if b := oracle.CheckRun(c, out); b != nil {
		return violation(b.Name, b.Found, got)
	}
	if d := Diff(want, got); d != "" {
		return violation(endToEndCheck, d, got)
	}
	return nil
}

// Diff gives the difference between the log of the simulation and that of the system;
// "" is none.
func Diff(model, system *des.Log) string {
	want, got := model.String(), system.String()
	if want == got {
		return ""
	}
	return udiff.Unified("model", "system", want, got)
}
