package scene

import (
	"slices"
	"strings"
)

// serving is a tool of one of the fixtures' servers, as far as a scene needs it.
type serving struct {
	server   string
	readOnly bool
	always   bool
	// good fits its schema, bad does not.
	good, bad string
}

// served are the servers' tools that scenes call, by their full names.
var served = map[string]*serving{
	"mcp__weather__alerts":      {"weather", true, true, `{"region":"north"}`, `{"region":7}`},
	"mcp__weather__forecast":    {"weather", true, false, `{"city":"Bern"}`, `{"city":7}`},
	"mcp__weather__history":     {"weather", true, false, `{"city":"Bern"}`, `{}`},
	"mcp__git__status":          {"git", true, false, `{"path":"src"}`, `{"path":7}`},
	"mcp__git__commit":          {"git", false, false, `{"message":"A change."}`, `{}`},
	"mcp__github__create_issue": {"github", false, false, `{"title":"Crash"}`, `{"title":7}`},
	"mcp__github__search_code":  {"github", true, false, `{"query":"x"}`, `{}`},
}

// serverNames are the servers of scenes; bulk is only there to be large.
var serverNames = []string{"weather", "git", "github", "bulk"}

// catalogues say where the fixtures have a server.
var catalogues = map[string]string{
	"weather": `catalogue: catalogues/weather.jsonl`, "git": `catalogue: catalogues/vcs.jsonl, only: [git]`,
	"github": `catalogue: catalogues/vcs.jsonl, only: [github]`, "bulk": `catalogue: catalogues/bulk.jsonl`,
}

// serverOf is the server of a tool, also of one that no scene calls but a search may
// show; "" is one of our own.
func serverOf(tool string) string {
	for _, name := range serverNames {
		if strings.HasPrefix(tool, "mcp__"+name+"__") {
			return name
		}
	}
	return ""
}

// relisted says whether a server's list that changed lacks a tool by now.
func (s *Scene) relisted(tool string, turn int) bool { return s.lost(tool, turn, false) }

// unlisted says whether a server has no such tool any more, and nobody could read so.
func (s *Scene) unlisted(tool string, turn int) bool { return s.lost(tool, turn, true) }

func (s *Scene) lost(tool string, turn int, unread bool) bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool {
		return v.Relist > 0 && turn >= v.Relist && (v.List != "") == unread && serverOf(tool) == v.Name &&
			slices.Contains(v.Without, strings.TrimPrefix(tool, "mcp__"+v.Name+"__"))
	})
}

// listChanged says whether a server's list has changed by now, or was to.
func (s *Scene) listChanged(server string, turn int) bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool { return v.Name == server && v.Relist > 0 && turn >= v.Relist })
}

// there says whether a server is connected in a request.
func (s *Scene) there(server string, turn int) bool {
	for _, v := range s.Servers {
		if v.Name == server && turn >= v.From && (v.Until == 0 || turn <= v.Until) {
			return true
		}
	}
	return false
}

// inPool says whether there is the tool in a request: it is connected, and no rule
// hides it (C1, D2); ToolSearch is where it may be
// needed (E3).
func (s *Scene) inPool(name string, turn int) bool {
	if server := serverOf(name); server != "" && (!s.there(server, turn) || s.relisted(name, turn)) {
		return false
	}
	if on, sure := s.deferring(); name == "ToolSearch" && sure && !on {
		return false
	}
	for _, rule := range s.Deny {
		if !strings.Contains(rule, "(") && speaks(rule, name, "") {
			return false
		}
	}
	return true
}

// speaks says whether a rule is about a call.
func speaks(rule, tool, path string) bool {
	if name, content, ok := strings.Cut(rule, "("); ok {
		return name == tool && strings.HasPrefix(path, strings.TrimSuffix(content, "**)"))
	}
	v := served[tool]
	return rule == tool || v != nil && (rule == "mcp__"+v.server || rule == "mcp__"+v.server+"__*")
}
