package oracle

import "slices"

// Invariant is one thing that always holds.
type Invariant struct {
	Name string
	// About is the invariant in a sentence, with the rows of the specification.
	About string
}

// Violation is an invariant that did not hold.
type Violation struct {
	Name, Found string
	// Log is what happened, a line an entry; "" where nothing was logged.
	Log string
}

// condition is an invariant with the function that checks it.
type condition[T any] struct {
	Name, About string
	holds       func(T) error
}

// first gives the first of the invariants that does not hold, or nil.
func first[T any](all []condition[T], v T) *Violation {
	for i := range all {
		if err := all[i].holds(v); err != nil {
			return &Violation{Name: all[i].Name, Found: err.Error()}
		}
	}
	return nil
}

func listed[T any](all []condition[T]) []Invariant {
	return each(all, func(c condition[T]) Invariant { return Invariant{c.Name, c.About} })
}

// each gives what f makes of each thing.
func each[T, U any](all []T, f func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, f(one))
	}
	return out
}

// SchedulerInvariants lists the invariants of the scheduler, in the order in which they are
// checked: what makes others meaningless comes first.
func SchedulerInvariants() []Invariant { return listed(schedulerInvariants[:]) }

// SystemInvariants lists the invariants of runs and of system cases.
func SystemInvariants() []Invariant {
	reordered := Invariant{ReorderName, "tools and servers in another order give the same requests, byte for byte (D3)"}
	return append(slices.Concat(listed(runInvariants[:]), listed(systemInvariants[:])), reordered)
}

// ReorderName is the name of the invariant of system cases that takes another run.
const ReorderName = "any-order"

// Goal is something rare that should come up in a fuzzing run.
type Goal struct {
	Name string
	// Policy is the only policy under which it can come up; "" is any.
	Policy string
	// System: only system cases have it.
	System bool
}

// Goals are all of them: those of the scheduler, then those of system cases.
func Goals() []Goal {
	scheduler := each(schedulerGoals, func(g schedulerGoal) Goal { return Goal{Name: g.Name, Policy: g.Policy} })
	return append(scheduler, each(systemGoals, func(g systemGoal) Goal { return Goal{Name: g.Name, System: true} })...)
}

// CountScheduler counts up, by place in Goals, what came up in a log.
func CountScheduler(v *View, seen []int) {
	for i := range schedulerGoals {
		seen[i] += schedulerGoals[i].Count(v)
	}
}

// CountSystem counts up, by place in Goals, what came up in the run of a system case.
func CountSystem(v *SystemView, seen []int) {
	for i := range systemGoals {
		seen[len(schedulerGoals)+i] += systemGoals[i].count(v)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// howMany counts the things that are so.
func howMany[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		n += count(is(one))
	}
	return n
}
