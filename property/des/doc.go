// Package des drives the scheduler's core with discrete events (J6): tools, hooks,
// people and streams are models of a few lines, time is a number, and there is no
// goroutine. It exists to see very many messages in little time: the rare orders of
// events, which no scenario thinks of, come up by number.
//
// A Case is one conversation, as data; Engine.Run plays it and gives its Log. What
// happens in one instant is ordered as the gate of sim/clock orders it: by a hash of
// the seed and of who acts. So the same case run through the whole system gives the
// same log, entry by entry, and a failure found here can be shown there.
//
// What it does not do: disks, MCP servers, sub-agents, observations, result sizes.
// Those belong to the whole system and are checked there.
package des
