package resources

import (
	"context"
	_ "embed" // the prompt beside this file
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed read.md
var readPrompt string

// ReadIn is what ReadMcpResource takes.
type ReadIn struct {
	Server string `json:"server" jsonschema:"The server that has the resource"`
	URI    string `json:"uri" jsonschema:"The resource's address, as it was listed"`
}

// Read makes ReadMcpResource: one resource's content; text as text, images and PDFs to
// be looked at, and of other bytes a line that says what they are (N8).
func Read(d Deps) *tool.Tool {
	return tool.Must(tool.Def[ReadIn, []message.Block]{
		Name:        "ReadMcpResource",
		Hint:        "read a resource of a connected server",
		Description: "Reads one resource of a connected MCP server.",
		Prompt:      func(tool.PromptOptions) string { return readPrompt },
		Call: func(ctx context.Context, in ReadIn, _ *tool.Context) (tool.Result[[]message.Block], error) {
			if d.Read == nil {
				return tool.Result[[]message.Block]{}, ErrNone
			}
			blocks, err := d.Read(ctx, in.Server, in.URI)
			return tool.Done(blocks), err
		},
		Block: func(blocks []message.Block) []message.Block {
			if len(blocks) == 0 {
				return []message.Block{message.Text("The resource is empty.")}
			}
			return blocks
		},
		Traits: tool.Traits[ReadIn]{Safe: tool.Always[ReadIn], ReadOnly: tool.Always[ReadIn]},
		Limits: tool.Limits[ReadIn]{Timeout: func(ReadIn) time.Duration { return limit }},
		View: tool.View[ReadIn]{
			Summary:  func(in ReadIn) string { return in.URI },
			Activity: func(in ReadIn) string { return "Reading " + in.URI },
		},
	})
}
