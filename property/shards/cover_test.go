package shards

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
)

// Whatever parts are done, some of them twice or in halves, what is chosen and what is missing
// make up the range, each case once.
func TestACoverHasEachCaseOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := Range{rapid.Uint64Range(0, 50).Draw(t, "from"), 0}
		all.To = all.From + rapid.Uint64Range(1, 200).Draw(t, "cases")
		parts := split(all, rapid.Uint64Range(1, 40).Draw(t, "size"))
		var done []Range
		for _, p := range parts {
			for draws := rapid.IntRange(0, 3).Draw(t, "halved"); draws > 0; draws-- {
				done = append(done, p)
				if p.Len() < 2 {
					break
				}
				two := halves(p)
				done = append(done, two[0])
				p = two[1]
			}
		}
		done = rapid.Permutation(done).Draw(t, "order")
		chosen, missing := cover(all, done)
		for _, r := range chosen {
			assert.Contains(t, done, r)
		}
		var cases []uint64
		for _, r := range slices.Concat(chosen, missing) {
			for n := r.From; n < r.To; n++ {
				cases = append(cases, n)
			}
		}
		slices.Sort(cases)
		assert.Len(t, slices.Compact(slices.Clone(cases)), len(cases), "none twice")
		assert.Equal(t, all.Len(), uint64(len(cases)))
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(p Range) bool { return !slices.Contains(done, p) }) {
			assert.Empty(t, missing, "each part was done")
		}
	})
}

func TestKeysOfRangesAreReadBack(t *testing.T) {
	r, ok := rangeOf(Range{5, 12}.key())
	assert.True(t, ok)
	assert.Equal(t, Range{5, 12}, r)
	for _, key := range []string{"", "5", "12-5", "5-5", "5-12-3", "05-12", "a-b", "5-12x"} {
		_, ok := rangeOf(key)
		assert.False(t, ok, key)
	}
}
