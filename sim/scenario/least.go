package scenario

import (
	"encoding/json"
	"slices"
	"time"

	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
)

// The lower bound (J8): no policy that lets calls be seen in call order only can be
// faster. For the calls of one message, with r the moment a call's block is complete,
// p how long it runs and N how many may run at once, the last of them ends no sooner
// than
//
//   - the longest chain of conflicts: end(i) = max(r(i), end(j) for every j before i
//     that i conflicts with) + p(i); and
//   - for every moment t, t plus the work of the calls with r >= t, divided by N.
//
// Neither knows which call gets a free place first, so under a binding limit the
// bound may be out of every policy's reach. Conflicts are those of what the calls say
// that they read and write; one that does not say conflicts with all.

// piece is one call of a message, as the bound sees it.
type piece struct {
	ready, took time.Duration
	touches     *schedule.Footprint
}

// least is the earliest moment at which all calls of one message can have ended.
func least(calls []piece, limit int) time.Duration {
	return max(longestChain(calls), mostWork(calls, limit))
}

func longestChain(calls []piece) time.Duration {
	var last time.Duration
	ends := make([]time.Duration, len(calls))
	for i, c := range calls {
		begin := c.ready
		for j := range i {
			if ends[j] > begin && schedule.Conflict(calls[j].touches, c.touches) {
				begin = ends[j]
			}
		}
		ends[i] = begin + c.took
		last = max(last, ends[i])
	}
	return last
}

func mostWork(calls []piece, limit int) time.Duration {
	if limit < 1 {
		return 0
	}
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted, func(a, b piece) int { return int(b.ready - a.ready) })
	var last, work time.Duration
	for _, c := range sorted {
		work += c.took
		last = max(last, c.ready+work/time.Duration(limit))
	}
	return last
}

// leastMakespan is the run's makespan, less what each turn of the main conversation
// took longer than it had to: its stream or, if that is later, its calls.
func leastMakespan(out *Outcome, limit int) time.Duration {
	span := out.Makespan
	for i, st := range out.Streams {
		if st.Agent != "" || retried(out.Streams[i+1:], st) {
			continue
		}
		calls, ended := callsOf(out, st.Turn)
		span -= max(st.End, ended) - max(st.End, least(calls, limit))
	}
	return span
}

// retried: the same turn has a later stream, to which its calls belong.
func retried(later []Stream, st Stream) bool {
	return slices.ContainsFunc(later, func(s Stream) bool { return s.Agent == st.Agent && s.Turn == st.Turn })
}

// callsOf are a turn's calls that ran, and when the last of them ended.
func callsOf(out *Outcome, turn int) (calls []piece, ended time.Duration) {
	for _, c := range out.Calls {
		if c.Agent == "" && c.Turn == turn && c.ran && c.Status != string(pipeline.Discarded) {
			calls = append(calls, piece{c.Ready, c.Ended - c.Started, c.touches})
			ended = max(ended, c.Ended)
		}
	}
	return calls, ended
}

// footprintOf reads what a call said when it began; what cannot be read is everything.
func footprintOf(told string) *schedule.Footprint {
	var said struct{ Reads, Writes []string }
	if json.Unmarshal([]byte(told), &said) != nil {
		return nil
	}
	return &schedule.Footprint{Reads: said.Reads, Writes: said.Writes}
}
