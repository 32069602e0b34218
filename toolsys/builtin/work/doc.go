// Package work holds the built-in tools that keep track of work: the to-do list,
// which is part of the conversation's state, the background tasks, which are not, and
// Sleep, which waits for them on the conversation's own clock. Tasks outlive a turn and
// are shared by all agents of a session (B4), so they come in through Deps as functions
// and never through the state.
package work
