//go:build !race

package search_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/search"
)

// What a search costs is held by what it allocates, which a busy machine does not change
// as it does times.

// A search allocates for its query and its answer, and nothing for each of the tools.
func TestAllocationsOfASearchDoNotGrowWithThePool(t *testing.T) {
	underEach(t, func(t *testing.T, ranker search.Ranker) {
		few, many := search.NewIndex(ranker, largePool(1000), nil), search.NewIndex(ranker, largePool(5000), nil)
		for _, c := range benchmarked {
			q, err := search.ParseQuery(c.text)
			require.NoError(t, err)
			before, small := cost(func() { few.Search(q, 5) })
			after, large := cost(func() { many.Search(q, 5) })
			assert.LessOrEqual(t, after, 1.2*before+20, "%s: allocations in 5,000 tools, and %.0f in 1,000", c.about, before)
			assert.LessOrEqual(t, large, 1.2*small+4096, "%s: bytes in 5,000 tools, and %.0f in 1,000", c.about, small)
		}
	})
}

// cost is what doing something allocates, in pieces and in bytes. No garbage is collected
// meanwhile, and there is one processor, as what is kept to be used again is kept by each
// and given up with the garbage.
func cost(do func()) (pieces, bytes float64) {
	const times = 20
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	pieces = testing.AllocsPerRun(times, do)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		do()
	}
	runtime.ReadMemStats(&after)
	return pieces, float64(after.TotalAlloc-before.TotalAlloc) / times
}

// An index of tools of which most were read before costs a small part of a new one.
func TestAllocationsOfAnIndexAreForWhatIsNew(t *testing.T) {
	entries := largePool(3000)
	q, err := search.ParseQuery("create server3")
	require.NoError(t, err)
	cold := testing.AllocsPerRun(3, func() { search.NewIndex(search.Lexicon(), entries, nil).Search(q, 5) })
	change := changing(entries)
	change(search.Lexicon(), q)
	changed := testing.AllocsPerRun(3, func() { change(search.Lexicon(), q) })
	assert.Less(t, changed, cold/10, fmt.Sprintf("a thirtieth is new, and %.0f allocations are for all", cold))
}
