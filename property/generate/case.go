package generate

import (
	"toolbench/property/des"
)

// Case is one case of a plan: a scheduler case, which both engines can run, or a system
// case, which only the whole system can. One of the two is there.
type Case struct {
	Scheduler *des.Case
	System    *SystemCase
}

// systemEvery is how many cases there are to one system case, where the whole system
// runs them.
const systemEvery = 8

// Maker makes the cases of a plan. A case holds until the next is made; one goroutine
// may use it at a time.
type Maker struct {
	both      bool
	scheduler *SchedulerMaker
	system    *SystemMaker
}

// NewMaker makes a maker of a plan's cases; both: system cases are among them.
func NewMaker(p Plan, both bool) *Maker {
	return &Maker{both: both, scheduler: NewSchedulerMaker(p), system: NewSystemMaker(p)}
}

// Case makes case number n.
func (m *Maker) Case(n uint64) Case {
	if m.both && n%systemEvery == systemEvery-1 {
		return Case{System: m.system.Case(n)}
	}
	return Case{Scheduler: m.scheduler.Case(n)}
}

// Calls counts the calls of a case.
func (d Case) Calls() int {
	if d.System != nil {
		return d.System.Calls()
	}
	return d.Scheduler.Calls()
}

// Check gives what makes no sense in a case.
func (d Case) Check() error {
	if d.System != nil {
		return d.System.Check()
	}
	return d.Scheduler.Check()
}

// Seed breaks the ties of what happens in one instant of the case.
func (d Case) Seed() uint64 {
	if d.System != nil {
		return d.System.Seed
	}
	return d.Scheduler.Seed
}
