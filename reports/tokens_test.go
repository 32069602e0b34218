package reports_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/fixtures"
	"toolbench/reports"
	"toolbench/sim/economics"
	"toolbench/sim/world"
)

func bytes4(t *testing.T) economics.Counter {
	c, err := economics.NewCounter("bytes4")
	require.NoError(t, err)
	return c
}

func shop(t *testing.T) economics.ToolCosts {
	catalogue, err := world.ParseCatalogue("shop.json", []byte(`{"server":"shop","tools":[
		{"name":"buy","description":"Buys a thing. It is paid at once.","inputSchema":{"type":"object","properties":{"thing":{"type":"string"}}}},
		{"name":"bare"},
		{"name":"look\u001b[31m","inputSchema":{"type":"object","properties":{}}}]}
		{"server":"clock","name":"now","description":"Tells the time.","_meta":{"anthropic/alwaysLoad":true},"inputSchema":{}}`))
	require.NoError(t, err)
	r := economics.CountTools(economics.Served(catalogue), economics.CountOptions{Counter: bytes4(t), Model: "claude-sonnet-4-5"})
	r.Search = 300
	return r
}

func TestTokenReportsLookAsRecorded(t *testing.T) {
	failures := []world.ListFailure{{Server: "gone", Err: errors.New("it cannot be reached: no such file")}}
	for _, width := range []int{120, 60} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: shop(t), Failures: failures, Top: 2}, "table", reports.Options{Width: width}))
		golden(t, fmt.Sprint("tokens.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: shop(t), Failures: failures}, "json", reports.Options{}))
	golden(t, "tokens.json", b.String())
}

// prices are the embedded lists.
func prices(t *testing.T) []economics.Prices {
	var all []economics.Prices
	for _, name := range []string{"claude-opus-5", "seed"} {
		data, err := fixtures.Files.ReadFile("prices/" + name + ".json")
		require.NoError(t, err)
		p, err := economics.ParsePrices(name, data)
		require.NoError(t, err)
		all = append(all, p)
	}
	return all
}

// fitsWidth holds that no line is wider than the
func fitsWidth(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), width, line)
	}
}

func TestCacheReportsLookAsRecorded(t *testing.T) {
	// A report is of what was found, so one is put together by hand.
	r := reports.CacheReport{Counter: bytes4(t), Session: economics.ChurnSession{Turns: 2}, Prices: prices(t), Results: []economics.OrderingCost{
		{Ordering: economics.Orderings()[1], Turns: []economics.Usage{{Written: 100, Builtin: 50}, {Read: 20, Written: 90, Missed: 80, Builtin: 50, BuiltinRead: 20}},
			Total: economics.Usage{Read: 20, Written: 190, Missed: 80}, Kept: 40,
			Breaks: []economics.CacheBreak{{Turn: 2, Byte: 81, Before: "Read", Now: "mcp__a__b", Builtins: true, Cause: "server a connects"}}},
		{Ordering: economics.Orderings()[2], Turns: []economics.Usage{{Written: 100}, {Read: 100}}, Total: economics.Usage{Read: 100, Written: 100}, Kept: 100},
	}}
	for _, width := range []int{120, 60} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, r, "table", reports.Options{Width: width}))
		golden(t, fmt.Sprint("cache.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, r, "json", reports.Options{}))
	golden(t, "cache.json", b.String())
}

func TestNetTokenReportsLookAsRecorded(t *testing.T) {
	r := shop(t)
	r.Uncalled = []string{"mcp__shop__bare"}
	r.Sessions = []economics.SessionCost{
		{File: "a/very-long-name-of-a-recording.yaml", Conversation: 1, Requests: 4, Tools: 40, Called: 2, Searches: 1, FirstUses: 2, Whole: 16160, Resent: 25, Basis: economics.BasisEstimated, Ways: []economics.Net{
			{Name: "names", Definitions: 900, Searcher: 1600, History: 700, Total: 3200, Saved: 80.2, Resending: 80.04},
			{Name: "names_hint", Definitions: 1900, Searcher: 1600, History: 700, Total: 4200, Saved: 74.01, Resending: 73.8},
			{Name: "api", Definitions: 300, Searcher: 1600, History: 300, Total: 2200, Saved: 86.39, Resending: 86.2},
		}},
		{File: "log.jsonl", Conversation: 1, Basis: economics.BasisEstimated},
		{File: "own.yaml", Conversation: 3, Requests: 2, Tools: 5, Defers: true, Basis: economics.BasisEstimated},
	}
	for _, width := range []int{100, 80, 60, 40} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: r, Failures: nil, Top: 2}, "table", reports.Options{Width: width}))
		fitsWidth(t, b.String(), width)
		golden(t, fmt.Sprint("tokensnet.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: r, Failures: nil}, "json", reports.Options{}))
	golden(t, "tokensnet.json", b.String())
}

// What the API measured and what was apportioned can be distinguished.
func TestMeasuredTokenReportsLookAsRecorded(t *testing.T) {
	catalogue, err := world.ParseCatalogue("shop.json", []byte(`{"server":"shop","tools":[
		{"name":"buy","description":"Buys a thing.","inputSchema":{"type":"object","properties":{"thing":{"type":"string"}}}},
		{"name":"ask","description":"Asks for the price.","inputSchema":{"type":"object"}}]}`))
	require.NoError(t, err)
	tools := economics.Served(catalogue)
	m := economics.Measurement{Model: "claude-sonnet-4-5", Full: 130, Names: 14, Hints: 25, Search: 900, Tools: map[string]int{"mcp__shop__buy": 77}, Requests: 7}
	for name, api := range map[string]string{"taken": "", "refused": "count_tokens answered 400: no such thing"} {
		m.APIRefused = api
		r := economics.MeasuredCosts(tools, economics.CountOptions{Model: m.Model}, m)
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: r, Failures: nil, Top: 0}, "table", reports.Options{Width: 80}))
		fitsWidth(t, b.String(), 80)
		golden(t, "tokensmeasured."+name, b.String())
		b.Reset()
		require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: r, Failures: nil}, "json", reports.Options{}))
		golden(t, "tokensmeasured."+name+".json", b.String())
	}
}

func TestSessionsOfFilesThatBeginAlikeCanBeDistinguished(t *testing.T) {
	r := shop(t)
	ways := []economics.Net{{Name: "names"}, {Name: "names_hint"}, {Name: "api"}}
	for _, file := range []string{"tests-models-cassettes-agent-first.yaml", "tests-models-cassettes-agent-second.yaml"} {
		for n := range 2 {
			r.Sessions = append(r.Sessions, economics.SessionCost{File: file, Conversation: n + 1, Requests: 2, Tools: 3, Ways: ways})
		}
	}
	r.Sessions = append(r.Sessions, economics.SessionCost{File: "own.yaml", Conversation: 1, Requests: 1, Tools: 1, Defers: true})
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, reports.TokensReport{ToolCosts: r, Failures: nil, Top: 2}, "table", reports.Options{Width: 100}))
	for _, name := range []string{"first.yaml #1", "first.yaml #2", "second.yaml #1"} {
		require.Contains(t, b.String(), name)
	}
	require.Contains(t, b.String(), "1 conversation defers tools already, so there is no net figure")
}
