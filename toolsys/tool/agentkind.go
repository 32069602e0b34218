package tool

import "toolbench/toolsys/permission"

// AgentKind is what a kind of sub-agent is besides its name. The zero value is an agent like
// the one that starts it. A kind can only narrow what that one may do.
type AgentKind struct {
	// System is what the agent reads before its task, in place of the conversation's.
	System string
	// Tools are the names of the tools it has, mcp__SERVER standing for all of a server; nil
	// leaves it all. Without are rules that deny it calls, or tools as a whole.
	Tools   []string
	Without []permission.Rule
	// Servers are the MCP servers whose tools it has; nil leaves it all.
	Servers []string
	// Mode is its permission mode where that lets less run than its parent's; nil keeps
	// the parent's.
	Mode *permission.Mode
	// Reminder is what the agent is told anew with each message, beside what those above it are.
	Reminder string
	// Preserve keeps the results of the agent's calls for its parent.
	Preserve bool
}
