// Command mutants plants faults in the product, one at a time, and reports what
// notices each: which scenario of the suite, which test or invariant, and the
// smallest case that shows it.
//
//	go run ./property/mutants
//	go run ./property/mutants -only 'deny|allow' -json
//
// A fault replaces a piece of code within one declaration. It is anchored to the
// declaration's name and compared token by token, so that reworded comments, a new
// layout or a move to another file of the package do not loosen it. The edit is laid
// over the build (`go build -overlay`); the product's own files are never touched.
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
