// Package ask holds the built-in tools that turn to the person: questions, and
// the two doors of plan mode, whose whole point is that somebody says yes.
//
// None of them has a way of its own to that person. A question goes through the
// context's AskUser, a consent through the permission system, so that a run
// without anybody there refuses both in one place.
package ask
