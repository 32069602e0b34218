package check

import (
	"cmp"
	"slices"
	"time"

	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
)

// The lower bound (J8): no policy under which calls are seen in call order can be faster. For the calls of one
// message, with r the moment a call's block is complete, p how long it runs and N how many may run at once:
//
//   - start(i), the longest chain of conflicts that ends at i, is the latest of r(i) and
//     start(j) + p(j) for every j before i that it conflicts with; no i starts sooner,
//     and so the message does not end before start(i) + p(i).
//   - tail(i) is the longest chain that begins where i ends: the largest p(k) + tail(k)
//     for the k behind i that conflict with it; the message goes on so long after i.
//   - of any calls whose start is a or later and whose tail is b or longer, none runs
//     before a, together they take N places their work divided by N, and the last to
//     end leaves b: the message does not end before a + work/N + b.
//
// None of this decides which call best gets a free place, so under a binding limit the bound may be out of every
// policy's reach. Conflicts are those of what calls declared when they began to read and write; one that declared
// nothing conflicts with all, but two calls that are safe beside each other (I1) never conflict.

// piece is one call of a message, as the bound sees it.
type piece struct {
	ready, took time.Duration
	safe        bool
	touches     *schedule.Footprint
	// start and tail are the longest chains before and behind it.
	start, tail time.Duration
}

// lowerBound is the earliest moment at which all calls of one message can have ended.
func lowerBound(calls []piece, limit int) time.Duration {
	chain(calls)
	var last time.Duration
	for _, c := range calls {
		last = max(last, c.start+c.took)
	}
	return max(last, mostWork(calls, limit))
}

// chain fills in starts and tails. Whether calls conflict is only asked where it would make one longer, of the nearest
// first: where all run one by one, that is of one.
func chain(calls []piece) {
	conflict := func(a, b piece) bool { return !(a.safe && b.safe) && schedule.Conflict(a.touches, b.touches) }
	for i := range calls {
		c := &calls[i]
		c.start = c.ready
		for _, a := range slices.Backward(calls[:i]) {
			if end := a.start + a.took; end > c.start && conflict(a, *c) {
				c.start = end
			}
		}
	}
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		for _, b := range calls[i+1:] {
			if rest := b.took + b.tail; rest > c.tail && conflict(*c, b) {
				c.tail = rest
			}
		}
	}
}

func mostWork(calls []piece, limit int) time.Duration {
	if limit < 1 {
		return 0
	}
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted, func(a, b piece) int { return cmp.Compare(b.start, a.start) })
	var last time.Duration
	tails := map[time.Duration]bool{} // each once, as many calls have the same
	for _, c := range calls {
		tails[c.tail] = true
	}
	for tail := range tails {
		var work time.Duration
		for _, c := range sorted {
			if c.tail >= tail {
				work += c.took
				last = max(last, c.start+work/time.Duration(limit)+tail)
			}
		}
	}
	return last
}

// lowerBoundOf is the run's makespan, less what each turn of the main conversation
// took longer than it had to: its stream or, if that is later, its calls.
func lowerBoundOf(out *Result, limit int) time.Duration {
	last := map[int]int{} // the stream of a turn that was retried to which its calls belong
	for i, st := range out.Streams {
		if st.Agent == "" {
			last[st.Turn] = i
		}
	}
	ran := map[int][]Call{}
	for _, c := range out.Calls {
		if c.Agent == "" && c.ran && c.Status != string(pipeline.Discarded) {
			ran[c.Turn] = append(ran[c.Turn], c)
		}
	}
	span := out.Makespan
	for turn, i := range last {
		var pieces []piece
		end := out.Streams[i].End
		ended := end
		for _, c := range ran[turn] {
			pieces = append(pieces, piece{ready: c.Ready, took: c.Ended - c.Started, safe: c.Safe, touches: c.touches})
			ended = max(ended, c.Ended)
		}
		span -= ended - max(end, lowerBound(pieces, limit))
	}
	return span
}
