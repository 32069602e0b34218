// Package shell runs shell command lines, without a shell.
//
// [Shell.Run] interprets a Bash script in this process, on an afero filesystem: the bench needs a Bash
// tool that touches no host, runs in virtual time and gives the same output every time (SPEC L5).
//
// # How a script runs
//
// The interpreter is mvdan.cc/sh. It reaches for the host in a few places; here is what became of each.
//
//   - Pipes, here-documents and input redirections are real pipes in it, which block in real time and
//     so hang in a synctest bubble. The syntax tree is rewritten before it runs (rewrite.go): the stages
//     of a pipeline run one after the other, each output held in memory, cut off at a limit as if the
//     reader had gone away; standard input is kept beside the interpreter, not in it.
//   - Its builtins that look at the disk (type, command -v, source, test, pwd -P) or at standard input
//     (read, mapfile) are replaced (builtins.go).
//   - Process ids, random numbers, users and home directories come from the [Shell], not the machine.
//   - <(...) becomes a file in memory; >(...), coproc and select are refused before anything runs.
//   - A job in the background (&) runs to its end in place; wait gives its status.
//
// Where it still differs from Bash: file descriptors above 2 cannot be redirected; a while loop's own status is 0; an
// assignment to a readonly variable does not end the script; messages of expansion errors lack "bash: line N:"; a
// failed ${x?} gives 1 even under -c; timeout cuts sleeps short, not computations; patterns cannot refer back to
// their own groups; a variable that is split on characters other than blanks loses its empty fields, as read's do
// not; an array with keys and nothing in it has one element; a division by 0 ends its command only.
//
// # Commands
//
// The utilities (cat, grep, find, sort and their like) are functions from a process - arguments, streams,
// files, environment, clock - to an exit code; there is one file for each, or for a few that belong together
// (commands.go lists them). Their output has a fixed order.
//
// They follow GNU's: names of options, messages, exit codes. There are those that scripts of the
// bench call, with the options they call them with, and what everyday pipelines of these are made of; a
// comment above each says which. Any other option is invalid: a message names it and the exit code is 2;
// none is silently ignored. The locale is C, the time zone UTC.
//
// No goroutine is started, no timer, no process, no file of the host is opened.
package shell
