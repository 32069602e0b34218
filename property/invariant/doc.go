// Package promise holds what must be true of every conversation, whatever happened to
// it: each promise is a function over a case and its log, with a name and a sentence
// (O6). They know nothing of how the scheduler works: what they see is the log alone.
//
// Those of this package hold for both engines; the whole system has further ones,
// which look at its trace.
package invariant
