// Package check compares what a run left behind, its trace above all, with what a
// scenario expects. Its Result is all that reports read of a run.
package check
