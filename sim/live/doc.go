// Package live lists the tools of MCP servers that run outside of the bench (SPEC
// E8): child processes over stdio, and servers over HTTP, through the official
// library, as a user's own .mcp.json names them.
//
// It is the only part of the bench that starts processes and opens connections, and
// does so only for what a user named. The environment is passed in. A server that
// fails is told apart from the others, with what it said; the others are listed.
package live
