package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// Trial is what is known of a client that was served a scenario, beside its requests.
type Trial struct {
	// Scenario is nil where a recording was served, which expects nothing.
	Scenario *scenario.Scenario
	// Files are what became of the client's disk.
	Files []trace.File
	// Plain gives text of the client with the scenario's own paths; nil: it is the same.
	Plain func([]byte) []byte
	// Prompted: the user's further messages were given, so that all answers are due.
	Prompted bool
	// Failures are what else went wrong, with the process for instance.
	Failures []check.Failure
}

// Outcome is the verdict on the clients, in the form of a run's: their requests are a trace as seen from outside, the
// checks of the report and the scenario's expectations its failures. A call is seen from the end of its block to the
// request with its result; when it ran within that time cannot be known.
func (s *Server) Outcome(t Trial) check.Result {
	r := s.Report()
	s.mu.Lock()
	seen := s.view(t)
	s.mu.Unlock()
	for _, f := range t.Files {
		seen.Events = append(seen.Events, trace.Event{At: seen.end, Data: f})
	}
	out := check.Result{Name: r.Source, Status: check.Passed}
	out.Summarize(&seen.Record)
	out.Serial, out.Hidden, out.LowerBound, out.Batches = 0, 0, 0, nil
	out.Failures = slices.Clone(t.Failures)
	if sc := t.Scenario; sc != nil {
		out.Name, out.About, out.Tags, out.File = sc.Name, sc.About, sc.Tags, sc.File()
	}
	if len(r.Sessions) > 0 || len(out.Failures) == 0 { // who never asked has failed in nothing else
		s.compare(&out, r, t, seen)
	}
	if len(out.Failures) > 0 {
		out.Status = check.Failed
	}
	out.Redact()
	return out
}

// compare adds to a verdict what the report and the scenario's expectations find.
func (s *Server) compare(out *check.Result, r Report, t Trial, seen *view) {
	further := s.further(t)
	out.Failures = append(out.Failures, r.failures(t.Prompted || further == 0)...)
	if further > 0 && !t.Prompted {
		out.Notes = append(out.Notes, fmt.Sprintf("not given: %d further prompts of the user, and answers from there on are not demanded", further))
	}
	if sc := t.Scenario; sc != nil {
		slack := 250*time.Millisecond + out.Makespan/10 // how far a real clock may be off
		if s.o.Speed != 1 {
			slack = 24 * time.Hour // where streams do not run as fast as recorded, times mean nothing
		}
		failures, unchecked := check.Outside(sc, &seen.Record, out, slack)
		out.Failures = append(out.Failures, failures...)
		out.Notes = append(out.Notes, notSeen(sc, unchecked)...)
	}
	for _, session := range r.Sessions {
		out.Notes = append(out.Notes, session.Notes...)
	}
	for _, why := range r.Asides {
		out.Notes = append(out.Notes, "answered aside: "+why)
	}
}

// further counts the user's messages behind the first.
func (s *Server) further(t Trial) (n int) {
	if t.Scenario != nil {
		return len(t.Scenario.Then)
	}
	for _, c := range s.script.Conversations {
		n += len(c.Then)
	}
	return n
}

// notSeen names what of a scenario could not be checked or applied from outside.
func notSeen(sc *scenario.Scenario, unchecked []string) (notes []string) {
	if len(unchecked) > 0 {
		notes = append(notes, "not checked, since it cannot be seen from outside: "+strings.Join(unchecked, ", "))
	}
	var idle []string
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"user", !isZero(sc.User)}, {"hooks", len(sc.Hooks) > 0},
		{"classifier", len(sc.Classifier) > 0}, {"durations", len(sc.Durations) > 0}, {"world.mcp", len(sc.World.MCP) > 0},
		{"world.tools", len(sc.World.Tools) > 0}, {"world.permissions", !isZero(sc.World.Permissions)}, {"world.web", len(sc.World.Web) > 0},
		{"world.history", len(sc.World.History) > 0},
		{"faults of calls and servers", slices.ContainsFunc(sc.Faults, func(f scenario.Fault) bool { return f.Request == 0 })},
	} {
		if part.has {
			idle = append(idle, part.name)
		}
	}
	if len(idle) > 0 {
		notes = append(notes, "not applied, since it is the client's own: "+strings.Join(idle, ", "))
	}
	return notes
}

func isZero(v any) bool { return reflect.ValueOf(v).IsZero() }

// failures are the checks that failed, requests that had no answer, and, where all are
// due, answers that were not asked for.
func (r *Report) failures(all bool) (out []check.Failure) {
	fail := func(key, expected, found string) {
		out = append(out, check.Failure{Expectation: "client." + key, Expected: expected, Found: found, At: r.Source})
	}
	for _, s := range r.Sessions {
		for _, c := range s.Checks {
			if c.Status == Failed {
				for _, f := range c.Findings {
					fail(c.Name, c.Demand+" ("+c.Weight.words()+")", f.String())
				}
			}
		}
		if all && s.Answers < s.Of {
			fail("served", fmt.Sprintf("all %d answers of conversation %d are asked for", s.Of, s.Conversation), fmt.Sprintf("%d were", s.Answers))
		}
	}
	for _, refused := range r.Refused {
		fail("answered", "every request has an answer", refused.Text)
	}
	for _, n := range r.Unserved {
		fail("served", fmt.Sprintf("conversation %d is asked for", n), "it was not")
	}
	return out
}

// words say what a violation comes to.
func (w Weight) words() string {
	switch w {
	case Refused:
		return "the API refuses the request"
	case Costs:
		return "it costs tokens or the prompt cache"
	case Setup:
		return "else nothing can be said of the client"
	}
	return "a matter of taste"
}

// view is a record of the requests.
type view struct {
	check.Record
	scenario *scenario.Scenario
	plain    func([]byte) []byte
	speed    float64
	end      time.Duration
	first    time.Duration
}

// view gives what the sessions' requests show. The caller holds the lock.
func (s *Server) view(t Trial) *view {
	v := &view{plain: t.Plain, speed: s.o.Speed, first: -1, scenario: t.Scenario}
	if v.plain == nil {
		v.plain = bytes.Clone
	}
	for i, session := range s.router.sessions {
		agent := ""
		if i > 0 {
			agent = fmt.Sprintf("agent_%d", i)
		}
		v.session(session, agent)
	}
	slices.SortStableFunc(v.Events, func(a, b trace.Event) int { return cmp.Compare(a.At, b.At) })
	for i := range v.Events {
		v.Events[i].At -= max(0, v.first)
	}
	v.end = max(0, v.end-max(0, v.first))
	v.Events = append(v.Events, trace.Event{At: v.end, Data: trace.RunEnd{}})
	v.Limit = max(1, v.Limit)
	return v
}

func (v *view) session(s *session, agent string) {
	for i, x := range s.log {
		if v.first < 0 || x.arrived < v.first {
			v.first = x.arrived
		}
		put := func(at time.Duration, call message.Block, data trace.Data) {
			v.end = max(v.end, at)
			v.Events = append(v.Events, trace.Event{At: at, Agent: agent, Turn: i + 1, Call: call.ID, Tool: call.Name, Data: data})
		}
		if i > 0 {
			v.results(s, s.log[i-1], x, put)
		}
		put(x.arrived, message.Block{}, trace.Request{Bytes: len(x.req.body), Messages: len(x.req.messages), Tools: len(x.req.tools), Model: x.req.model})
		body, _ := message.ReadBody(v.plain(x.req.body)) // one that cannot be read stays whole
		v.Requests = append(v.Requests, body)
		if x.answer >= 0 {
			v.answer(s, x, put)
		}
	}
}

type addEvent func(at time.Duration, call message.Block, data trace.Data)

// results are those that a request brings for the answer before it.
func (v *view) results(s *session, before, x exchange, put addEvent) {
	if before.answer < 0 || before.broken {
		return
	}
	calls := s.from.Answers[before.answer].Calls()
	for _, r := range resultsAfter(x.req, x.req.firstOf(&s.conv.Answers[before.answer])) {
		at := slices.IndexFunc(calls, func(c message.Block) bool { return c.ID == cmp.Or(s.ids[r.id], r.id) })
		if at < 0 {
			continue
		}
		if slices.Contains(leftOut[s.api], "errors of results") {
			r.isError = v.expectsError(calls[at].ID)
		}
		status := "ok"
		if r.isError {
			status = "failed"
		}
		put(x.arrived, calls[at], trace.Ended{Status: status})
		put(x.arrived, calls[at], trace.Emitted{Status: status, Error: r.isError, Text: string(v.plain([]byte(r.text))), Blocks: 1})
	}
}

// expectsError reports whether a scenario expects a call to fail: where the API has no mark
// for it, what is expected is taken as given.
func (v *view) expectsError(id string) bool {
	if v.scenario == nil {
		return false
	}
	want := v.scenario.Expect.Results[id]
	return want.Error != nil && *want.Error || want.Status != "" && want.Status != "ok"
}

// answer is what was streamed: when it began and ended, and when each call was complete.
func (v *view) answer(s *session, x exchange, put addEvent) {
	a := &s.from.Answers[x.answer]
	at := func(d time.Duration) time.Duration {
		if v.speed == 0 {
			return x.arrived
		}
		return x.arrived + time.Duration(float64(d)/v.speed)
	}
	if len(a.Events) > 0 {
		put(at(a.Events[0].At), message.Block{}, trace.FirstByte{})
	}
	ended := max(x.ended, x.arrived)
	if x.broken {
		put(ended, message.Block{}, trace.Fallback{})
		return
	}
	calls := a.Calls()
	v.Limit = max(v.Limit, len(calls))
	blocks := map[int64]string{}
	for _, e := range a.Events {
		index := gjson.GetBytes(e.Data, "index").Int()
		switch e.Type {
		case "content_block_start":
			blocks[index] = gjson.GetBytes(e.Data, "content_block.id").Str
		case "content_block_stop":
			k := slices.IndexFunc(calls, func(c message.Block) bool { return c.ID == blocks[index] && c.ID != "" })
			if k >= 0 && !x.resent {
				put(at(e.At), calls[k], trace.Ready{Input: string(calls[k].Input)})
				put(at(e.At), calls[k], trace.Started{})
			}
		}
	}
	put(ended, message.Block{}, trace.StreamEnd{Stop: a.Reply.StopReason})
}
