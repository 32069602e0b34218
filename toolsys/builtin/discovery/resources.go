package discovery

import (
	"context"
	_ "embed" // the prompts beside this file
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
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

// ListOut is what ListMcpResources answers with.
type ListOut struct {
	Resources []tool.Resource `json:"resources"`
}

// ListMcpResources lists what servers offer to be read, one JSON object a line (N8). Rules that forbid a
// server bind its resources too: those of others alone are listed where none is named.
func ListMcpResources(s tool.Servers) *tool.Tool {
	return tool.Must(tool.Def[ListIn, ListOut]{
		Name:        "ListMcpResources",
		Hint:        "list available MCP resources",
		Description: "Lists the resources of connected MCP servers.",
		Prompt:      tool.Prompt(listPrompt),
		Call: tool.Data(func(ctx context.Context, in ListIn, c *tool.Context) (ListOut, error) {
			if s.Resources == nil {
				return ListOut{}, ErrNoServers
			}
			found, err := s.Resources(ctx, in.Server)
			return ListOut{Resources: shown(found, in, c)}, err
		}),
		Text:    ListOut.text,
		Subject: func(in ListIn, _ *tool.Context) tool.Subject { return ofServer(in.Server) },
		Traits:  tool.Traits[ListIn]{Safe: tool.Always[ListIn], ReadOnly: tool.Always[ListIn]},
		Loading: tool.Loading{Deferrable: true},
		Limits:  tool.Limits[ListIn]{Timeout: func(ListIn) time.Duration { return resourceLimit }},
		View: tool.View[ListIn]{
			Summary:  func(in ListIn) string { return in.Server },
			Activity: func(ListIn) string { return "Listing resources" },
		},
		Draw: tool.Drawing[ListIn, ListOut]{Result: drawResources},
	})
}

// ofServer is what rules match in a call for what a server offers.
func ofServer(name string) tool.Subject {
	if name == "" {
		return tool.Subject{}
	}
	return tool.Subject{Content: name, Servers: []string{name}}
}

// shown are the resources that a list has: where it is that of all servers, those about which no rule
// wants to be asked and which none forbids.
func shown(found []tool.Resource, in ListIn, c *tool.Context) []tool.Resource {
	left := append([]tool.Resource{}, found...)
	if in.Server != "" {
		return left
	}
	return slices.DeleteFunc(left, func(r tool.Resource) bool {
		q := permission.Query{Subject: permission.Subject{Tool: "ListMcpResources"}}
		return slices.ContainsFunc(c.Rules.All(), func(h permission.Hit) bool {
			of := q
			of.Content, of.Servers = r.Server, []string{r.Server}
			return h.Behaviour > permission.Allow && !h.Rule.Covers(q) && h.Rule.Covers(of)
		})
	})
}

// drawResources draws what can be read, by name and address.
func drawResources(_ ListIn, o tool.Outcome[ListOut]) []render.Node {
	if !o.Known || len(o.Data.Resources) == 0 {
		return nil
	}
	var list render.List
	for _, r := range o.Data.Resources {
		spans := []render.Span{{Text: r.URI}, {Text: "  " + r.Server, Role: render.Dim}}
		if r.Name != r.URI {
			spans = append(spans, render.Span{Text: "  " + r.Name, Role: render.Dim})
		}
		list.Items = append(list.Items, render.Item{Mark: render.Bullet, Spans: spans})
	}
	return render.Folded(render.Words(render.Count(len(list.Items), "resource"), render.Dim), list)
}

func (out ListOut) text() string {
	if len(out.Resources) == 0 {
		return "There are no resources."
	}
	var lines []string
	for _, r := range out.Resources {
		raw, _ := json.Marshal(r) // a struct of texts is always written
		lines = append(lines, string(raw))
	}
	return strings.Join(lines, "\n")
}

// ReadIn is what ReadMcpResource takes.
type ReadIn struct {
	Server string `json:"server" jsonschema:"The server that has the resource"`
	URI    string `json:"uri" jsonschema:"The resource's address, as it was listed"`
}

// ReadOut is what ReadMcpResource answers with: the content as it is sent to the model.
type ReadOut struct {
	Contents []ResourceContent `json:"contents"`

	sent []message.Block
}

// ResourceContent is one part of a resource: its text, or the type of what is shown.
type ResourceContent struct {
	Type      string `json:"type" enum:"text,image,document"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mimeType,omitempty"`
}

// ReadMcpResource gives one resource's content: text as text, images and PDFs to be
// looked at, and of other bytes a line with their type and size (N8).
func ReadMcpResource(s tool.Servers) *tool.Tool {
	return tool.Must(tool.Def[ReadIn, ReadOut]{
		Name:        "ReadMcpResource",
		Hint:        "read MCP resource content",
		Description: "Reads one resource of a connected MCP server.",
		Prompt:      tool.Prompt(readPrompt),
		Call: tool.Data(func(ctx context.Context, in ReadIn, _ *tool.Context) (ReadOut, error) {
			if s.ReadResource == nil {
				return ReadOut{}, ErrNoServers
			}
			blocks, err := s.ReadResource(ctx, in.Server, in.URI)
			return readOut(blocks), err
		}),
		Block: func(out ReadOut) []message.Block {
			if len(out.sent) == 0 {
				return []message.Block{message.Text("The resource is empty.")}
			}
			return out.sent
		},
		Subject: func(in ReadIn, _ *tool.Context) tool.Subject { return ofServer(in.Server) },
		Traits:  tool.Traits[ReadIn]{Safe: tool.Always[ReadIn], ReadOnly: tool.Always[ReadIn]},
		Loading: tool.Loading{Deferrable: true},
		Limits:  tool.Limits[ReadIn]{Timeout: func(ReadIn) time.Duration { return resourceLimit }},
		View: tool.View[ReadIn]{
			Summary:  func(in ReadIn) string { return in.URI },
			Activity: func(in ReadIn) string { return "Reading " + in.URI },
		},
	})
}

func readOut(blocks []message.Block) ReadOut {
	out := ReadOut{Contents: []ResourceContent{}, sent: blocks}
	for _, b := range blocks {
		out.Contents = append(out.Contents, ResourceContent{Type: b.Type, Text: b.Text, MediaType: b.MediaType})
	}
	return out
}
