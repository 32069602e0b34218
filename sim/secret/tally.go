package secret

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Count says how often secrets of a kind were blanked at a place, such as "request
// body". It never says which.
type Count struct {
	Kind  string `json:"kind"`
	Where string `json:"where"`
	Times int    `json:"times"`
}

// Tally adds up what was blanked. Its zero value is ready, and may be used by many.
type Tally struct {
	mu    sync.Mutex
	times map[Count]int
}

// At gives what to hand to Text for a place.
func (t *Tally) At(where string) func(kind string) {
	return func(kind string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.times == nil {
			t.times = map[Count]int{}
		}
		t.times[Count{Kind: kind, Where: where}]++
	}
}

// Counts gives the sums, ordered by kind and place.
func (t *Tally) Counts() []Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Count
	for c, n := range maps.All(t.times) {
		c.Times = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Where, b.Where)) })
	return out
}
