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
	index    int // in the cassette
	number   int
	raw      raw
	*request      // made comparable when it is first needed: see open
	noBody   bool // a scripted answer: there is nothing to compare
	used     bool
	tries    int // answers begun, spoiled ones included
}

// raw is a request as it stands, byte for byte.
type raw struct{ method, url, body string }

// same finds an unused entry that was sent exactly so. Bytes that are equal need
// no normalizing, which is what playing a cassette would otherwise mostly do.
func (m *matcher) same(r raw) *entry {
	for i := range m.entries {
		if e := &m.entries[i]; !e.used && !e.noBody && e.raw == r {
			return e
		}
	}
	return nil
}

// open makes every entry comparable.
func (m *matcher) open(n normalizer) {
	for i := range m.entries {
		e := &m.entries[i]
		if e.request != nil {
			continue
		}
		r := n.request(e.raw.method, e.raw.url, e.raw.body)
		e.request = &r
		if e.raw.body == "" && isMessages(e.target, nil) {
			e.messages = true
		}
	}
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
