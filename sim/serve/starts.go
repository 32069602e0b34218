package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
)

// Change is a file of the client's disk that changed, by the path that the script has for it.
type Change struct {
	Path string
	At   time.Time
}

// shown is a call whose start a changed file shows: how long after the end of its answer the
// file changed, negative while the answer still streamed.
type shown struct {
	call  string
	first bool // it belongs to the first answer of all, which begins when the run does
	ended time.Duration
	after time.Duration
}

// writers are the tools that change the file which they name: a call of another may have
// nothing to do with the change.
var writers = []string{"Write", "Edit", "NotebookEdit"}

// starts finds the calls that a changed file shows: those that write it, from the end of
// their block to that of the next answer's first call. Only what was streamed has a middle. The
// caller holds the lock.
func (s *Server) starts(changes []Change) (all []shown) {
	if s.speed() == 0 {
		return nil
	}
	for n, session := range s.router.sessions {
		for i, x := range session.log {
			if x.answer < 0 || x.broken || x.resent || !x.req.stream {
				continue
			}
			for _, c := range s.startsOf(&session.from.Answers[x.answer], x.arrived, s.nextCall(session, i+1), changes) {
				c.first = n == 0 && i == 0
				all = append(all, c)
			}
		}
	}
	return all
}

// nextCall is when the first call of the answers from a place on was complete: no file can
// have changed for it before.
func (s *Server) nextCall(session *session, from int) time.Duration {
	for _, x := range session.log[from:] {
		if x.answer < 0 {
			continue
		}
		if ends := blockEnds(&session.from.Answers[x.answer]); len(ends) > 0 {
			return x.arrived + s.due(slices.Min(slices.Collect(maps.Values(ends))))
		}
	}
	return math.MaxInt64
}

// startsOf are those of one answer, which began at a time, as changes until another show.
func (s *Server) startsOf(a *Answer, began, until time.Duration, changes []Change) (all []shown) {
	ready, end := blockEnds(a), lastEvent(a)
	for _, c := range a.Calls() {
		if !slices.Contains(writers, c.Name) {
			continue
		}
		if at, found := s.changed(changes, c, began+s.due(ready[c.ID]), until); found {
			all = append(all, shown{call: c.ID, ended: end, after: at - began - s.due(end)})
		}
	}
	return all
}

// due is when an event of an answer is sent, at the speed of the server.
func (s *Server) due(at time.Duration) time.Duration {
	return time.Duration(float64(at) / s.speed())
}

// blockEnds are when the blocks of calls are complete, by id, on the answer's clock.
func blockEnds(a *Answer) map[string]time.Duration {
	ends, open := map[string]time.Duration{}, map[int64]string{}
	for _, e := range a.Events {
		index := gjson.GetBytes(e.Data, "index").Int()
		switch e.Type {
		case "content_block_start":
			open[index] = gjson.GetBytes(e.Data, "content_block.id").Str
		case "content_block_stop":
			if id := open[index]; id != "" {
				ends[id] = e.At
			}
		}
	}
	return ends
}

func lastEvent(a *Answer) time.Duration { return a.Events[len(a.Events)-1].At }

// changed is when the file of a call first changed within a time.
func (s *Server) changed(changes []Change, c message.Block, from, until time.Duration) (time.Duration, bool) {
	var in map[string]any
	if json.Unmarshal(c.Input, &in) != nil {
		return 0, false
	}
	for _, change := range changes {
		at := change.At.Sub(s.start)
		if at < from || at >= until {
			continue
		}
		for _, value := range in {
			if value == change.Path {
				return at, true
			}
		}
	}
	return 0, false
}

// checkStarts words which calls started in mid-stream as far as files show it, and gives what
// fails where the scenario has a call do so: where that is demanded.
func (s *Server) checkStarts(sc *scenario.Scenario, all []shown) (notes []string, failures []check.Failure) {
	var early, late []string
	if sc == nil || !s.o.Strict {
		sc = &scenario.Scenario{} // which expects nothing
	}
	for _, c := range all {
		text := fmt.Sprintf("%s (its file changed %s before the answer's end)", c.call, (-c.after).Round(time.Millisecond))
		if c.after < 0 {
			early = append(early, text)
			continue
		}
		text = fmt.Sprintf("%s (its file changed %s after the answer's end)", c.call, c.after.Round(time.Millisecond))
		late = append(late, text)
		if want := sc.Expect.Starts[c.call]; c.first && want.Before(c.ended) {
			failures = append(failures, check.Failure{Expectation: "starts." + c.call, Expected: fmt.Sprintf("%s, before its answer ends at %s", want, c.ended), Found: text})
		}
	}
	slices.Sort(early)
	slices.Sort(late)
	if len(early) > 0 {
		notes = append(notes, "started in mid-stream: "+strings.Join(early, ", "))
	}
	if len(late) > 0 {
		notes = append(notes, "not seen to start in mid-stream: "+strings.Join(late, ", "))
	}
	return notes, failures
}
