// Package posixre compiles the regular expressions that grep, sed, awk, find and expr are given.
//
// Those tools use POSIX basic and extended expressions with GNU's additions; Go has RE2. The two
// differ in what needs a backslash, in how bracket expressions quote, and in which of several matches
// wins. The package translates one syntax into the other and asks for the leftmost-longest match, so
// that a command written for a real machine finds the same text here (SPEC L5).
//
// Back-references inside a pattern (\1) have no translation: they are refused with [ErrBackref], never
// quietly ignored.
package posixre
