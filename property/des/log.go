package des

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/schedule"
)

// Kind is what happened.
type Kind uint8

// What happens in a conversation, as far as the scheduler has to do with it. The
// Code of an entry is given behind the kind.
const (
	Request   Kind = iota // a request left
	Ready                 // a call is complete
	Started               // the scheduler let it go
	Cancelled             // it was asked to stop: schedule.Cause
	Escalated             // it turned out not to be safe
	Asked                 // a person is asked
	Decided               // permission was given (0) or not (1)
	Ended                 // it has its result: Status
	Applied               // its modifier acted
	Dropped               // its modifier never acts
	Emitted               // its result left: Status
	Discarded             // no result of it leaves
	Interrupt             // a new message of the user
	Fallback              // the stream was abandoned and is tried again
	Committed             // the turn is over
	Over                  // the conversation is: 0 well, 1 with an error
)

var kindText = [...]string{
	"request", "ready", "started", "cancelled", "escalated", "asked", "decided", "ended", "applied", "dropped", "emitted", "discarded",
	"interrupt", "fallback", "committed", "over",
}

func (w Kind) String() string { return kindText[w] }

// Status is how a call ended.
type Status uint8

// The ways a call ends, with the names of the pipeline.
const (
	OK Status = iota
	RunFailed
	NoSuchTool
	BadJSON
	Stopped
	Denied
	TimedOut
	Panicked
	SiblingFailed
	Interrupted
	Aborted
	Abandoned
)

var statusText = [...]string{
	"ok", "failed", "unknown_tool", "bad_json", "stopped", "denied", "timeout", "panic", "cancelled", "interrupted", "aborted", "discarded",
}

func (s Status) String() string { return statusText[s] }

// StatusOf reads a status's name.
func StatusOf(name string) (Status, bool) {
	i := slices.Index(statusText[:], name)
	return Status(max(0, i)), i >= 0
}

// CauseOf reads a cause's text.
func CauseOf(text string) schedule.Cause {
	for c := schedule.NoCause; c <= schedule.Vanished; c++ {
		if c.String() == text {
			return c
		}
	}
	return schedule.NoCause
}

// Entry is one thing that happened.
type Entry struct {
	At   time.Duration
	Kind Kind
	Code uint8
	Turn int16
	// Call counts over all turns, from 0; -1 where no call is meant.
	Call int16
}

// String is a line of a log.
func (e Entry) String() string {
	s := fmt.Sprintf("%s turn %d %s", e.At, e.Turn, e.Kind)
	if e.Call >= 0 {
		s += fmt.Sprintf(" #%d", e.Call)
	}
	switch e.Kind {
	case Cancelled:
		s += ": " + schedule.Cause(e.Code).String()
	case Ended, Emitted:
		s += ": " + Status(e.Code).String()
	case Over:
		s += [...]string{": well", ": with an error"}[e.Code]
	}
	return s
}

// Log is what happened, in order. State are the calls whose modifiers make up the
// state at the end, in the order in which they acted. FaultsHit are the places of the
// case's faults that hit a request; a log that is read off a trace has none.
type Log struct {
	Entries   []Entry
	State     []int16
	FaultsHit []int16
}

// String is the log, a line an entry.
func (l *Log) String() string {
	var b strings.Builder
	for _, e := range l.Entries {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "state %v\n", l.State)
	return b.String()
}
