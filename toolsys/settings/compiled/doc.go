// Package compiled says which features this binary was built with (SPEC C1).
//
// Each feature is one constant, true unless the build tag no_<feature> is given
// (`go build -tags no_kairos,no_testing`). Constants, so that the compiler drops
// the code behind a feature that is out; two files for each, since a build
// constraint holds for a whole file. Only this package knows the tags.
package compiled

//go:generate go run generate.go
