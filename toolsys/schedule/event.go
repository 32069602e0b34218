// Package schedule decides when calls run (I, J). The decisions are a state
// machine without goroutines and without a clock: events go in, actions come out
// (J6). Driver is the thin layer that carries the actions out with goroutines; a
// simulator may drive the same Core with events of its own.
//
// The package refers to calls by their index in the message, and not to tools,
// state or results: what "apply 3" means is its owner's concern.
package schedule

// EventKind names what happened to the message or to one of its calls.
type EventKind uint8

// The events the core steps on.
const (
	// Added: a call is complete. Calls are numbered in the order they are added.
	Added EventKind = iota
	// StreamEnded: no more calls will be added.
	StreamEnded
	// Finished: call Index ended, for whatever reason.
	Finished
	// Escalated: call Index was admitted as safe and, its input rewritten, no
	// longer is; it holds still until nothing runs beside it (G2).
	Escalated
	// Interrupted: the user sent a new message (J4).
	Interrupted
	// Aborted: the conversation is being stopped.
	Aborted
	// Abandoned: the stream is given up and retried (J5).
	Abandoned
	// Declared: call Index declares anew what it touches, as the action Declare asked.
	Declared
	// Began: the work of call Index begins, after all that it waited for.
	Began
	// GraceOver: calls that were asked to stop had the time they are given for it (J4). Index is how
	// often calls had been asked when it began.
	GraceOver
)

// Event is one input of the core.
type Event struct {
	Kind  EventKind
	Index int
	// Safe and Cancellable describe an Added call.
	Safe, Cancellable bool
	// Fails: a Finished call's own failure stops its siblings (J3).
	Fails bool
	// Modifies: a Finished call returned a modifier.
	Modifies bool
	// Touches is what an Added or Declared call reads and writes; nil means
	// everything. The policy Effects alone looks at it (J8).
	Touches *Footprint
}

// Cause is why a call was stopped or never run. It is an error, so that it can
// be the cause of a cancelled context.
type Cause uint8

// The causes, distinct in every result.
const (
	NoCause Cause = iota
	SiblingFailed
	UserInterrupt
	SessionAborted
	StreamAbandoned
	Vanished
)

var causeText = [...]string{
	NoCause:         "none",
	SiblingFailed:   "a sibling call failed",
	UserInterrupt:   "the user interrupted",
	SessionAborted:  "the conversation was stopped",
	StreamAbandoned: "the stream was abandoned",
	Vanished:        "its goroutine ended without a result",
}

func (c Cause) Error() string  { return causeText[c] }
func (c Cause) String() string { return causeText[c] }

// ActionKind names what the driver has to do.
type ActionKind uint8

// The actions the core asks for, to be carried out in the order given.
const (
	// Start: run call Index.
	Start ActionKind = iota
	// Resume: the escalated call Index may go on alone.
	Resume
	// Cancel: ask the running call Index to stop; it still finishes.
	Cancel
	// Answer: call Index never runs; make its result from Cause.
	Answer
	// Apply: call Index's modifier acts now.
	Apply
	// Drop: call Index's modifier never acts (B3).
	Drop
	// Emit: commit call Index's observations and let its result out.
	Emit
	// Discard: no result of call Index will be let out (J5).
	Discard
	// Leave: call Index was asked to stop for Cause and still runs; it is answered
	// without it. Whatever it ends with later is nobody's result (J4).
	Leave
	// Done: nothing runs that is waited for, and nothing will.
	Done
	// Declare: what the keys of the queued call Index stand for is settled now; give
	// with a Declared event what it touches. It does not start before. Asked under
	// Effects only, of calls that waited for one that shifts keys.
	Declare
)

var actionNames = [...]string{"start", "resume", "cancel", "answer", "apply", "drop", "emit", "discard", "leave", "done", "declare"}

func (k ActionKind) String() string { return actionNames[k] }

// Action is one output of the core.
type Action struct {
	Kind  ActionKind
	Index int
	Cause Cause
}
