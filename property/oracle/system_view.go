package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/property/generate"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/trace"
)

// SystemView is a run of a system case in order.
type SystemView struct {
	s        *generate.SystemCase
	out      check.Result
	work     []Work // of the tools, from within
	bodies   []body // of the requests
	requests []*request
	// calls are the case's calls in its order, those too that were never made.
	calls []*systemCall
	byID  map[string]*systemCall
	// agents are the Agent calls behind the sub-agents, by the agents' names.
	agents map[string]*systemCall
	state  trace.StateView // the main conversation's, at the end
	// connections are those to the servers, by name; failed: the conversation ended in an error.
	connections map[string]*connection
	failed      bool
}

// request is one request, as an API reads it.
type request struct {
	agent string
	turn  int
	// begun is when its tools were gathered, or began to be; at is when it left.
	begun, at time.Duration
	// abandoned: its stream was given up. garbled: an event of it came twice or late.
	abandoned, garbled bool
	// defs are the definitions' bytes without the cache breakpoint, names theirs, prefix how many
	// stand up to it. Loaded are the names that are defined.
	defs   []json.RawMessage
	names  []string
	prefix int
	loaded map[string]bool
	// offered are the names that are defined or deferred.
	offered map[string]bool
	// results are the texts of the results in it, by call.
	results map[string]string
}

// systemCall is one call as it went.
type systemCall struct {
	v      *SystemView
	call   *generate.Call
	turn   int // the main conversation's, at which it was, or is to be, made
	parent *systemCall
	want   Prediction

	made, ran, emitted, over bool
	// tries is how often it was made: a stream that is tried again makes its calls again.
	// began is when its run began.
	tries int
	began time.Duration
	// repeated: an answer that was cut short by the user, and not taken for one, was given
	// again, and the call with it, though it has a result already.
	repeated               bool
	agent                  string
	asked                  *request // that it answers to
	status, text, decision string
	askedPerson            bool
	hooks, saved           []string
	cancelled, ended       time.Duration
	wasCancelled           bool
}

// suffers and delay are what goes wrong with the call; see [generate.SystemCase].
func (p *systemCall) suffers(what ...string) bool     { return p.v.s.Suffers(p.call.ID, what...) }
func (p *systemCall) delay(what string) time.Duration { return p.v.s.Delay(p.call.ID, what) }

// stopped reports whether the call was stopped from outside.
func (p *systemCall) stopped() bool {
	return slices.Contains([]string{"cancelled", "interrupted", "aborted", "discarded"}, p.status) // as in pipeline
}

// settled reports whether it came to its own end, which the oracle predicts.
func (p *systemCall) settled() bool { return p.emitted && !p.stopped() }

// ReadSystem reads what a scenario made of a system case; work is what its tools did.
func ReadSystem(s *generate.SystemCase, out check.Result, work []Work) (*SystemView, error) {
	v := &SystemView{s: s, out: out, work: work, byID: map[string]*systemCall{}, agents: map[string]*systemCall{}, connections: map[string]*connection{}}
	s.Each(func(c *generate.Call, turn int, parent *generate.Call) {
		p := &systemCall{v: v, call: c, turn: turn}
		if parent != nil {
			p.parent = v.byID[parent.ID]
		}
		v.calls, v.byID[c.ID] = append(v.calls, p), p
	})
	if err := v.read(); err != nil {
		return nil, err
	}
	if len(v.requests) != len(out.Requests) {
		return nil, fmt.Errorf("the trace has %d requests, the wire had %d", len(v.requests), len(out.Requests))
	}
	v.markGarbled()
	for i := range s.Servers {
		v.connections[s.Servers[i].Name] = v.connection(&s.Servers[i])
	}
	for _, p := range v.calls {
		p.want = Predict(s, p.call, p.turn, v.circumstances(p))
	}
	return v, nil
}

// read takes the trace in.
func (v *SystemView) read() error {
	latest, begun := map[string]*request{}, map[string]time.Duration{}
	for _, e := range v.out.Trace {
		switch {
		case e.Kind() == trace.KindTurnStart:
			begun[e.Agent] = e.At
		case e.Kind() == trace.KindRequest:
			r, err := v.request(e)
			if err != nil {
				return err
			}
			r.begun = begun[e.Agent]
			if before := latest[e.Agent]; before != nil && before.turn == r.turn {
				r.at = before.at // it is sent again, with the same tools
			}
			latest[e.Agent] = r
		case e.Kind() == trace.KindFallback && latest[e.Agent] != nil:
			latest[e.Agent].abandoned = true
		case trace.As[trace.RunEnd](e).Error != "":
			if r := latest[e.Agent]; r != nil {
				r.abandoned = true
			}
			v.failed = v.failed || e.Agent == ""
		case e.Kind() == trace.KindState && e.Agent == "":
			v.state = trace.As[trace.State](e).State
		}
		if p := v.byID[e.Call]; p != nil {
			v.note(p, e, latest[e.Agent])
		}
	}
	return nil
}

// markGarbled notes the requests in whose answers events came twice or late.
func (v *SystemView) markGarbled() {
	var reached []*request
	for i, r := range v.requests {
		if !slices.Contains(v.out.Dropped, i) {
			reached = append(reached, r)
		}
	}
	for _, f := range v.s.Faults {
		if n := f.Request; n > 0 && n <= len(reached) && (f.What == "twice" || f.What == "late") {
			reached[n-1].garbled = true
		}
	}
}

func (v *SystemView) note(p *systemCall, e trace.Event, latest *request) {
	switch data := e.Data.(type) {
	case trace.Ready:
		*p = systemCall{v: v, call: p.call, turn: p.turn, parent: p.parent, tries: p.tries + 1, repeated: p.repeated || p.emitted, made: true, agent: e.Agent, asked: latest}
		// An answer that the user cut short is given again, a turn later than it was due.
		if p.turn = e.Turn; p.parent != nil {
			p.turn = p.parent.turn
			v.agents[e.Agent] = p.parent
		}
	case *trace.Stage:
		if data.Stage == "run" {
			p.ran, p.began = true, e.At-data.Took
		}
	case trace.Ask:
		p.askedPerson = true
	case trace.Decision:
		if !p.asksFurther() || p.decision == "" {
			p.decision = data.Behaviour
		}
	case trace.Hook:
		if p.asksFurther() && p.decision != "" && data.Event == "PreToolUse" {
			return
		}
		p.hooks = append(p.hooks, data.Event+" "+data.Hook)
	case trace.Persisted:
		p.saved = append(p.saved, data.Why)
	case trace.Discarded: // its message was given up, and it with it
		p.made, p.emitted, p.status, p.text = false, false, "discarded", ""
	case trace.Cancel:
		p.wasCancelled, p.cancelled = true, e.At
	case trace.Ended:
		p.over, p.ended = true, e.At
	case trace.Emitted:
		p.emitted, p.status, p.text = true, data.Status, data.Text
	}
}

// asksFurther reports whether the tool may have a further call of its own decided upon while it
// runs: the browser, where a page leads to another host.
func (p *systemCall) asksFurther() bool { return p.call.Tool == "WebBrowser" }

// request reads the next request.
func (v *SystemView) request(e trace.Event) (*request, error) {
	n := len(v.requests)
	if n >= len(v.out.Requests) {
		return nil, fmt.Errorf("request %d of the trace was not on the wire", n+1)
	}
	var b body
	if err := json.Unmarshal(v.out.Requests[n].Bytes(), &b); err != nil {
		return nil, err
	}
	v.bodies = append(v.bodies, b)
	r := &request{agent: e.Agent, turn: e.Turn, at: e.At, loaded: map[string]bool{}, offered: map[string]bool{}, results: map[string]string{}}
	v.requests = append(v.requests, r)
	return r, r.read(&b)
}

func (r *request) read(b *body) error {
	for _, definition := range b.Tools {
		if err := r.define(definition); err != nil {
			return err
		}
	}
	for _, m := range b.Messages {
		for _, block := range m.Content {
			if block.For == "" {
				continue
			}
			var text strings.Builder
			for _, part := range block.Content {
				text.WriteString(part.Text)
			}
			r.results[block.For] = text.String()
		}
	}
	return nil
}

func (r *request) define(raw json.RawMessage) error {
	var d struct {
		Name     string          `json:"name"`
		Deferred bool            `json:"defer_loading"`
		Mark     json.RawMessage `json:"cache_control"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	r.offered[d.Name] = true
	if d.Mark != nil {
		raw = bytes.Replace(raw, []byte(`,"cache_control":`+string(d.Mark)), nil, 1)
	}
	if !d.Deferred {
		r.defs, r.names = append(r.defs, raw), append(r.names, d.Name)
		r.loaded[d.Name] = true
	}
	if d.Mark != nil {
		r.prefix = len(r.defs)
	}
	return nil
}

// main are the requests of the main conversation.
func (v *SystemView) main() []*request {
	return slices.DeleteFunc(slices.Clone(v.requests), func(r *request) bool { return r.agent != "" })
}

// deferring reports whether the request has the tool by which others are loaded.
func (r *request) deferring() bool { return r.loaded["ToolSearch"] }

// repeats reports whether a call was made again that had a result.
func (v *SystemView) repeats() bool {
	return slices.ContainsFunc(v.calls, func(p *systemCall) bool { return p.repeated })
}

// log is the trace, a line an event.
func (v *SystemView) log() string {
	var all []byte
	for _, e := range v.out.Trace {
		all = append(e.AppendLine(all), '\n')
	}
	return string(all)
}
