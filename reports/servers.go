package reports

import (
	"fmt"
	"strings"

	"toolbench/toolsys/tool"
)

// ServersReport is what live MCP servers offer.
type ServersReport struct {
	Version   int                 `json:"version"`
	Tools     []ServedTool        `json:"tools"`
	Resources []tool.Resource     `json:"resources"`
	Prompts   []tool.ServerPrompt `json:"prompts"`
	// Remarks are what is odd about a tool's definition.
	Remarks []string `json:"remarks"`
}

// ServedTool is a tool of an MCP server, as a model sees it and as a call is checked.
type ServedTool struct {
	// Name is what a model calls it; Server and Tool are the server's own names.
	Name        string `json:"name"`
	Server      string `json:"server"`
	Tool        string `json:"tool"`
	About       string `json:"about"`
	Hint        string `json:"hint"`
	ReadOnly    bool   `json:"read_only"`
	Destructive bool   `json:"destructive"`
	OpenWorld   bool   `json:"open_world"`
	Always      bool   `json:"always_loaded"`
}

func (r ServersReport) document() any {
	r.Version = ListVersion
	return r
}

func (r ServersReport) show(p *page) {
	g := Grid{Columns: columns("Tool", "Traits", "About")}
	for _, t := range r.Tools {
		traits := BuiltinTool{Safe: t.ReadOnly, ReadOnly: t.ReadOnly, Destructive: t.Destructive, OpenWorld: t.OpenWorld, Always: t.Always}.traits()
		g.add(Safe(t.Name), traits, Cut(oneLine(t.About, p.ASCII), 60, p.ASCII))
	}
	p.tables(g)
	for _, res := range r.Resources {
		p.lines("resource " + Safe(res.Server+": "+res.URI+"  "+res.Name))
	}
	for _, prompt := range r.Prompts {
		var args []string
		for _, arg := range prompt.Arguments {
			args = append(args, arg.Name)
		}
		p.lines("prompt " + Safe(fmt.Sprintf("%s: %s(%s)", prompt.Server, prompt.Name, strings.Join(args, ", "))))
	}
	for _, remark := range r.Remarks {
		p.lines(Safe(remark))
	}
	p.lines(fmt.Sprintf("%d tools, %d resources, %d prompts", len(r.Tools), len(r.Resources), len(r.Prompts)))
}
