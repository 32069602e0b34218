// Package scene makes random conversations of what only the whole system has: tools
// that are deferred and searched for, servers that come and go, rules and hooks and
// people that decide and rewrite, results too large for a request, real files and
// sub-agents (O6); and tools, streams, servers, hooks and the disk that go wrong (O7).
//
// A Scene is data, as a des.Case is: number i of a seed is always the same one, and
// one that fails is made small and written as a scenario's file. What must come of it
// is said twice: by a reference of a few lines that foretells each call's end, and by
// promises that are read off the trace and the requests. Neither asks the system what
// it thinks.
package scene
