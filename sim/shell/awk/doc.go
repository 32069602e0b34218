// Package awk parses and runs AWK programs.
//
// It exists because a shell without awk is no shell for an agent (SPEC L5), because everything a program
// reads and writes must go through doors the caller gives (no library here takes a filesystem), and
// because the classifier must know, without running a program, whether it writes files or starts
// commands (SPEC L2).
//
// It follows POSIX, with the additions people rely on: regular expressions as record separators, `length
// array`, `delete array`, nextfile, fflush, tolower/toupper on UTF-8, systime, gensub. Arrays are walked in a fixed
// order, numbers first, ascending. Strings are measured in characters. printf writes numbers as C does.
// It does not have gawk's namespaces, @load, coprocesses, BEGINFILE, or sorted-array functions: a
// program that uses them does not parse.
package awk
