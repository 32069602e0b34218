// Package task is the table of background tasks: what Bash starts and leaves
// running, background agents, monitors, and what TaskOutput and TaskStop look at
// (SPEC B4, L4).
//
// It is the always-shared door of B4. A task outlives the turn and the sub-agent
// that began it, so it is no part of a conversation's state; one table is made for
// a session and handed to agents of every depth.
//
// Time and goroutines come through a tool.Clock. Whoever waits for a task waits at
// that clock, so in a simulated run those woken by one task's end go on one at a
// time and in a fixed order.
package task
