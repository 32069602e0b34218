package cassette

import (
	"fmt"
	"strings"
)

// MissKind tells why a request has no answer.
type MissKind int

const (
	// NothingLike: no recorded request resembles it.
	NothingLike MissKind = iota
	// UsedUp: it was recorded, and each recording of it has been replayed.
	UsedUp
	// Exhausted: matching is lenient, and there are more requests than answers.
	Exhausted
	// Differs: a recorded request resembles it, and Diff says where not.
	Differs
)

// MissError is what RoundTrip returns for a request without an answer (O3).
type MissError struct {
	Cassette    string
	Kind        MissKind
	Method, URL string // of the request, secrets blanked
	// Nearest is the number of the recorded request that Kind speaks of; 0: none.
	Nearest int
	// Similarity is the share of lines that both have in common, 0 to 1.
	Similarity float64
	// Diff is a unified diff, from the recorded request to this one, of their
	// bodies as sorted, indented JSON. Headers never count.
	Diff string
	// Recorded lists what is left in the cassette: "1 POST /v1/messages".
	Recorded []string
}

// Error says what happened and what to do.
func (e *MissError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cassette %s has no answer for %s %s: ", e.Cassette, e.Method, e.URL)
	switch e.Kind {
	case UsedUp:
		fmt.Fprintf(&b, "interaction %d answered it already, and each is used once; is the request sent again, or a recording missing?", e.Nearest)
	case Exhausted:
		fmt.Fprintf(&b, "interaction %d was the last recorded answer; did the run take more turns than were recorded?", e.Nearest)
	case Differs:
		fmt.Fprintf(&b, "interaction %d is nearest (%.0f %% alike); repair what changed, or record again:\n%s", e.Nearest, 100*e.Similarity, e.Diff)
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
