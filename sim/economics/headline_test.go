package economics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/fixtures"
	"toolbench/sim/economics"
)

// The headline of the cache: under the table named seed a prefix that is missed costs
// 200 times one that is read; under a real price list a token that has to be written
// again costs 12.5 times one that is read (D5).
func TestWhatAMissCostsBesideAHit(t *testing.T) {
	for name, want := range map[string]float64{"seed": 200, "claude-opus-5": 12.5} {
		data, err := fixtures.Files.ReadFile("prices/" + name + ".json")
		require.NoError(t, err)
		p, err := economics.ParsePrices(name, data)
		require.NoError(t, err)
		var c economics.Cache
		prefix := []economics.Block{{Name: "tools", Text: "x", Tokens: 50_000, Breakpoint: true}}
		miss, hit := c.Send(prefix), c.Send(prefix)
		assert.InDelta(t, want, p.Cost(miss)/p.Cost(hit), 1e-9, name)
	}
}

// The headline of deferral: fifty tools of some 200 tokens are 10,000; with twenty
// of them whole and thirty by name and hint about half is saved (E8).
func TestHalfIsSavedWhenThirtyOfFiftyGoByName(t *testing.T) {
	var tools []economics.Tool
	for i := range 50 {
		tools = append(tools, economics.Tool{
			Name: fmt.Sprintf("mcp__synthetic__tool_%02d", i), Server: "synthetic", Whole: i < 20, Schema: `{"type":"object"}`,
			Description: fmt.Sprintf("Does thing %d to what it is given, and says what came of it in a few words. ", i) + strings.Repeat("More of it. ", 52),
		})
	}
	r := count(t, tools, economics.CountOptions{})
	assert.InDelta(t, 10_000, r.Total.Full, 500)
	assert.InDelta(t, 5_000, r.Total.Modes.Hints.Tokens, 500)
	assert.InDelta(t, 50, r.Total.Modes.Hints.Saved, 5)
}
