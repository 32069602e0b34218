// Package fuzz runs many random cases, checks every invariant on each, compares it with
// the scheduler's definition and with the other engine, and makes what fails small (O6,
// O7). It counts the goals that came up: what never did was not tested.
//
// A scheduler case is run three ways, which must give the same log: by discrete events
// (package des); in process, where the real clock, conversation, scheduler, pipeline,
// hooks, permissions and budgets get the bytes of the model's stream directly, five times
// as fast and able to stop a conversation from outside; and end to end, as a scenario,
// over HTTP and through the client library.
package fuzz
