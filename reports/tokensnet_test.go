package reports_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/economics/tokens"
	"toolbench/sim/world/mcpserve"
)

func TestNetTokenReportsLookAsRecorded(t *testing.T) {
	r := shop(t)
	r.Uncalled = []string{"mcp__shop__bare"}
	r.Sessions = []tokens.Session{
		{File: "a/very-long-name-of-a-recording.yaml", Conversation: 1, Requests: 4, Tools: 40, Called: 2, Searches: 1, FirstUses: 2, Whole: 16160, Resent: 25, Ways: []tokens.Net{
			{Name: "names", Definitions: 900, Searcher: 1600, History: 700, Total: 3200, Saved: 80.2, Resending: 80.04},
			{Name: "names_hint", Definitions: 1900, Searcher: 1600, History: 700, Total: 4200, Saved: 74.01, Resending: 73.8},
			{Name: "api", Definitions: 300, Searcher: 1600, History: 300, Total: 2200, Saved: 86.39, Resending: 86.2},
		}},
		{File: "log.jsonl", Conversation: 1},
		{File: "own.yaml", Conversation: 3, Requests: 2, Tools: 5, Defers: true},
	}
	for _, width := range []int{100, 80, 60, 40} {
		var b bytes.Buffer
		require.NoError(t, reports.TokensTable(&b, r, nil, 2, reports.Options{Width: width}))
		fitsWidth(t, b.String(), width)
		golden(t, fmt.Sprint("tokensnet.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.TokensJSON(&b, r, nil))
	golden(t, "tokensnet.json", b.String())
}

// What the API measured and what was apportioned can be told apart.
func TestMeasuredTokenReportsLookAsRecorded(t *testing.T) {
	catalogue, err := mcpserve.Parse("shop.json", []byte(`{"server":"shop","tools":[
		{"name":"buy","description":"Buys a thing.","inputSchema":{"type":"object","properties":{"thing":{"type":"string"}}}},
		{"name":"ask","description":"Asks for the price.","inputSchema":{"type":"object"}}]}`))
	require.NoError(t, err)
	tools := tokens.Served(catalogue)
	m := tokens.Measurement{Model: "claude-sonnet-4-5", Full: 130, Names: 14, Hints: 25, Search: 900, Tools: map[string]int{"mcp__shop__buy": 77}, Requests: 7}
	for name, api := range map[string]string{"taken": "", "refused": "count_tokens answered 400: no such thing"} {
		m.APIRefused = api
		r, err := tokens.Measured(tools, tokens.Options{Model: m.Model}, m)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, reports.TokensTable(&b, r, nil, 0, reports.Options{Width: 80}))
		fitsWidth(t, b.String(), 80)
		golden(t, "tokensmeasured."+name, b.String())
		b.Reset()
		require.NoError(t, reports.TokensJSON(&b, r, nil))
		golden(t, "tokensmeasured."+name+".json", b.String())
	}
}

func TestSessionsOfFilesThatBeginAlikeCanBeToldApart(t *testing.T) {
	r := shop(t)
	ways := []tokens.Net{{Name: "names"}, {Name: "names_hint"}, {Name: "api"}}
	for _, file := range []string{"tests-models-cassettes-agent-first.yaml", "tests-models-cassettes-agent-second.yaml"} {
		for n := range 2 {
			r.Sessions = append(r.Sessions, tokens.Session{File: file, Conversation: n + 1, Requests: 2, Tools: 3, Ways: ways})
		}
	}
	r.Sessions = append(r.Sessions, tokens.Session{File: "own.yaml", Conversation: 1, Requests: 1, Tools: 1, Defers: true})
	var b bytes.Buffer
	require.NoError(t, reports.TokensTable(&b, r, nil, 2, reports.Options{Width: 100}))
	for _, name := range []string{"first.yaml #1", "first.yaml #2", "second.yaml #1"} {
		require.Contains(t, b.String(), name)
	}
	require.Contains(t, b.String(), "1 conversation defers tools already, so there is no net figure")
}
