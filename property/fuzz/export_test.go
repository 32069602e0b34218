package fuzz

import (
	"toolbench/property/des"
	"toolbench/toolsys/schedule"
)

// Plant puts a scheduler with a fault in the place of the one that simulated cases are
// played with.
func (t *Checker) Plant(faulty func(schedule.Policy, int) (des.Stepper, error)) { t.core.New = faulty }
