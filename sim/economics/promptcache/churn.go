package promptcache

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Churn is the built-in session: 40 turns in which servers connect late, drop,
// return and change what they list (D5).
func Churn() Session {
	mail, vcs, wiki, chat := made("mail", 3), made("vcs", 6), made("wiki", 8), made("chat", 4)
	edited := made("wiki", 8)
	edited[2].Description += " It may take a while."
	return Session{Turns: 40, Events: []Event{
		{Turn: 0, Server: "mail", Tools: mail, About: "server mail is there from the start"},
		{Turn: 3, Server: "vcs", Tools: vcs, About: "server vcs connects late"},
		{Turn: 7, Server: "wiki", Tools: wiki, About: "server wiki connects late"},
		{Turn: 9, Found: []string{"mcp__wiki__tool_1", "mcp__vcs__tool_0"}, About: "ToolSearch loads two tools"},
		{Turn: 12, Server: "mail", Tools: made("mail", 4), About: "server mail adds tool_3 (list_changed)"},
		{Turn: 16, Server: "vcs", About: "server vcs drops"},
		{Turn: 18, Server: "vcs", Tools: vcs, About: "server vcs returns"},
		{Turn: 22, Server: "wiki", Tools: edited, About: "server wiki edits the description of tool_2 (list_changed)"},
		{Turn: 26, Server: "chat", Tools: chat, About: "server chat connects late"},
		{Turn: 30, Server: "mail", About: "server mail drops"},
		{Turn: 34, Server: "mail", Tools: made("mail", 4), About: "server mail returns"},
		{Turn: 38, Server: "wiki", Tools: edited[:7], About: "server wiki takes tool_7 away (list_changed)"},
	}}
}

// made gives n tools of a server, of a middling size.
func made(server string, n int) []*mcp.Tool {
	var tools []*mcp.Tool
	for i := range n {
		tools = append(tools, &mcp.Tool{
			Name:        fmt.Sprint("tool_", i),
			Description: fmt.Sprintf("Does thing %d of %s. It takes what it works on and how to do it, and answers with what came of it, a line for each change that was made.", i, server),
			InputSchema: map[string]any{
				"type": "object", "required": []any{"target"},
				"properties": map[string]any{
					"target": map[string]any{"type": "string", "description": "What it works on: an address, a path or an id."},
					"limit":  map[string]any{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many answers at most."},
					"dry":    map[string]any{"type": "boolean", "description": "Only say what would be done."},
				},
			},
		})
	}
	return tools
}
