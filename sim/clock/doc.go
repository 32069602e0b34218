// Package clock is the bench's virtual time. It is two things together.
//
// The bubble is Go's own testing/synctest: inside it every timer, every context
// deadline and time.Now itself run on a fake clock that jumps ahead when all
// goroutines wait, so the system runs unchanged and hours take milliseconds.
//
// The gate makes it one run and not one of many. A bubble alone wakes goroutines of
// the same instant in any order. Whoever waits for something simulated (a stream
// event, a tool's duration, a person's answer) waits at the gate instead, and the
// gate lets exactly one of them go at a time: first by time, then by a hash of the
// seed and of who it is. The next is let go when everything has come to rest. So
// the trace is the same for the same seed, on any number of processors (O4).
package clock
