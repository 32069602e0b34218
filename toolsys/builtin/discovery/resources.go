package discovery

import (
	"context"
	_ "embed" // the prompts beside this file
	"encoding/json"
	"errors"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed listmcpresources.md
var listPrompt string

//go:embed readmcpresource.md
var readPrompt string

// resourceLimit bounds one call, as that of a server's tool is bounded (N4).
const resourceLimit = 100 * time.Second

// ErrNoServers is the error of the resource tools where no server can be reached.
var ErrNoServers = errors.New("no MCP server is connected")

// ListIn is what ListMcpResources takes.
type ListIn struct {
	Server string `json:"server,omitempty" jsonschema:"The server whose resources to list; all servers' when not given"`
}

// ListMcpResources lists what servers offer to be read, one JSON object a line (N8).
func ListMcpResources(s tool.Servers) *tool.Tool {
	return tool.Must(tool.Def[ListIn, []tool.Resource]{
		Name:        "ListMcpResources",
		Hint:        "list what connected servers offer to be read",
		Description: "Lists the resources of connected MCP servers.",
		Prompt:      func(tool.PromptOptions) string { return listPrompt },
		Call: func(ctx context.Context, in ListIn, _ *tool.Context) (tool.Result[[]tool.Resource], error) {
			if s.Resources == nil {
				return tool.Result[[]tool.Resource]{}, ErrNoServers
			}
			found, err := s.Resources(ctx, in.Server)
			return tool.Done(found), err
		},
		Block:  resourceLines,
		Traits: tool.Traits[ListIn]{Safe: tool.Always[ListIn], ReadOnly: tool.Always[ListIn]},
		Limits: tool.Limits[ListIn]{Timeout: func(ListIn) time.Duration { return resourceLimit }},
		View: tool.View[ListIn]{
			Summary:  func(in ListIn) string { return in.Server },
			Activity: func(ListIn) string { return "Listing resources" },
		},
	})
}

func resourceLines(found []tool.Resource) []message.Block {
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

// ReadIn is what ReadMcpResource takes.
type ReadIn struct {
	Server string `json:"server" jsonschema:"The server that has the resource"`
	URI    string `json:"uri" jsonschema:"The resource's address, as it was listed"`
}

// ReadMcpResource gives one resource's content: text as text, images and PDFs to be
// looked at, and of other bytes a line with their type and size (N8).
func ReadMcpResource(s tool.Servers) *tool.Tool {
	return tool.Must(tool.Def[ReadIn, []message.Block]{
		Name:        "ReadMcpResource",
		Hint:        "read a resource of a connected server",
		Description: "Reads one resource of a connected MCP server.",
		Prompt:      func(tool.PromptOptions) string { return readPrompt },
		Call: func(ctx context.Context, in ReadIn, _ *tool.Context) (tool.Result[[]message.Block], error) {
			if s.ReadResource == nil {
				return tool.Result[[]message.Block]{}, ErrNoServers
			}
			blocks, err := s.ReadResource(ctx, in.Server, in.URI)
			return tool.Done(blocks), err
		},
		Block: func(blocks []message.Block) []message.Block {
			if len(blocks) == 0 {
				return []message.Block{message.Text("The resource is empty.")}
			}
			return blocks
		},
		Traits: tool.Traits[ReadIn]{Safe: tool.Always[ReadIn], ReadOnly: tool.Always[ReadIn]},
		Limits: tool.Limits[ReadIn]{Timeout: func(ReadIn) time.Duration { return resourceLimit }},
		View: tool.View[ReadIn]{
			Summary:  func(in ReadIn) string { return in.URI },
			Activity: func(in ReadIn) string { return "Reading " + in.URI },
		},
	})
}
