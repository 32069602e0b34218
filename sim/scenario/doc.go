// Package scenario is the bench's unit of proof (O3): one file that says what the
// world is like, what the model streams and what must come of it. The package
// reads such files, runs them through the real tool system in virtual time and
// holds the trace against what was expected. What it gives back, an Outcome, is
// all that reports know.
package scenario
