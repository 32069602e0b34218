// Package mcptool turns the tools of MCP servers into tools of this system: one
// template, one instance per server tool (SPEC N1, N2, N4, N7).
//
// What a server says of its tools is read with care. A hint that is missing means
// the strict thing: a tool that does not call itself read-only is exclusive. Every
// call is left to the general permission rules. A schema that does not resolve, or
// that is missing, loads its tool all the same, unvalidated and with a report, since
// the server will judge the input itself.
//
// Names and schemas do not depend on the order in which servers connect or list, nor
// on the order of members in what they send: the names are settled over all servers
// at once, and the members of a schema go by name, since the client library has lost
// their order before this package sees them.
//
// The package holds no connection. A [Server] is asked for its session at every
// call, so whoever owns the connections may replace one that was lost.
package mcptool
