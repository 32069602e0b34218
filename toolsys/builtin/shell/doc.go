// Package shell holds the built-in tools that run commands: Bash, and beside it
// PowerShell, terminals and worktrees. What runs them comes in through Deps: an
// in-process shell on a filesystem in memory, or a real one (SPEC L5). What a command
// is, and so how it may run, is never guessed from its text here: package shellcmd
// parses it, and this package draws the conclusions for permission, scheduling and the
// screen (L2, L3). Of PowerShell it reads here as much as is needed to prove that a
// script of plain commands only reads.
package shell
