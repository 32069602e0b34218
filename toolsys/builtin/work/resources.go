package work

import (
	"context"
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

// resourceLimit bounds one call, as that of a server's tool is bounded (N4).
const resourceLimit = 100 * time.Second

// ErrNoServers is the error of the resource tools where no server can be reached.
var ErrNoServers = errors.New("no MCP server is connected")

// ResourcesIn is what ListMcpResources takes.
type ResourcesIn struct {
	Server string `json:"server,omitempty" jsonschema:"The server whose resources to list; all servers' when not given"`
}

// ResourcesOut is what ListMcpResources answers with.
type ResourcesOut struct {
	Resources []tool.Resource `json:"resources"`
}

// ListMcpResources lists what servers offer to be read, one JSON object a line (N8). Rules that forbid a
// server bind its resources too: those of others alone are listed where none is named.
func ListMcpResources(s tool.Servers) *tool.Tool {
	return tool.Must(tool.Def[ResourcesIn, ResourcesOut]{
		Name:  "ListMcpResources",
		Texts: prompts.Of("listmcpresources"),
		Call: tool.Data(func(ctx context.Context, in ResourcesIn, c *tool.Context) (ResourcesOut, error) {
			if s.Resources == nil {
				return ResourcesOut{}, ErrNoServers
			}
			found, err := s.Resources(ctx, in.Server)
			return ResourcesOut{Resources: shown(found, in, c)}, err
		}),
		Text:    ResourcesOut.text,
		Subject: func(in ResourcesIn, _ *tool.Context) tool.Subject { return ofServer(in.Server) },
		Traits:  tool.Traits[ResourcesIn]{Safe: tool.Always[ResourcesIn], ReadOnly: tool.Always[ResourcesIn]},
		Loading: tool.Loading{Deferrable: true},
		Limits:  tool.Limits[ResourcesIn]{Timeout: func(ResourcesIn) time.Duration { return resourceLimit }},
		View:    tool.Titled("ListMcpResources", "Listing resources", func(in ResourcesIn) string { return in.Server }),
		Draw: tool.Drawing[ResourcesIn, ResourcesOut]{Result: func(_ ResourcesIn, o tool.Outcome[ResourcesOut]) []render.Node {
			return render.Listed(render.Count(len(o.Data.Resources), "resource"), o.Data.Resources, func(r tool.Resource) render.Item {
				spans := []render.Span{{Text: r.URI}, {Text: "  " + r.Server, Role: render.Dim}}
				if r.Name != r.URI {
					spans = append(spans, render.Span{Text: "  " + r.Name, Role: render.Dim})
				}
				return render.Item{Mark: render.Bullet, Spans: spans}
			})
		}},
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
func shown(found []tool.Resource, in ResourcesIn, c *tool.Context) []tool.Resource {
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

func (out ResourcesOut) text() string {
	if len(out.Resources) == 0 {
		return "There are no resources."
	}
	return strings.Join(tool.Each(out.Resources, func(r tool.Resource) string {
		raw, _ := json.Marshal(r) // a struct of texts is always written
		return string(raw)
	}), "\n")
}

// ResourceIn is what ReadMcpResource takes.
type ResourceIn struct {
	Server string `json:"server" jsonschema:"The server that has the resource"`
	URI    string `json:"uri" jsonschema:"The resource's address, as it was listed"`
}

// ResourceOut is what ReadMcpResource answers with: the content as it is sent to the model.
type ResourceOut struct {
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
	return tool.Must(tool.Def[ResourceIn, ResourceOut]{
		Name:  "ReadMcpResource",
		Texts: prompts.Of("readmcpresource"),
		Call: tool.Data(func(ctx context.Context, in ResourceIn, _ *tool.Context) (ResourceOut, error) {
			if s.ReadResource == nil {
				return ResourceOut{}, ErrNoServers
			}
			blocks, err := s.ReadResource(ctx, in.Server, in.URI)
			return ResourceOut{sent: blocks, Contents: tool.Each(blocks, func(b message.Block) ResourceContent {
				return ResourceContent{Type: b.Type, Text: b.Text, MediaType: b.MediaType}
			})}, err
		}),
		Block: func(out ResourceOut) []message.Block {
			if len(out.sent) == 0 {
				return []message.Block{message.Text("The resource is empty.")}
			}
			return out.sent
		},
		Subject: func(in ResourceIn, _ *tool.Context) tool.Subject { return ofServer(in.Server) },
		Traits:  tool.Traits[ResourceIn]{Safe: tool.Always[ResourceIn], ReadOnly: tool.Always[ResourceIn]},
		Loading: tool.Loading{Deferrable: true},
		Limits:  tool.Limits[ResourceIn]{Timeout: func(ResourceIn) time.Duration { return resourceLimit }},
		View:    tool.Doing("ReadMcpResource", "Reading ", func(in ResourceIn) string { return in.URI }),
	})
}
