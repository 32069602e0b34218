// Package task is the table of background tasks: what Bash starts and leaves
// running, background agents, monitors, and what TaskOutput and TaskStop look at
// (SPEC B4, L4).
//
// It is what B4 always shares. A task outlives the turn and the sub-agent
// that began it, so it is no part of a conversation's state; one table is made for
// a session and handed to agents of every depth.
//
// Time and goroutines come through a tool.Clock. Whoever waits for a task waits at
// that clock, so in a simulated run those woken by one task's end go on one at a
// time and in a fixed order.
package task

import (
	"time"
)

// Status is how a task stands.
type Status string

// A task runs until it ends in one of three ways: Completed with exit code 0,
// Failed with another code, an error or a panic, Stopped when someone asked for it.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Stopped   Status = "stopped"
)

// Spec is what a task is, in words for people and traces.
type Spec struct {
	// Kind is the family: "bash", "agent", "monitor", "workflow".
	Kind string
	// Title is one line for a screen; Command is what runs, if it is a command.
	Title, Command string
	// Agent began it; "" is the main conversation.
	Agent string
}

// Task is a task as it stood when it was asked for.
type Task struct {
	// ID is task_1, task_2, ... in the order of Start.
	ID string
	Spec
	Status Status
	// Exit is the exit code, once it ended.
	Exit int
	// Err is why it failed; "" otherwise.
	Err string
	// Started and Ended are of the table's clock; Ended is zero while it runs.
	Started, Ended time.Time
	// Written is how many bytes it put out, Dropped how many of the oldest of them
	// are no longer kept.
	Written, Dropped int64
}

// Change is what an Event reports.
type Change string

// A task Began, and later it Ended; nothing else is reported.
const (
	Began Change = "began"
	Ended Change = "ended"
)

// Event reports that a task began or ended.
type Event struct {
	Change Change
	Task   Task
}
