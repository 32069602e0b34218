package stream

import (
	"math"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// Tick is the resolution of event times: times are multiples of it, so
// that a recording, which stores microseconds, loses nothing.
const Tick = time.Microsecond

// BytesPerToken is the estimate behind Pace: a token is four bytes of output.
const BytesPerToken = 4

// Pace is when the events of a stream arrive (O2).
type Pace struct {
	// FirstByte is when the first event arrives, after the request was sent.
	FirstByte time.Duration
	// TokensPerSecond is the model's speed from then on. Zero, or what is no
	// positive number, means that everything arrives with the first byte.
	TokensPerSecond float64
}

// Apply returns the events with the pace's times; the argument is unchanged.
// An event arrives once all output up to and including its own has been
// generated: FirstByte + (bytes of delta text so far) / BytesPerToken /
// TokensPerSecond, rounded down to a Tick. Text, thinking and tool input
// count, in bytes after unescaping; signatures and citations do not. Fractions
// of tokens count, and rounding does not add up over a stream.
func (p Pace) Apply(events []Event) []Event {
	paced := slices.Clone(events)
	var n int
	for i := range paced {
		n += outputBytes(paced[i])
		paced[i].At = p.at(n)
	}
	return paced
}

func (p Pace) at(n int) time.Duration {
	rate := p.TokensPerSecond
	if !(rate > 0) || math.IsInf(rate, 1) {
		return p.FirstByte.Truncate(Tick)
	}
	s := float64(n) / BytesPerToken / rate
	room := (math.MaxInt64 - p.FirstByte).Seconds() // never wrap round
	if s >= room {
		return time.Duration(math.MaxInt64).Truncate(Tick)
	}
	return (p.FirstByte + time.Duration(s*float64(time.Second))).Truncate(Tick)
}

// outputBytes is how much model output a delta carries.
func outputBytes(e Event) int {
	if e.Type != typeDelta {
		return 0
	}
	delta := gjson.GetBytes(e.Data, "delta")
	var n int
	for _, key := range []string{"text", "thinking", "partial_json"} {
		n += len(delta.Get(key).Str)
	}
	return n
}
