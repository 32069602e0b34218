// Package schedule decides when calls run (I, J). The decisions are a state
// machine without goroutines and without a clock: events go in, actions come out
// (J6). Driver is the thin layer that carries the actions out with goroutines; a
// simulator may drive the same Core with events of its own.
//
// The package knows calls by their index in the message and nothing of tools,
// state or results: it says "apply 3", and somebody else knows what that means.
package schedule
