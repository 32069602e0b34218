// Command mutants plants faults in the product, one at a time, and reports what
// notices each: which scenario of the suite, which property, and the smallest case
// that shows it.
//
//	go run ./property/mutants
//	go run ./property/mutants -only 'deny|allow' -v
//
// A fault is an edit of one file, laid over the build (`go build -overlay`); the
// product's own files are never touched. The list is data, in list_*.go: each
// entry a small slip in the code that guards a promise, and each built-in tool
// with its body deleted. `go test` holds that every edit still fits the file it
// is for, in exactly one place.
//
// Slips that change nothing anybody could see are not in the list. Tried and left
// out: taking a person's no for a yes that is only remembered (a denied call never
// comes back to ask what was remembered).
package main
