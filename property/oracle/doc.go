// Package oracle predicts what must come of a case, as slowly and plainly as possible, to
// be read as the definition. Nothing of it asks the system.
//
// Scheduler is the scheduler's core written down a second time (I1-I3, J1-J5, B3): it
// looks at all calls again after every event, and decides action for action as the core
// does. Spans is a formula: where nothing stops anything, when each call starts and ends
// follows from it. Predict is the way of one call of a system case: which hooks run, who
// decides, with what input it runs and how it ends.
package oracle
