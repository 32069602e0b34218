// Package awk parses and runs AWK programs.
//
// It is here because what a program reads, writes and runs must go through functions that the caller
// gives, and because arrays must be walked in a fixed order; the library that was weighed for it does
// neither (docs/dependencies.md).
//
// It follows POSIX, with the additions people rely on: regular expressions as record separators, `length
// array`, `delete array`, nextfile, fflush, systime, gensub. Strings are measured in characters. It does
// not have gawk's namespaces, coprocesses, BEGINFILE or sorting functions.
package awk
