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
	"toolbench/reports/screen"
	"toolbench/sim/economics/promptcache"
	"toolbench/sim/economics/tokens"
	"toolbench/sim/world/mcpserve"
)

func bytes4(t *testing.T) tokens.Counter {
	c, err := tokens.NewCounter("bytes4")
	require.NoError(t, err)
	return c
}

func shop(t *testing.T) tokens.Report {
	catalogue, err := mcpserve.Parse("shop.json", []byte(`{"server":"shop","tools":[
		{"name":"buy","description":"Buys a thing. It is paid at once.","inputSchema":{"type":"object","properties":{"thing":{"type":"string"}}}},
		{"name":"bare"},
		{"name":"look\u001b[31m","inputSchema":{"type":"object","properties":{}}}]}
		{"server":"clock","name":"now","description":"Tells the time.","_meta":{"anthropic/alwaysLoad":true},"inputSchema":{}}`))
	require.NoError(t, err)
	r, err := tokens.Count(tokens.Served(catalogue), tokens.Options{Counter: bytes4(t), Model: "claude-sonnet-4-5"})
	require.NoError(t, err)
	r.Search = 300
	return r
}

func TestTokenReportsLookAsRecorded(t *testing.T) {
	failures := []mcpserve.ListFailure{{Server: "gone", Err: errors.New("it cannot be reached: no such file")}}
	for _, width := range []int{120, 60} {
		var b bytes.Buffer
		require.NoError(t, reports.TokensTable(&b, shop(t), failures, 2, reports.Options{Width: width}))
		golden(t, fmt.Sprint("tokens.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.TokensJSON(&b, shop(t), failures))
	golden(t, "tokens.json", b.String())
}

// prices are the embedded lists.
func prices(t *testing.T) []promptcache.Prices {
	var all []promptcache.Prices
	for _, name := range []string{"claude-opus-5", "seed"} {
		data, err := fixtures.Files.ReadFile("prices/" + name + ".json")
		require.NoError(t, err)
		p, err := promptcache.ParsePrices(name, data)
		require.NoError(t, err)
		all = append(all, p)
	}
	return all
}

// fitsWidth holds that no line is wider than the screen.
func fitsWidth(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, screen.Width(strings.TrimSuffix(line, "\n")), width, line)
	}
}

func TestCacheReportsLookAsRecorded(t *testing.T) {
	// A report is of what was found, so one is put together by hand.
	r := reports.CacheReport{Counter: bytes4(t), Session: promptcache.Session{Turns: 2}, Prices: prices(t), Results: []promptcache.Result{
		{Ordering: promptcache.Orderings()[1], Turns: []promptcache.Usage{{Written: 100, Builtin: 50}, {Read: 20, Written: 90, Missed: 80, Builtin: 50, BuiltinRead: 20}},
			Total: promptcache.Usage{Read: 20, Written: 190, Missed: 80}, Kept: 40,
			Breaks: []promptcache.Break{{Turn: 2, Byte: 81, Before: "Read", Now: "mcp__a__b", Builtins: true, Cause: "server a connects"}}},
		{Ordering: promptcache.Orderings()[2], Turns: []promptcache.Usage{{Written: 100}, {Read: 100}}, Total: promptcache.Usage{Read: 100, Written: 100}, Kept: 100},
	}}
	for _, width := range []int{120, 60} {
		var b bytes.Buffer
		require.NoError(t, reports.CacheTable(&b, r, reports.Options{Width: width}))
		golden(t, fmt.Sprint("cache.", width), b.String())
	}
	var b bytes.Buffer
	require.NoError(t, reports.CacheJSON(&b, r))
	golden(t, "cache.json", b.String())
}
