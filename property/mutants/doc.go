// Package mutants plants faults in the product, one at a time, and says what
// notices. A fault is an edit of one file, laid over the build (`go test
// -overlay`); the product's own files are never touched. The list is data; run it
// with
//
//	go test ./property/mutants -plant -v
//
// Without -plant only the list itself is checked: that every edit still fits the
// file it is for.
package mutants
