// Package settings holds the one value that gates and modes read (SPEC C2).
//
// Everything a user can switch from outside is a field or a [Flag] of
// [Settings], and only this package turns environment variables into it: the
// caller passes the look-up in, so that a test, a scenario file and a real
// process are read by the same code and nothing else ever needs the environment.
//
// Feature flags exist twice (SPEC C1): as a build tag, which takes the feature's code
// out of the binary, and as a FEATURE_ variable, which switches what is left.
// [Settings.Has] is true only where both agree.
//
// Which tools a flag gates is the pool's business. A value that cannot be read is an
// error that names it: nothing is guessed.
package settings
