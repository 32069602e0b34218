// Package resources holds the built-in tools that list and read what MCP servers offer
// to be read (SPEC C3, N8). They are in a pool only while a connected server has
// resources, and reach the servers through two functions, so that the family knows
// nothing of connections.
package resources
