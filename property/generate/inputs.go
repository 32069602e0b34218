package generate

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Rewritable reports whether hooks and people may give a call another input: it is of a
// tool of the case's own, or a Write to a file of its own.
func (s *SystemCase) Rewritable(c *Call) bool {
	return s.Tool(c.Tool) != nil || c.Tool == "Write" && c.Query == "" && len(c.Path) > len("/repo/a/c") && CallNumber(path.Base(c.Path)) > 0
}

// InputByHook is the input that hook i gives.
func (s *SystemCase) InputByHook(c *Call, i int) Input {
	return s.changed(c, s.Hooks[i].Input, 1_000+i, HookName(i))
}

// InputByPerson is what the person who is asked about a call rewrites its input to.
func (s *SystemCase) InputByPerson(c *Call) Input {
	return s.changed(c, c.Answer, 2_000+CallNumber(c.ID), c.ID+"p")
}

func (s *SystemCase) changed(c *Call, to string, n int, name string) Input {
	in := Input{N: n, Bad: to == "bad"}
	if c.Tool == "Write" {
		in.Path = "/repo/a/" + name + ".txt"
		if to == "barred" {
			in.Path = "/repo/barred/" + name + ".txt"
		}
	}
	return in
}

// InputText is an input as JSON, its members in order.
func (s *SystemCase) InputText(c *Call, in Input) string {
	var v map[string]any
	switch t := c.Tool; {
	case s.Tool(t) != nil && in.Bad:
		v = map[string]any{"n": "bad"}
	case s.Tool(t) != nil:
		v = map[string]any{"n": in.N}
	case s.InKit(t) && in.Bad:
		return brokenInput
	case s.InKit(t):
		return c.Input
	case Served[t] != nil && in.Bad:
		return Served[t].bad
	case Served[t] != nil:
		return Served[t].good
	case in.Bad:
		v = map[string]any{"file_path": 7}
	case t == "Read":
		v = map[string]any{"file_path": in.Path}
	case t == "Write":
		v = map[string]any{"file_path": in.Path, "content": "text of " + c.ID + "\n"}
	case t == "Edit":
		v = map[string]any{"file_path": in.Path, "old_string": "e", "new_string": fmt.Sprint("e", CallNumber(c.ID)), "replace_all": true}
	case t == "ToolSearch":
		v = map[string]any{"query": c.Query}
	case t == "Agent":
		v = map[string]any{"description": "A task", "prompt": prompt(c)}
		if c.Background {
			v["run_in_background"] = true
		}
		if c.Name != "" {
			v["name"] = c.Name
		}
	}
	raw, _ := json.Marshal(v) // numbers and texts have a form
	return string(raw)
}

// prompt is a sub-agent's first message, by which its turns are found.
func prompt(c *Call) string { return "Task of " + c.ID + "." }

// mainPrompt begins the main conversation. No sub-agent's prompt holds it, not even one that lost a part on its way.
const mainPrompt = "Go."

// Input is an input as far as a case has any: the number of a tool of its own, or a path.
type Input struct {
	N    int
	Path string
	Bad  bool
}

// CallNumber is the number in a call's id.
func CallNumber(id string) (n int) {
	_, _ = fmt.Sscanf(id, "c%d", &n) // an id of another kind has 0
	return n
}

// HookName is the name of the i-th hook, counted from 0.
func HookName(i int) string { return fmt.Sprintf("h%d", i+1) }

// ServedTool is a tool of one of the fixtures' servers, as far as a case needs it.
type ServedTool struct {
	Server   string
	ReadOnly bool
	Always   bool
	// good fits its schema, bad does not.
	good, bad string
}

// Served are the servers' tools that cases call, by their full names.
var Served = map[string]*ServedTool{
	"mcp__weather__alerts":      {"weather", true, true, `{"region":"north"}`, `{"region":7}`},
	"mcp__weather__forecast":    {"weather", true, false, `{"city":"Bern"}`, `{"city":7}`},
	"mcp__weather__history":     {"weather", true, false, `{"city":"Bern"}`, `{}`},
	"mcp__git__status":          {"git", true, false, `{"path":"src"}`, `{"path":7}`},
	"mcp__git__commit":          {"git", false, false, `{"message":"A change."}`, `{}`},
	"mcp__github__create_issue": {"github", false, false, `{"title":"Crash"}`, `{"title":7}`},
	"mcp__github__search_code":  {"github", true, false, `{"query":"x"}`, `{}`},
}

// serverNames are the servers of cases; bulk is only there to be large.
var serverNames = []string{"weather", "git", "github", "bulk"}

// catalogues are where the fixtures have a server.
var catalogues = map[string]struct {
	file string
	only []string
}{
	"weather": {file: "catalogues/weather.jsonl"},
	"git":     {file: "catalogues/vcs.jsonl", only: []string{"git"}},
	"github":  {file: "catalogues/vcs.jsonl", only: []string{"github"}},
	"bulk":    {file: "catalogues/bulk.jsonl"},
}

// ServerOf is the server of a tool, also of one that no case calls but a search may show; "" is none.
func ServerOf(tool string) string {
	for _, name := range serverNames {
		if strings.HasPrefix(tool, "mcp__"+name+"__") {
			return name
		}
	}
	return ""
}
