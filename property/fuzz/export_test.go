package fuzz

import (
	"context"

	"toolbench/property/des"
	"toolbench/property/generate"
	"toolbench/property/oracle"
	"toolbench/toolsys/schedule"
)

// Plant puts a scheduler with a fault in the place of the one that simulated cases are
// played with.
func (t *Checker) Plant(faulty func(schedule.Policy, int) (des.Stepper, error)) { t.core.New = faulty }

// RunSystem runs a system case and gives the first invariant that it violates, or nil.
func RunSystem(ctx context.Context, s *generate.SystemCase, seen []int) *oracle.Violation {
	_, broken := checkSystem(ctx, s, seen)
	return broken
}
