// Package search decides which tools go by name only, when, and how the model
// finds them again (SPEC E1-E3, E5, C4).
//
// It is pure: entries, modes and queries in, decisions and ranked names out. An
// [Index] is built once per pool and is safe for concurrent searches.
//
// The scorer is the baseline: name, hint and description, by whole words. What
// it does not do, and other rankers are measured against it for: it knows no
// synonyms, does not look at parameters, and takes an unbroken run of letters
// for one word, so that it is of little use where words are not set apart by
// blanks.
package search
