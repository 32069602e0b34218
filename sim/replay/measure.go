package replay

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/recording"
)

// measured is what the times of a recording show of a turn's calls.
type measured struct {
	// took is how long each call ran, by its place in the message; beside marks calls
	// that provably ran beside another.
	took   []recording.Moment
	beside []bool
	// early: a result was there before the message was complete, so that the agent
	// starts tools while the stream goes on.
	early bool
}

// slack is what clocks and the writing of a log may be off.
const slack = 50 * time.Millisecond

// measure reads a turn's times. Early is set for an agent that starts tools while the stream goes on.
//
// Two calls ran side by side if the later one's result was there first: had either been exclusive, it could not have
// been. So did two whose tools took their own time, if those spans overlap. A call that ran alone began when it was
// complete, or when the one before it ended, or, with an agent that waits for the stream, when that ended.
func measure(t *recording.Turn, early bool) measured {
	n := len(t.Calls)
	m := measured{took: make([]recording.Moment, n), beside: make([]bool, n)}
	results := make([]recording.Result, n) // empty where a call has none of its own
	var last time.Duration                 // the last block: a lower bound of the stream's time
	for i, c := range t.Calls {
		if c.Ready.Known {
			last = max(last, c.Ready.At)
		}
		if r := t.Result(c.ID); r != nil && !c.Repeated {
			results[i] = *r
		}
	}
	for _, r := range results {
		m.early = m.early || r.At.Known && t.Pace == recording.Exact && r.At.At < last
	}
	if t.Pace != recording.Exact && len(t.Events) > 0 {
		last = t.Events[len(t.Events)-1].At
	}
	m.overlaps(results)
	m.spans(t, results, last, m.early || early)
	return m
}

// overlaps finds the calls that ran beside another.
func (m *measured) overlaps(results []recording.Result) {
	var timed, own []int
	for i, r := range results {
		if r.At.Known {
			timed = append(timed, i)
			if r.Took.Known && r.Took.At > slack {
				own = append(own, i)
			}
		}
	}
	end := func(i int) time.Duration { return results[i].At.At }
	start := func(i int) time.Duration { return end(i) - results[i].Took.At + slack }
	slices.SortFunc(own, func(i, j int) int { return cmp.Compare(start(i), start(j)) })
	m.mark(timed, end, end)
	m.mark(own, start, end)
}

// mark marks each call that begins before one that stands before it has ended, and the latter.
func (m *measured) mark(calls []int, begins, ends func(int) time.Duration) {
	var latest, earliest time.Duration = math.MinInt64, math.MaxInt64
	for _, i := range calls {
		m.beside[i] = m.beside[i] || begins(i) < latest
		latest = max(latest, ends(i))
	}
	for _, i := range slices.Backward(calls) {
		m.beside[i] = m.beside[i] || earliest < ends(i)
		earliest = min(earliest, begins(i))
	}
}

// spans gives each call its duration.
func (m *measured) spans(t *recording.Turn, results []recording.Result, streamed time.Duration, early bool) {
	var before time.Duration // when the calls before had ended
	for i, c := range t.Calls {
		end, own := results[i].At, results[i].Took
		if !end.Known || t.Pace == recording.Unknown {
			continue
		}
		start := streamed
		if early && c.Ready.Known {
			start = c.Ready.At
		}
		if !m.beside[i] {
			start = max(start, before)
		}
		took := max(0, end.At-start)
		if own.Known && own.At <= end.At-c.Ready.At+slack {
			took = own.At
		}
		m.took[i] = recording.Moment{At: took, Known: true}
		before = max(before, end.At)
	}
}

// session is what the turn took when it was recorded; ok is false without times.
func session(t *recording.Turn) (d time.Duration, ok bool) {
	if t.Pace == recording.Unknown || len(t.Events) == 0 {
		return 0, false
	}
	d = t.Events[len(t.Events)-1].At
	for _, c := range t.Calls {
		r := t.Result(c.ID)
		if r == nil || c.Cut {
			continue
		}
		if !r.At.Known {
			return 0, false
		}
		d = max(d, r.At.At)
	}
	return d, true
}

// Beside marks the calls of a turn that provably ran beside another, by their place in
// the message, from the recording's times (O3). Without times there is no proof.
func Beside(t *recording.Turn) []bool { return measure(t, false).beside }

// StartsEarly reports whether a result was there before its message was complete: the agent
// starts tools while the stream goes on (O3).
func StartsEarly(t *recording.Turn) bool { return measure(t, false).early }

// HasCommand reports whether an input is a command in a language of its own, as a
// shell's is: that one such call ran beside another proves nothing of the next.
func HasCommand(input json.RawMessage) bool {
	return slices.ContainsFunc([]string{"command", "cmd", "code", "script"}, func(member string) bool { return gjson.GetBytes(input, member).Exists() })
}
