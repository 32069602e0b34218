package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Of an agent's agent the kinds of both count, and a tool of a server goes by the server.
func TestKindsOfAgentsNarrowThePool(t *testing.T) {
	make := func(name string, origin *tool.Origin) *tool.Tool {
		return tool.Must(tool.Def[struct{}, string]{Name: name, Origin: origin, Description: "d", Call: func(context.Context, struct{}, *tool.Context) (tool.Result[string], error) {
			return tool.Done(""), nil
		}})
	}
	var entries []pool.Entry
	for _, name := range []string{"Edit", "Read"} {
		entries = append(entries, pool.Entry{Name: name, Tool: make(name, nil)})
	}
	c, err := pool.NewCatalogue(entries)
	assert.NoError(t, err)
	served := []*tool.Tool{make("mcp__docs__find", &tool.Origin{Server: "docs", Tool: "find"}), make("mcp__git__log", &tool.Origin{Server: "git", Tool: "log"})}
	for _, test := range []struct {
		kinds []tool.AgentKind
		want  []string
	}{
		{nil, []string{"Edit", "Read", "mcp__docs__find", "mcp__git__log"}},
		{[]tool.AgentKind{{Tools: []string{"Read", "mcp__docs"}}}, []string{"Read", "mcp__docs__find"}},
		{[]tool.AgentKind{{Tools: []string{"Read", "mcp__docs__*"}}, {Tools: []string{"Edit", "mcp__docs__find"}}}, []string{"mcp__docs__find"}},
		{[]tool.AgentKind{{Servers: []string{"git"}}}, []string{"Edit", "Read", "mcp__git__log"}},
		{[]tool.AgentKind{{Servers: []string{"git"}}, {Servers: []string{"docs"}}}, []string{"Edit", "Read"}},
		{[]tool.AgentKind{{Tools: []string{}}}, []string{}},
	} {
		p := c.Assemble(pool.Inputs{Settings: settings.External(), Served: served, Kinds: test.kinds})
		assert.Equal(t, test.want, p.Names(), "%+v", test.kinds)
		assert.Len(t, p.Omitted, 4-len(test.want))
	}
}
