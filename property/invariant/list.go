package invariant

import (
	"fmt"
)

// Promise is one thing that always holds.
type SchedulerInvariant struct {
	Name string
	// Says is the promise in a sentence, with the rows of the specification.
	About string
	// Holds gives nil, or what broke it.
	Holds func(v *View) error
}

// List are the promises of the scheduler, in the order in which they are checked:
// what makes others meaningless comes first.
func SchedulerInvariants() []SchedulerInvariant { return schedulerInvariants[:] }

var schedulerInvariants = [...]SchedulerInvariant{
	{"time-goes-on", "time never runs backwards, and a log ends with the end of the conversation", (*View).timeGoesOn},
	{"one-result", "every committed call has exactly one result, every other one none (H2)", (*View).oneResult},
	{"call-order", "results leave in call order (I3)", (*View).callOrder},
	{"result-after-end", "a result leaves after its call ended, with the status it ended with", (*View).resultAfterEnd},
	{"exclusive-alone", "an exclusive call overlaps nothing (J1)", (*View).exclusiveAlone},
	{"limit", "at most so many safe calls run at once (I2)", (*View).limit},
	{"no-overtaking", "calls start in call order (J1), under effects those that conflict (J8)", (*View).noOvertaking},
	{"conflicts-wait", "under effects a call waits for all before it that write what it touches or touch what it writes (J8)", (*View).conflictsWait},
	{"waits-for-the-stream", "under serial and batch nothing starts before the stream ended (J8)", (*View).waitsForTheStream},
	{"nothing-after-a-stop", "no call of a message starts after the user spoke or the conversation was stopped (J4)", (*View).nothingAfterAStop},
	{"siblings-stop", "a failure that stops siblings leaves none queued and tells all that run (J3)", (*View).siblingsStop},
	{"others-go-on", "a failure that stops nobody stops nobody (J3)", (*View).othersGoOn},
	{"interrupt-spares", "a running call that may not be cancelled is not asked to stop by the user's message (J4)", (*View).interruptSpares},
	{"causes-apart", "a call that was stopped says why: a sibling, the user, a stop, an abandoned stream (J3-J5)", (*View).causesApart},
	{"asked-once", "a call is asked to stop at most once", (*View).askedOnce},
	{"discarded-is-gone", "an abandoned stream lets nothing out, and its calls' effects on the state are undone (J5)", (*View).discardedIsGone},
	{"deadlines", "a time limit ends a run exactly, counts the run alone, and nothing that hears outlasts it", (*View).deadlines},
	{"run-time", "a call that nothing goes wrong with runs exactly as long as it takes", (*View).runTime},
	{"allowed-first", "nothing runs without being allowed, and what was denied never runs (F2)", (*View).allowedFirst},
	{"deny-wins", "what a hook denies is denied, whatever else allows it (F2)", (*View).denyWins},
	{"modifiers-in-order", "an exclusive call's modifier acts before the next call starts; safe ones' act in call order after their batch or are dropped when streaming (B3)", (*View).modifiersInOrder},
	{"no-idling", "a call waits only for a reason: with nothing running, the first that waits starts (J1)", (*View).noIdling},
}

// Broken is a promise that did not hold.
type SchedulerViolation struct {
	Promise SchedulerInvariant
	Found   error
}

func (b *SchedulerViolation) Error() string { return fmt.Sprintf("%s: %v", b.Promise.Name, b.Found) }

// Check gives the first promise that a log breaks, or nil.
func CheckScheduler(v *View) *SchedulerViolation {
	for i := range schedulerInvariants {
		if err := schedulerInvariants[i].Holds(v); err != nil {
			return &SchedulerViolation{schedulerInvariants[i], err}
		}
	}
	return nil
}
