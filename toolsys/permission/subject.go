package permission

import (
	"slices"
	"strings"
)

// names reports whether the rule's tool part means this tool, by name or alias.
func (r Rule) names(s Subject) bool {
	rest, isMCP := strings.CutPrefix(r.tool, mcpPrefix)
	if isMCP != (s.MCP != nil) {
		return false
	}
	if isMCP {
		return namesOrigin(normal(rest), *s.MCP) || slices.Contains(s.Aliases, r.tool)
	}
	return star(r.tool, s.Tool) || slices.ContainsFunc(s.Aliases, func(alias string) bool { return star(r.tool, alias) })
}

// namesOrigin matches what follows mcp__ with a tool's origin. Server and tool
// are compared apart, since either may contain the separator: a rule for
// server git means neither github nor git__hub.
func namesOrigin(rest string, o Origin) bool {
	server, tool := normal(o.Server), normal(o.Tool)
	if rest == server {
		return true
	}
	if strings.Contains(rest, "*") && !strings.Contains(rest, "__") && star(rest, server) {
		return true
	}
	for i := range len(rest) - 1 {
		if rest[i:i+2] == "__" && star(rest[:i], server) && star(rest[i+2:], tool) {
			return true
		}
	}
	return false
}

// normal writes a name as MCP tool names do: whatever is no letter, digit,
// hyphen or underscore becomes an underscore (SPEC N1). Stars are the rule's.
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '*':
			return r
		}
		return '_'
	}, name)
}
