package stream

import (
	"slices"
	"time"
)

// ends says when each block is complete. Blocks without a time share the span
// between their neighbours' evenly, up to the turn's end.
func (t Turn) ends() []time.Duration {
	ends := make([]time.Duration, len(t.Blocks))
	last := t.FirstByte
	for i := 0; i < len(ends); {
		n, until := t.span(i, last)
		for k := range n {
			ends[i+k] = last + share(until-last, k+1, n)
		}
		last = until
		i += n
	}
	return ends
}

// span is the run of blocks from i up to the next whose time is known (that
// one included, or up to the last), and the time at which the run is complete.
func (t Turn) span(i int, last time.Duration) (n int, until time.Duration) {
	for j := i; j < len(t.Blocks); j++ {
		if at := t.Blocks[j].At; at != 0 {
			return j - i + 1, max(last, at)
		}
	}
	return len(t.Blocks) - i, max(last, t.End)
}

// share is k n-ths of d.
func share(d time.Duration, k, n int) time.Duration {
	return d/time.Duration(n)*time.Duration(k) + d%time.Duration(n)*time.Duration(k)/time.Duration(n)
}

// addPings inserts further pings by time: after the opening, before the end.
func (s *script) addPings(pings []time.Duration, events []Event) []Event {
	if len(pings) == 0 {
		return events
	}
	const opening = 2 // message_start and its ping
	for _, at := range slices.Sorted(slices.Values(pings)) {
		i := opening
		for i < len(events)-1 && events[i].At <= at {
			i++
		}
		at = min(max(at.Truncate(Tick), events[i-1].At), events[i].At)
		events = slices.Insert(events, i, event(s, at, typePing, wireBare{typePing}))
	}
	return events
}
