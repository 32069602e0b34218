package check

import (
	"cmp"
	"slices"
	"time"

	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Summarize reads the outcome off the trace.
func (out *Result) Summarize(rec *Record) {
	out.Trace, out.Digest, out.Notes, out.Requests, out.Dropped = rec.Events, rec.Digest, rec.Notes, rec.Requests, rec.Dropped
	s := &summary{calls: map[string]*Call{}, streams: map[string]*Stream{}}
	for _, e := range rec.Events {
		s.take(e)
	}
	out.Makespan = s.end
	for _, st := range s.order.streams {
		out.Streams = append(out.Streams, *st)
	}
	s.batches(out)
	for _, c := range s.order.calls {
		out.Calls = append(out.Calls, *c)
	}
	var busy time.Duration
	out.Serial, busy = s.work()
	if out.Serial > 0 {
		out.Hidden = 100 * float64(out.Serial-busy) / float64(out.Serial)
	}
	out.LowerBound = lowerBoundOf(out, rec.Limit)
}

// summary is what is known of a run while its trace is read.
type summary struct {
	calls   map[string]*Call
	streams map[string]*Stream // the open one of each agent
	order   struct {
		calls   []*Call
		streams []*Stream
	}
	end time.Duration
}

func (s *summary) take(e trace.Event) {
	switch e.Kind() {
	case trace.KindRequest:
		st := &Stream{Agent: e.Agent, Turn: e.Turn, Sent: e.At, First: e.At, End: e.At}
		s.streams[e.Agent] = st
		s.order.streams = append(s.order.streams, st)
	case trace.KindFirstByte:
		if st := s.streams[e.Agent]; st != nil {
			st.First, st.End = e.At, e.At
		}
	case trace.KindBlockDone, trace.KindStreamEnd, trace.KindFallback:
		s.stream(e)
	case trace.KindRunEnd:
		if e.Agent == "" {
			s.end = e.At
		}
	}
	if e.Call != "" {
		s.call(e)
	}
}

func (s *summary) stream(e trace.Event) {
	st := s.streams[e.Agent]
	if st == nil {
		return
	}
	if e.Kind() == trace.KindFallback {
		st.Cut = true
	}
	if !st.Cut || st.End < e.At {
		st.End = e.At
	}
}

func key(e trace.Event) string { return e.Agent + "\x00" + e.Call }

func (s *summary) call(e trace.Event) {
	if ready, ok := e.Data.(trace.Ready); ok {
		c := &Call{
			ID: e.Call, Tool: e.Tool, Agent: e.Agent, Turn: e.Turn, Ready: e.At, Started: e.At, Ended: e.At, Emitted: e.At,
			Safe: ready.Safe,
		}
		s.calls[key(e)] = c // a retried stream brings the same id again: the last counts
		s.order.calls = append(s.order.calls, c)
		return
	}
	c := s.calls[key(e)]
	if c == nil {
		return
	}
	switch data := e.Data.(type) {
	case trace.Queued:
		c.WaitsFor, c.On = data.Reason, data.On
	case trace.Started:
		c.Started, c.ran, c.touches = e.At, true, nil
		if !data.Touches.Everything {
			c.touches = &schedule.Footprint{Reads: data.Touches.Reads, Writes: data.Touches.Writes}
		}
	case trace.Ended:
		c.Ended, c.Status = e.At, data.Status
		if !c.ran {
			c.Started = c.Ended
		}
	case trace.Emitted:
		c.Emitted = e.At
	case trace.Discarded:
		c.Status = string(pipeline.Discarded)
	}
}

// batches partitions each turn's calls as they were committed (I1).
func (s *summary) batches(out *Result) {
	var turn []*Call
	flush := func() {
		for _, batch := range schedule.Partition(tool.Each(turn, func(c *Call) bool { return c.Safe })) {
			var names []string
			for _, i := range batch {
				turn[i].Batch = len(out.Batches) + 1
				names = append(names, turn[i].Tool)
			}
			out.Batches = append(out.Batches, names)
		}
		turn = nil
	}
	last := 0
	for _, c := range s.order.calls {
		if c.Agent != "" || c.Status == string(pipeline.Discarded) {
			continue
		}
		if c.Turn != last {
			flush()
			last = c.Turn
		}
		turn = append(turn, c)
	}
	flush()
}

// span is a time in which a stream or a call was at work.
type span struct{ from, to time.Duration }

// work is what was done, as serial time, nothing beside anything, and as the time in
// which any of it was going on (J7). A sub-agent's time is within the call that runs it;
// a call that was discarded with its stream is no work that the run needed.
func (s *summary) work() (serial, busy time.Duration) {
	var spans []span
	for _, st := range s.order.streams {
		if st.Agent == "" {
			spans = append(spans, span{st.Sent, st.End})
		}
	}
	for _, c := range s.order.calls {
		if c.Agent == "" && c.Status != string(pipeline.Discarded) {
			spans = append(spans, span{c.Started, c.Ended})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var end time.Duration
	for _, p := range spans {
		serial += p.to - p.from
		busy += max(0, p.to-max(end, p.from))
		end = max(end, p.to)
	}
	return serial, busy
}

// maxRunning is the most calls that ran at one moment.
func maxRunning(calls []Call) int {
	type edge struct {
		at time.Duration
		by int
	}
	var edges []edge
	for _, c := range calls {
		if c.Ended > c.Started {
			edges = append(edges, edge{c.Started, 1}, edge{c.Ended, -1})
		}
	}
	// Who ends makes room for who begins.
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// results are the results that left and stayed, in the order in which they left.
// One that left while its stream was still going, and was discarded with the
// stream, is none (J5).
func results(events []trace.Event) []trace.Event {
	var kept []trace.Event
	for _, e := range events {
		switch e.Kind() {
		case trace.KindEmitted:
			kept = append(kept, e)
		case trace.KindDiscarded:
			kept = slices.DeleteFunc(kept, func(k trace.Event) bool { return key(k) == key(e) })
		}
	}
	return kept
}
