package generate

import (
	"fmt"
	"path"
	"strings"

	"toolbench/property/des"
)

// Case is one case of a plan: a scheduler case, which both engines can run, or a system
// case, which only the whole system can. One of the two is there.
type Case struct {
	Scheduler *des.Case
	System    *SystemCase
}

// systemEvery is how many cases there are for each system case, in runs of the whole system.
const systemEvery = 8

// Maker makes the cases of a plan. A case holds until the next is made; one goroutine may use it at a time.
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

// either is the one that is there.
func (d Case) either() interface {
	Calls() int
	Check() error
} {
	if d.System != nil {
		return d.System
	}
	return d.Scheduler
}

// Calls counts the calls of a case.
func (d Case) Calls() int { return d.either().Calls() }

// Check gives what makes no sense in a case.
func (d Case) Check() error { return d.either().Check() }

// Seed breaks the ties of what happens in one instant of the case.
func (d Case) Seed() uint64 {
	if d.System != nil {
		return d.System.Seed
	}
	return d.Scheduler.Seed
}

// Feature is something a case may have.
type Feature uint32

// The features. Each case leaves some out.
const (
	Exclusive Feature = 1 << iota
	Failing           // tools that fail, and may stop their siblings
	Breaking          // tools that panic or give errors
	Hanging           // tools that do not end, and time limits
	IgnoringCancel
	Modifying
	Asking
	Hooks
	BrokenHooks
	Escalating
	Misnamed     // unknown tools, inputs that are no JSON
	Interrupting // new messages of the user
	Cuts         // streams that break off
	Stalls
	Refusals   // of the API: 429, 529
	Aborting   // the conversation is stopped
	Turns      // more than one
	Ties       // everything at few instants
	Many       // calls in one message
	Footprints // calls that declare what they read and write
	Huge       // results beyond what a result may be
	Disk       // that is full, or read-only
	Empty      // results that are nothing
	Late       // progress after the end, answers when the user has moved on
	Servers    // of MCP that die, come back, change their lists, answer what nobody asked; in system cases only
	Repeats    // events that come twice or late; in system cases only
	all        = iota
)

// Everything is all features.
const Everything = Feature(1)<<all - 1

// FaultFeatures are the features that are faults.
const FaultFeatures = Breaking | Hanging | IgnoringCancel | BrokenHooks | Cuts | Stalls | Refusals | Huge | Disk | Empty | Late | Servers | Repeats

var featureNames = [all]string{
	"exclusive", "failing", "breaking", "hanging", "deaf", "modifying", "asking", "hooks", "broken-hooks", "escalating", "misnamed",
	"interrupts", "cuts", "stalls", "refusals", "aborts", "turns", "ties", "many", "footprints", "huge", "disk", "empty", "late", "servers", "repeats",
}

// Has reports whether all of g are in f.
func (f Feature) Has(g Feature) bool { return f&g == g }

// String lists the features, with commas.
func (f Feature) String() string {
	var some []string
	for i, name := range featureNames {
		if f.Has(1 << i) {
			some = append(some, name)
		}
	}
	return strings.Join(some, ",")
}

// MatchFeatures gives the features whose names match a glob, as "cut*".
func MatchFeatures(glob string) (Feature, error) {
	var some Feature
	for i, name := range featureNames {
		ok, err := path.Match(glob, name)
		if err != nil {
			return 0, fmt.Errorf("%q is no glob; write a name or one like cut*", glob)
		}
		if ok {
			some |= 1 << i
		}
	}
	return some, nil
}
