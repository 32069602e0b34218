package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"toolbench/sim/scenario/check"
	"toolbench/sim/secret"
	"toolbench/toolsys/trace"
)

// Perfetto writes trace events, which Perfetto and chrome://tracing open: a process each
// scenario and policy, a thread each agent's stream, and as many for its calls as ran at
// once. An arrow leads from the block of a call to its start. Times are microseconds.
func Perfetto(w io.Writer, outcomes []check.Result, o Options) error {
	return writePerfetto(w, viewsOf(outcomes, o), o)
}

type traceEvents struct {
	TraceEvents []traceEvent      `json:"traceEvents"`
	Unit        string            `json:"displayTimeUnit"`
	Other       map[string]string `json:"otherData"`
}

type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	TS    int64          `json:"ts"`
	Dur   *int64         `json:"dur,omitempty"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

func writePerfetto(w io.Writer, views []view, o Options) error {
	p := &perfetto{finder: o.finder(), doc: traceEvents{Unit: "ms", Other: map[string]string{"clock": "virtual, from the start of the scenario"}}}
	for _, v := range views {
		p.process(v.Result)
		for _, other := range v.others {
			p.process(other)
		}
	}
	return printJSON(w, p.doc)
}

type perfetto struct {
	doc    traceEvents
	pid    int
	flow   int
	finder *secret.Finder
	// threads are those of the process; tids count them.
	threads map[string]int
}

func (p *perfetto) add(e traceEvent) {
	e.PID = p.pid
	p.doc.TraceEvents = append(p.doc.TraceEvents, e)
}

// thread gives the number of a thread, which is named when it is new.
func (p *perfetto) thread(name string) int {
	if tid, ok := p.threads[name]; ok {
		return tid
	}
	tid := len(p.threads) + 1
	p.threads[name] = tid
	p.add(traceEvent{Name: "thread_name", Phase: "M", TID: tid, Args: map[string]any{"name": name}})
	p.add(traceEvent{Name: "thread_sort_index", Phase: "M", TID: tid, Args: map[string]any{"sort_index": tid}})
	return tid
}

func (p *perfetto) slice(tid int, name, cat string, from, to int64, args map[string]any) {
	p.add(traceEvent{Name: name, Phase: "X", Cat: cat, TID: tid, TS: from, Dur: new(max(0, to-from)), Args: args})
}

func (p *perfetto) process(r check.Result) {
	p.pid++
	p.threads = map[string]int{}
	name := r.Name
	if r.Policy != "" {
		name += " (" + r.Policy + ")"
	}
	p.add(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": name}})
	p.add(traceEvent{Name: "process_labels", Phase: "M", Args: map[string]any{"labels": string(r.Status)}})
	for _, s := range inOrder(r.Streams) {
		p.slice(p.thread(agentName(s.Agent)+"stream"), fmt.Sprintf("turn %d", s.Turn), "stream", s.Sent.Microseconds(), s.End.Microseconds(),
			map[string]any{"first_byte_us": s.First.Microseconds(), "cut": s.Cut})
	}
	p.calls(r)
	for _, e := range r.Trace {
		p.event(e)
	}
}

// calls puts each call on the first thread of its agent that is free.
func (p *perfetto) calls(r check.Result) {
	free := map[string][]int64{} // of each agent's threads, until when they are taken
	for _, c := range slices.SortedStableFunc(slices.Values(r.Calls), func(a, b check.Call) int { return cmp.Compare(a.Ready, b.Ready) }) {
		busy := free[c.Agent]
		slot := slices.IndexFunc(busy, func(until int64) bool { return until <= c.Ready.Microseconds() })
		if slot < 0 {
			slot, busy = len(busy), append(busy, 0)
		}
		busy[slot] = max(callEnd(c), c.Ready.Microseconds()+1)
		free[c.Agent] = busy
		p.call(c, p.thread(fmt.Sprintf("%scalls %d", agentName(c.Agent), slot+1)))
	}
}

// agentName begins the names of a sub-agent's threads.
func agentName(agent string) string {
	if agent == "" {
		return ""
	}
	return agent + " "
}

func callEnd(c check.Call) int64 { return max(c.Emitted, c.Ended).Microseconds() }

func (p *perfetto) call(c check.Call, tid int) {
	ready, started, ended := c.Ready.Microseconds(), c.Started.Microseconds(), c.Ended.Microseconds()
	p.slice(tid, c.Tool, "call", ready, callEnd(c), map[string]any{
		"id": c.ID, "turn": c.Turn, "batch": c.Batch, "status": c.Status, "safe": c.Safe, "waits_for": c.WaitsFor, "on": c.On,
	})
	if started > ready {
		p.slice(tid, "queued "+c.WaitsFor, "queued", ready, started, nil)
	}
	p.slice(tid, "running", "running", started, ended, nil)
	if callEnd(c) > ended {
		p.slice(tid, "held", "held", ended, callEnd(c), nil)
	}
	p.flow++
	p.add(traceEvent{Name: "block", Phase: "s", Cat: "flow", TID: p.thread(agentName(c.Agent) + "stream"), TS: ready, ID: p.flow})
	p.add(traceEvent{Name: "block", Phase: "f", Bind: "e", Cat: "flow", TID: tid, TS: started, ID: p.flow})
}

// event marks hooks, permissions, interrupts and what happens to the world.
func (p *perfetto) event(e trace.Event) {
	thread := ""
	switch e.Kind() {
	case trace.KindHook:
		thread = "hooks"
	case trace.KindDecision, trace.KindAsk:
		thread = "permissions"
	case trace.KindInterrupt, trace.KindKilled, trace.KindCancel, trace.KindFallback, trace.KindNotice:
		thread = "events"
	default:
		return
	}
	p.add(traceEvent{Name: string(e.Kind()), Phase: "i", Scope: "t", Cat: thread, TID: p.thread(thread), TS: e.At.Microseconds(),
		Args: map[string]any{"call": e.Call, "tool": e.Tool, "text": clipped(p.finder.Text(eventText(e), nil), maxViewEvent)}})
}
