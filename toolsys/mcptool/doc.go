// Package mcptool turns the tools of MCP servers into tools of this system: one
// template, one instance per server tool (SPEC N1, N2, N7), and keeps the connections to
// the servers (N3-N6, N8).
//
// What a server declares of its tools is read with care. A hint that is missing means
// the strict thing: a tool that does not call itself read-only is exclusive. Every
// call is left to the general permission rules. A schema that does not resolve, or
// that is missing, loads its tool all the same, unvalidated and with a report, since
// the server will check the input itself.
//
// Names and schemas do not depend on the order in which servers connect or list, nor
// on the order of members in what they send: the names are given over all servers
// at once, and the members of a schema go by name, since the client library has lost
// their order before this package sees them.
//
// A [Fleet] keeps connections: servers go and come back, change their lists and
// misbehave, and none of it may cost a conversation more than one error for each call
// under way. A server that is lost is connected again in the background, with growing
// pauses; meanwhile its tools stay as they were, since a short loss should cost no prompt
// cache. One that stays away is given up, reported, and its tools leave the next request.
// Lists are kept, the longest unused dropped first, and read anew with the connection
// and when the server announces a change. All its waiting goes through the clock it is given, so a simulated
// run of it is the same each time.
//
// A server's own questions reach the person through the call they belong to. Servers of
// the older protocol do not name it: the one they have worked on for longest counts.
//
// Whoever has sessions of their own needs no fleet: [List] gives what a session offers,
// [Tools] makes tools of it, and a [Server] is asked for its session at every call.
package mcptool
