// Package pipeline takes one call from its name to its result block (H). The
// stages are: find, schema, validate, classify, strip, backfill, pre hooks,
// permission, run, post hooks, budget, block. Each has its own error result, its
// own trace event and its own duration, and whatever happens, exactly one Result
// comes out (H2).
//
// The pipeline knows one call. It does not know the order in which calls run, and
// it does not change state: a modifier leaves with the Result.
package pipeline
