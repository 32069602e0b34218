package generate

import (
	"strings"
)

// serving is a tool of one of the fixtures' servers, as far as a scene needs it.
type ServedTool struct {
	Server   string
	ReadOnly bool
	Always   bool
	// good fits its schema, bad does not.
	good, bad string
}

// served are the servers' tools that scenes call, by their full names.
var Served = map[string]*ServedTool{
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
func ServerOf(tool string) string {
	for _, name := range serverNames {
		if strings.HasPrefix(tool, "mcp__"+name+"__") {
			return name
		}
	}
	return ""
}
