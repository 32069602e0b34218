// Package command is the shell's utilities: cat, grep, find, sort and their like, in Go, on an afero
// filesystem (SPEC L5).
//
// Each command is a function from a [Proc] - arguments, streams, files, environment, clock - to an exit
// code. It sees nothing of the host: no disk, no process, no environment, no clock but the ones it is
// given, so that it behaves the same in a simulation as on any machine. Output has a fixed order.
//
// The commands follow GNU's: names of options, messages, exit codes. There are those that scripts of the
// bench call, with the options they call them with, and what everyday pipelines of these are made of; a
// comment above each says which. Any other option is invalid: a message names it and the exit code is 2;
// none is silently ignored. The locale is C, the time zone UTC.
//
// [Lookup] finds a command by name; there is one file for each, or for a few that belong together.
package command
