// Command mutants plants faults in the product, turns them on one at a time, and reports what
// notices each: which scenario of the suite, which test or invariant, and the smallest case that
// shows it.
//
//	go run ./property/mutants -first
//	go run ./property/mutants -only 'deny|allow' -json
//
// A fault replaces a piece of code within one function. It is anchored to the function's name and
// compared token by token, so that reworded comments, a new layout or a move to another file of
// the package do not loosen it.
//
// All faults are built into the program at once: a function with faults begins with a question for
// each whether it is on (MUTANTS_CHANGE), and goes on with its body as the fault makes it. The edits
// are laid over the build (`go build -overlay`); the product's own files are never touched. Each
// checker first runs with no fault on: it has to succeed, and a fault that it does not come to is
// not turned on for it. A fault that does not compile is left out, and reported.
//
// Machines share the list, each every N-th of its faults, and what they found is joined:
//
//	go run ./property/mutants -first -shard 1/4 -out 1.json
//	go run ./property/mutants -merge 1.json 2.json 3.json 4.json
//
// The list is data, in faults.yaml: each entry a small error in the code that guards an
// invariant. To it comes each built-in tool with its body deleted. `go test` holds that
// every fault still fits the code, in exactly one place.
//
// Errors that change nothing anybody could see are not in the list. Tried and left
// out: taking a person's no for a yes that is only remembered (a denied call never
// comes back to ask what was remembered).
//
// With -operators it changes every operator of one package in turn, and runs the tests of the
// package:
//
//	go run ./property/mutants -operators ./toolsys/permission
package main
