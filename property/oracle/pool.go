package oracle

import (
	"slices"
	"strings"

	"toolbench/property/generate"
)

// relisted reports whether a server's list that changed lacks a tool by now.
func relisted(s *generate.SystemCase, tool string, turn int) bool {
	return missing(s, tool, turn, false)
}

// Unlisted reports whether a server has no such tool any more, and its list could not be
// read.
func Unlisted(s *generate.SystemCase, tool string, turn int) bool {
	return missing(s, tool, turn, true)
}

func missing(s *generate.SystemCase, tool string, turn int, unread bool) bool {
	return slices.ContainsFunc(s.Servers, func(v generate.Server) bool {
		return v.Relist > 0 && turn >= v.Relist && (v.List != "") == unread && generate.ServerOf(tool) == v.Name &&
			slices.Contains(v.Without, strings.TrimPrefix(tool, "mcp__"+v.Name+"__"))
	})
}

// ListChanged reports whether a server's list has changed by now, or was to.
func ListChanged(s *generate.SystemCase, server string, turn int) bool {
	return slices.ContainsFunc(s.Servers, func(v generate.Server) bool { return v.Name == server && v.Relist > 0 && turn >= v.Relist })
}

// Connected reports whether a server is connected in a request.
func Connected(s *generate.SystemCase, server string, turn int) bool {
	for _, v := range s.Servers {
		if v.Name == server && turn >= v.From && (v.Until == 0 || turn <= v.Until) {
			return true
		}
	}
	return false
}

// InPool reports whether a request has the tool: its server is connected, and no rule
// hides it (C1, D2); ToolSearch is there where it may be needed (E3).
func InPool(s *generate.SystemCase, name string, turn int) bool {
	if server := generate.ServerOf(name); server != "" && (!Connected(s, server, turn) || relisted(s, name, turn)) {
		return false
	}
	if on, sure := Deferring(s); name == "ToolSearch" && sure && !on {
		return false
	}
	for _, rule := range s.Deny {
		if !strings.Contains(rule, "(") && ruleMatches(rule, name, "") {
			return false
		}
	}
	return true
}

// ruleMatches reports whether a rule is about a call.
func ruleMatches(rule, tool, path string) bool {
	if name, content, ok := strings.Cut(rule, "("); ok {
		return name == tool && strings.HasPrefix(path, strings.TrimSuffix(content, "**)"))
	}
	v := generate.Served[tool]
	return rule == tool || v != nil && (rule == "mcp__"+v.Server || rule == "mcp__"+v.Server+"__*")
}

// Deferring reports whether the setting defers tools (E2); sure is false
// where it depends on their size.
func Deferring(s *generate.SystemCase) (on, sure bool) {
	switch s.Search {
	case "", "true", "auto:0":
		return true, true
	case "false", "auto:100":
		return false, true
	}
	return false, false
}
