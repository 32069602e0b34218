package fuzz

import (
	"context"

	"toolbench/property/generate"
	"toolbench/property/invariant"
)

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
