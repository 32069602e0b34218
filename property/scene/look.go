package scene

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// view is a run as promises look at it.
type view struct {
	s        *Scene
	out      scenario.Outcome
	requests []*request
	// calls are the scene's calls in its order, those too that were never made.
	calls []*played
	byID  map[string]*played
	// agents are the Agent calls behind the sub-agents, by the agents' names.
	agents map[string]*played
	state  string // the main conversation's, at the end
}

// request is one request, as an API reads it.
type request struct {
	agent string
	turn  int
	at    time.Duration
	// defs are the definitions' bytes, names theirs, prefix how many stand up to the
	// cache breakpoint. Loaded are the names that are there whole.
	defs   []json.RawMessage
	names  []string
	prefix int
	loaded map[string]bool
	// results are the texts of the results in it, by call.
	results map[string]string
}

// played is one call as it went.
type played struct {
	call   *Call
	turn   int // the main conversation's, at which it is to be made
	parent *played
	want   foretold

	made, ran, emitted, over bool
	agent                    string
	asked                    *request // that it answers to
	status, text, decision   string
	persons                  bool
	hooks, saved             []string
	cancelled, ended         time.Duration
	started, wasCancelled    bool
}

// stopped says whether the call was stopped from outside.
func (p *played) stopped() bool {
	switch p.status {
	case "cancelled", "interrupted", "aborted", "discarded":
		return true
	}
	return false
}

// settled: it came to its own end, which the reference foretells.
func (p *played) settled() bool { return p.emitted && !p.stopped() }

func look(s *Scene, out scenario.Outcome) (*view, error) {
	v := &view{s: s, out: out, byID: map[string]*played{}, agents: map[string]*played{}}
	s.each(func(c *Call, turn int, parent *Call) {
		p := &played{call: c, turn: turn, want: s.foretell(c, turn)}
		if parent != nil {
			p.parent = v.byID[parent.ID]
		}
		v.calls, v.byID[c.ID] = append(v.calls, p), p
	})
	latest := map[string]*request{}
	for _, e := range out.Trace {
		if e.Kind == trace.Request {
			r, err := v.request(e)
			if err != nil {
				return nil, err
			}
			latest[e.Agent] = r
		}
		if e.Kind == trace.StateNow && e.Agent == "" {
			v.state = e.Get("state")
		}
		if p := v.byID[e.Call]; p != nil {
			v.note(p, e, latest[e.Agent])
		}
	}
	if len(v.requests) != len(out.Requests) {
		return nil, fmt.Errorf("the trace has %d requests, the wire had %d", len(v.requests), len(out.Requests))
	}
	return v, nil
}

func (v *view) note(p *played, e trace.Event, latest *request) {
	switch e.Kind {
	case trace.Ready:
		p.made, p.agent, p.asked = true, e.Agent, latest
		if p.parent != nil {
			v.agents[e.Agent] = p.parent
		}
	case trace.Started:
		p.started = true
	case trace.Stage:
		p.ran = p.ran || e.Get("stage") == "run"
	case trace.Ask:
		p.persons = true
	case trace.Decision:
		p.decision = e.Get("behaviour")
	case trace.Hook:
		p.hooks = append(p.hooks, e.Get("event")+" "+e.Get("hook"))
	case trace.Persisted:
		p.saved = append(p.saved, e.Get("why"))
	case trace.Cancel:
		p.wasCancelled, p.cancelled = true, e.At
	case trace.Ended:
		p.over, p.ended = true, e.At
	case trace.Emitted:
		p.emitted, p.status, p.text = true, e.Get("status"), e.Get("text")
	}
}

// request reads the next request.
func (v *view) request(e trace.Event) (*request, error) {
	n := len(v.requests)
	if n >= len(v.out.Requests) {
		return nil, fmt.Errorf("request %d of the trace was not on the wire", n+1)
	}
	r := &request{agent: e.Agent, turn: e.Turn, at: e.At, loaded: map[string]bool{}, results: map[string]string{}}
	v.requests = append(v.requests, r)
	return r, r.read(v.out.Requests[n])
}

func (r *request) read(body []byte) error {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Content []struct {
				For     string `json:"tool_use_id"`
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	for _, raw := range req.Tools {
		if err := r.define(raw); err != nil {
			return err
		}
	}
	for _, m := range req.Messages {
		for _, b := range m.Content {
			if b.For == "" {
				continue
			}
			var text strings.Builder
			for _, part := range b.Content {
				text.WriteString(part.Text)
			}
			r.results[b.For] = text.String()
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
func (v *view) main() []*request {
	var all []*request
	for _, r := range v.requests {
		if r.agent == "" {
			all = append(all, r)
		}
	}
	return all
}

// deferring: the request has the tool by which others are loaded.
func (r *request) deferring() bool { return r.loaded["ToolSearch"] }

// log is the trace, a line an event.
func (v *view) log() string {
	var all []byte
	for _, e := range v.out.Trace {
		all = append(e.AppendLine(all), '\n')
	}
	return string(all)
}
