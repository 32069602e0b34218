// Package oracle decides whether what came of a case is right (O6): it predicts what must come of it, as slowly and
// plainly as possible, to be read as the definition, and it holds what must be true of every conversation, whatever
// happened in it. Nothing of it asks the system what it decided, or why.
//
// # Predictions
//
// Scheduler is the scheduler's core written down a second time (I1-I3, J1-J5, B3): it looks at all calls again after
// every event, and decides action for action as the core does. Spans is a formula: where nothing stops anything, when
// each call starts and ends follows from it. Predict is the way of one call of a system case: which hooks run, who
// decides, with what input it runs and how it ends.
//
// # Invariants
//
// There are three kinds: those of the scheduler look at a log, those of runs at a trace and the requests in it, and
// those of system cases at both, together with what is predicted. Goals are rare things that should come up in a
// fuzzing run; they are counted, since an order of events that never came up was not tested.
package oracle
