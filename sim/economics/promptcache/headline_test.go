package promptcache_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/fixtures"
	"toolbench/sim/economics/promptcache"
)

// The headline of the cache: under the table named seed a prefix that is missed costs
// 200 times one that is read; under a real price list a token that has to be written
// again costs 12.5 times one that is read (D5).
func TestWhatAMissCostsBesideAHit(t *testing.T) {
	for name, want := range map[string]float64{"seed": 200, "claude-opus-5": 12.5} {
		data, err := fixtures.Files.ReadFile("prices/" + name + ".json")
		require.NoError(t, err)
		p, err := promptcache.ParsePrices(name, data)
		require.NoError(t, err)
		var c promptcache.Cache
		prefix := []promptcache.Block{{Name: "tools", Text: "x", Tokens: 50_000, Breakpoint: true}}
		miss, hit := c.Send(prefix), c.Send(prefix)
		assert.InDelta(t, want, p.Cost(miss)/p.Cost(hit), 1e-9, name)
	}
}
