// Package shell holds Bash, the built-in tool that runs commands. What runs them
// comes in through Deps: an in-process shell on a filesystem in memory, or a real
// one (SPEC L5). What a command is, and so how it may run, is never guessed from
// its text here: package shellcmd parses it, and this package draws the conclusions for
// permission, scheduling and the screen (L2, L3).
package shell
