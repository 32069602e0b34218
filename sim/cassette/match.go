package cassette

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// alike is how similar a recorded request must be to be worth a diff.
const alike = 0.3

// listed is how many unused interactions a MissError names.
const listed = 10

// matcher finds the interaction that answers a request. It holds no lock: the Player does.
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
	tries    int // answers begun, changed ones included
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
		e.request = new(n.request(e.raw.method, e.raw.url, e.raw.body))
		if e.raw.body == "" && isMessages(e.target, nil) {
			e.messages = true
		}
	}
}

// find returns the first unused entry that answers the request.
func (m *matcher) find(r request) (*entry, error) {
	byOrder := m.lenient && r.messages
	for i := range m.entries {
		if e := &m.entries[i]; !e.used && (byOrder && e.messages || e.key == r.key) {
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

// MissKind is why a request has no answer.
type MissKind int

const (
	// NothingLike means that no recorded request resembles it.
	NothingLike MissKind = iota
	// UsedUp means that it was recorded, and each recording of it has been replayed.
	UsedUp
	// Exhausted means that matching is lenient, and there are more requests than answers.
	Exhausted
	// Differs means that a recorded request resembles it, and Diff shows where not.
	Differs
)

// MissError is what RoundTrip returns for a request without an answer (O3).
type MissError struct {
	Cassette    string
	Kind        MissKind
	Method, URL string // of the request, secrets blanked
	// Nearest is the number of the recorded request that Kind refers to; 0: none.
	Nearest int
	// Similarity is the share of lines that both have in common, 0 to 1.
	Similarity float64
	// Diff is a unified diff, from the recorded request to this one, of their
	// bodies as sorted, indented JSON. Headers never count.
	Diff string
	// Recorded lists what is left in the cassette: "1 POST /v1/messages".
	Recorded []string
}

// Error is what happened and what to do.
func (e *MissError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cassette %s has no answer for %s %s: ", e.Cassette, e.Method, e.URL)
	switch e.Kind {
	case UsedUp:
		fmt.Fprintf(&b, "interaction %d answered it already, and each is used once; is the request sent again, or a recording missing?", e.Nearest)
	case Exhausted:
		fmt.Fprintf(&b, "interaction %d was the last recorded answer; did the run take more turns than were recorded?", e.Nearest)
	case Differs:
		fmt.Fprintf(&b, "interaction %d is nearest (%d %% alike); repair what changed, or record again:\n%s", e.Nearest, int(min(100*e.Similarity, 99)), e.Diff)
	default:
		b.WriteString("nothing recorded is like it; ")
		if len(e.Recorded) == 0 {
			b.WriteString("no interaction is left unused")
		} else {
			b.WriteString("unused: " + strings.Join(e.Recorded, ", "))
		}
	}
	return b.String()
}

const (
	diffContext  = 3  // unchanged lines around a difference
	diffMaxLines = 80 // of a diff in an error message
)

// unified is the diff from the recorded to the live request, cut to what one can read in an error message.
func unified(recorded, live, was, is string) string {
	text, err := udiff.ToUnified(recorded, live, was, udiff.Lines(was, is), diffContext)
	if err != nil {
		return "no diff: " + err.Error()
	}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= diffMaxLines {
		return text
	}
	return strings.Join(lines[:diffMaxLines], "") + fmt.Sprintf("... %d more lines\n", len(lines)-diffMaxLines)
}

// lineCounts counts the lines of a text, without their indentation and commas.
type lineCounts struct {
	lines map[string]int
	total int
}

func newBag(text string) lineCounts {
	b := lineCounts{lines: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \n,")
		if line == "" || strings.Trim(line, `{}[]"`) == "" {
			continue // brackets are alike everywhere
		}
		b.lines[line]++
		b.total++
	}
	return b
}

// similarity is the share of lines two requests have in common, whatever their
// order: 0 for none, 1 for all (Dice's coefficient).
func similarity(a, b lineCounts) float64 {
	if a.total+b.total == 0 {
		return 0
	}
	common := 0
	for line, n := range a.lines {
		common += min(n, b.lines[line])
	}
	return 2 * float64(common) / float64(a.total+b.total)
}
