package mcptool_test

import (
	"regexp"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/mcptool"
)

var apiName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Whatever servers call themselves and their tools, the model gets names that the API
// takes, each once, and the same ones in whatever order the servers came (N1, D3).
func FuzzNames(f *testing.F) {
	f.Add("git", "status", "git__hub", "status", false)
	f.Add("天气", "预报", "天气", "预 报", true)
	f.Add("", "", "a b", "a_b", true)
	f.Fuzz(func(t *testing.T, server, tool, other, another string, bare bool) {
		listings := []mcptool.Listing{
			{Server: mcptool.Server{Name: server, Bare: bare}, Tools: []*mcp.Tool{named(tool), named(another)}},
			{Server: mcptool.Server{Name: other}, Tools: []*mcp.Tool{named(another), named(tool)}},
		}
		seen, names := map[string]bool{}, []string{}
		built, _ := mcptool.Tools(listings...)
		for _, b := range built {
			assert.Regexp(t, apiName, b.Name)
			assert.False(t, seen[b.Name], "%q is there twice", b.Name)
			seen[b.Name] = true
			names = append(names, b.Name)
		}
		again, _ := mcptool.Tools(listings[1], listings[0])
		for i, b := range again {
			assert.Equal(t, names[i], b.Name)
		}
		assert.Len(t, again, len(built))
	})
}

func named(name string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: "Does it.", InputSchema: map[string]any{"type": "object"}}
}
