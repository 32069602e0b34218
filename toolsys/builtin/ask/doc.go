// Package ask holds the built-in tools that turn to the person: questions, and
// the two tools of plan mode, which exist so that somebody agrees first.
//
// None of them has a way of its own to that person. A question goes through the
// context's AskUser, a consent through the permission system, so that a run
// without anybody there refuses both in one place.
package ask
