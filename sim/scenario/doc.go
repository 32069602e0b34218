// Package scenario is the format of the bench's unit of proof: one file that describes
// the world, what the model streams and what is expected of the run. It reads such files
// and reports what is wrong with one by line, column and remedy. Package run plays them,
// package check compares what a run left with what was expected.
package scenario
