// Package builtin is the one table of built-in tools (C1, L). Adding a tool takes
// a file in a family, its prompt beside it, and a line here. A family imports the
// contract and leaves only; what a tool needs of the rest of the system comes in
// through Deps, as functions.
package builtin
