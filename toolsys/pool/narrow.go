package pool

import (
	"slices"

	"toolbench/toolsys/tool"
)

// narrowed gives the reason for which an agent's kind leaves a tool out, or "". An agent of
// an agent has what both kinds leave it.
func narrowed(kinds []tool.AgentKind, t *tool.Tool) string {
	for _, k := range kinds {
		if k.Tools != nil && !slices.ContainsFunc(k.Tools, func(name string) bool { return t.Matches(name) || served(t, name) }) {
			return "not among the tools of the agent's type"
		}
		if t.Origin != nil && k.Servers != nil && !slices.Contains(k.Servers, t.Origin.Server) {
			return "not of a server of the agent's type"
		}
	}
	return ""
}

// served reports whether a name stands for a server that the tool is of.
func served(t *tool.Tool, name string) bool {
	return t.Origin != nil && (name == "mcp__"+t.Origin.Server || name == "mcp__"+t.Origin.Server+"__*")
}

// narrowAlike reports whether two kinds leave an agent the same tools.
func narrowAlike(a, b tool.AgentKind) bool {
	same := func(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }
	return same(a.Tools, b.Tools) && same(a.Servers, b.Servers)
}
