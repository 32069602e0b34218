package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/property/fuzz"
)

func TestAFindingHasALife(t *testing.T) {
	var l fuzz.Ledger
	see := func(found string) fuzz.FindingStatus { return l.Seen("order", found, "again").Status }
	assert.Equal(t, fuzz.FindingNew, see(`call "c1" left after 3 calls at 1.5s`))
	assert.Equal(t, fuzz.FindingOngoing, see(`call "c77" left after 12 calls at 40ms`), "another seed, the same cause")
	assert.Equal(t, fuzz.FindingNew, see(`call "c1" never left`))
	assert.Len(t, l.Findings, 2)
	assert.Equal(t, 2, l.Findings[0].Times)
	f := &l.Findings[0]
	for _, step := range []struct {
		holds bool
		want  fuzz.FindingStatus
	}{{false, fuzz.FindingOngoing}, {true, fuzz.FindingResolved}, {true, fuzz.FindingResolved}, {false, fuzz.FindingRegressed}, {false, fuzz.FindingRegressed}, {true, fuzz.FindingResolved}} {
		f.Played(step.holds)
		assert.Equal(t, step.want, f.Status)
	}
	assert.Equal(t, fuzz.FindingRegressed, see(`call "c2" left after 1 calls at 2s`))
}
