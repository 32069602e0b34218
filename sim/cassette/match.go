package cassette

import (
	"slices"
	"strconv"
)

// alike is how similar a recorded request must be to be worth a diff.
const alike = 0.3

// listed is how many unused interactions a MissError names.
const listed = 10

// matcher finds the interaction that answers a request. It holds no lock: the
// Player does.
type matcher struct {
	name    string
	entries []entry
	lenient bool
}

// entry is an interaction and what has become of it.
type entry struct {
	index  int // in the cassette
	number int
	request
	noBody bool // a scripted answer: there is nothing to compare
	used   bool
	tries  int // answers begun, spoiled ones included
}

// find returns the first unused entry that answers the request.
func (m *matcher) find(r request) (*entry, error) {
	byOrder := m.lenient && r.messages
	for i := range m.entries {
		e := &m.entries[i]
		if !e.used && (byOrder && e.messages || e.key == r.key) {
			return e, nil
		}
	}
	return nil, m.miss(r)
}

// miss explains why there is no answer.
func (m *matcher) miss(r request) *MissError {
	miss := &MissError{Cassette: m.name, Method: r.method, URL: r.target, Recorded: m.unused()}
	for i := len(m.entries) - 1; i >= 0; i-- {
		e := &m.entries[i]
		switch {
		case e.used && m.lenient && r.messages && e.messages:
			miss.Kind, miss.Nearest = Exhausted, e.number
			return miss
		case e.used && e.key == r.key:
			miss.Kind, miss.Nearest, miss.Similarity = UsedUp, e.number, 1
			return miss
		}
	}
	e, score := m.nearest(r)
	if e != nil && score >= alike {
		miss.Kind, miss.Nearest, miss.Similarity = Differs, e.number, score
		miss.Diff = e.diff(r)
	}
	return miss
}

// nearest is the most similar entry, unused ones before used ones.
func (m *matcher) nearest(r request) (best *entry, score float64) {
	lines := newBag(r.pretty())
	for i := range m.entries {
		e := &m.entries[i]
		if e.method != r.method || e.noBody {
			continue
		}
		s := similarity(newBag(e.pretty()), lines)
		if best == nil || best.used && !e.used || best.used == e.used && s > score {
			best, score = e, s
		}
	}
	return best, score
}

// diff is the readable difference from the recorded request to r.
func (e *entry) diff(r request) string {
	return unified("recorded as interaction "+strconv.Itoa(e.number), "this request", e.pretty(), r.pretty())
}

func (m *matcher) unused() []string {
	var out []string
	for _, e := range m.entries {
		if !e.used {
			out = append(out, strconv.Itoa(e.number)+" "+e.method+" "+e.target)
		}
	}
	if len(out) > listed {
		out = append(slices.Clip(out[:listed]), strconv.Itoa(len(out)-listed)+" more")
	}
	return out
}
