package cassette

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A short answer that is decoded before the one that ended first does not overtake it, and
// a long one that has not ended holds nobody up.
func TestExchangesAreRecordedInTheOrderOfTheirEnds(t *testing.T) {
	j := &Journal{wake: make(chan struct{}, 1)}
	long, first, second := &entryOnWay{}, &entryOnWay{}, &entryOnWay{}
	j.open = []*entryOnWay{long, first, second}
	j.ends(first)
	j.ends(second)
	j.finished(second)
	assert.Empty(t, j.over)
	assert.Len(t, j.open, 3, "until then it is written as one on its way")
	j.finished(first)
	assert.Equal(t, []bool{true, true}, []bool{j.over[0] == first, j.over[1] == second})
	assert.Equal(t, []*entryOnWay{long}, j.open)
}
