package cassette

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A short answer that is decoded before the one that ended first does not overtake it, and
// a long one that has not ended holds nobody up.
func TestExchangesAreRecordedInTheOrderOfTheirEnds(t *testing.T) {
	j, at := journalAt()
	long, first, second := onWay(at), onWay(at), onWay(at)
	j.open = []*openEntry{long, first, second}
	j.ends(first)
	j.ends(second)
	j.finished(second)
	assert.Empty(t, j.over)
	assert.Len(t, j.open, 3, "until then it is written as one on its way")
	j.finished(first)
	assert.Equal(t, []bool{true, true}, []bool{j.over[0] == first, j.over[1] == second})
	assert.Equal(t, []*openEntry{long}, j.open)
}

// An answer whose last event led to the next request stands before that, though the end of
// its body is seen after all of the next; one that has fallen silent is waited for in vain.
func TestAnExchangeThatLedToAnotherStandsBeforeIt(t *testing.T) {
	j, at := journalAt()
	first := onWay(at)
	*at = at.Add(time.Millisecond)
	second := onWay(at)
	j.open = []*openEntry{first, second}
	j.ends(second)
	j.finished(second)
	assert.Empty(t, j.over, "the first may end any moment")
	j.ends(first)
	j.finished(first)
	assert.Equal(t, []bool{true, true}, []bool{j.over[0] == first, j.over[1] == second})

	silent := onWay(at)
	*at = at.Add(time.Millisecond)
	third := onWay(at)
	j.open, j.over = []*openEntry{silent, third}, nil
	j.ends(third)
	*at = at.Add(patience)
	j.finished(third)
	assert.Equal(t, []*openEntry{third}, j.over)
	assert.Equal(t, []*openEntry{silent}, j.open)
}

// journalAt is a journal by a clock that the test moves.
func journalAt() (*Journal, *time.Time) {
	at := time.Unix(1, 0)
	return &Journal{wake: make(chan struct{}, 1), now: func() time.Time { return at }}, &at
}

// onWay is an exchange of which something has been passed on in the moment it began.
func onWay(at *time.Time) *openEntry {
	e := &openEntry{began: *at}
	e.last.Store(at.UnixNano())
	return e
}
