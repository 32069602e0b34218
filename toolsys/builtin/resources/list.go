package resources

import (
	"context"
	_ "embed" // the prompt beside this file
	"encoding/json"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed list.md
var listPrompt string

// limit bounds one call, as that of a server's tool is bounded (N4).
const limit = 100 * time.Second

// ListIn is what ListMcpResources takes.
type ListIn struct {
	Server string `json:"server,omitempty" jsonschema:"The server whose resources to list; all servers' when not given"`
}

// List makes ListMcpResources: what servers offer to be read, one JSON object a line
// (N8).
func List(d Deps) *tool.Tool {
	return tool.Must(tool.Def[ListIn, []Resource]{
		Name:        "ListMcpResources",
		Hint:        "list what connected servers offer to be read",
		Description: "Lists the resources of connected MCP servers.",
		Prompt:      func(tool.PromptOptions) string { return listPrompt },
		Call: func(ctx context.Context, in ListIn, _ *tool.Context) (tool.Result[[]Resource], error) {
			if d.List == nil {
				return tool.Result[[]Resource]{}, ErrNone
			}
			found, err := d.List(ctx, in.Server)
			return tool.Done(found), err
		},
		Block:  lines,
		Traits: tool.Traits[ListIn]{Safe: tool.Always[ListIn], ReadOnly: tool.Always[ListIn]},
		Limits: tool.Limits[ListIn]{Timeout: func(ListIn) time.Duration { return limit }},
		View: tool.View[ListIn]{
			Summary:  func(in ListIn) string { return in.Server },
			Activity: func(ListIn) string { return "Listing resources" },
		},
	})
}

func lines(found []Resource) []message.Block {
	if len(found) == 0 {
		return []message.Block{message.Text("There are no resources.")}
	}
	text := ""
	for _, r := range found {
		raw, err := json.Marshal(r)
		if err != nil {
			continue // a struct of texts is always written
		}
		text += string(raw) + "\n"
	}
	return []message.Block{message.Text(text[:len(text)-1])}
}
