package generate

import (
	"fmt"
	"strings"
	"time"

	"toolbench/property/des"
	"toolbench/sim/fault"
)

// SchedulerScenario writes a case as a scenario's file: the same world, tools, hooks, people
// and faults, one to one. Name and about head it. Expect is a log of what must come
// of it; nil expects nothing. What the file format cannot express (that the conversation
// is stopped from outside) is left out.
func SchedulerScenario(c *des.Case, name, about string, expect *des.Log) string {
	w := &schedulerWriter{}
	w.Line(0, "name: %s", name)
	w.Line(0, "about: %s", about)
	w.Line(0, "tags: [faults]")
	w.world(c)
	w.people(c)
	w.stream(c)
	w.hooks(c)
	w.faults(c)
	w.Line(0, "policy: %s", c.Policy)
	w.expect(c, expect)
	return w.String()
}

// eachCall walks over all calls.
func eachCall(c *des.Case, f func(*des.Call)) {
	for t := range c.Turns {
		for i := range c.Turns[t].Calls {
			f(&c.Turns[t].Calls[i])
		}
	}
}

type schedulerWriter struct{ Writer }

func (w *schedulerWriter) world(c *des.Case) {
	w.Line(0, "world:")
	w.Line(1, "only: []")
	w.Line(1, `settings: {CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: "%d"}`, c.Limit)
	switch c.Disk {
	case "full":
		w.Line(1, "capacity: 1")
	case "read-only":
		w.Line(1, "read_only: true")
	}
	if c.Retries > 0 {
		w.Line(1, "retries: %d", c.Retries)
	}
	if c.Idle > 0 {
		w.Line(1, "stream_idle: %s", c.Idle)
	}
	var allow, ask, tools []string
	eachCall(c, func(k *des.Call) {
		if k.Failure == des.Unknown {
			return
		}
		tools = append(tools, schedulerToolLine(k))
		if k.Ask != nil {
			ask = append(ask, des.ToolName(k))
		} else {
			allow = append(allow, des.ToolName(k))
		}
	})
	w.Line(1, "permissions: {allow: [%s], ask: [%s]}", strings.Join(allow, ", "), strings.Join(ask, ", "))
	w.List(1, "tools", tools)
}

func schedulerToolLine(k *des.Call) string {
	m := Members{"name: " + des.ToolName(k)}
	m.Add(k.Safe, "safe: true")
	for _, h := range k.Hooks {
		if h.Action == des.MakeExclusive {
			m.Add(true, "exclusive_if: alone")
			break
		}
	}
	if k.Cancel {
		m.Add(true, "interrupt: cancel")
	} else {
		m.Add(true, "interrupt: block")
	}
	m.Add(k.Failure == des.Failed, "failed: true")
	m.Add(k.StopsSiblings, "stops_siblings: true")
	m.Add(k.Chars > 0, "answer: x, repeat: %d", k.Chars)
	m.Add(len(k.Reads) > 0, "reads: [%s]", strings.Join(k.Reads, ", "))
	m.Add(len(k.Writes) > 0, "writes: [%s]", strings.Join(k.Writes, ", "))
	m.Add(k.Limit > 0, "timeout: %s", k.Limit)
	m.Add(k.Modifies, "set_env: {LOG: \"$old %s\"}", k.ID)
	return m.String()
}

func (w *schedulerWriter) people(c *des.Case) {
	var permits, interrupts []string
	again := 1 + len(c.Faults)
	eachCall(c, func(k *des.Call) {
		if a := k.Ask; a != nil && k.Failure != des.Unknown {
			m := Members{"call: " + k.ID, fmt.Sprintf("allow: %t", a.Allow)}
			m.Add(a.After > 0, "after: %s", a.After)
			m.Add(a.Never, "never: true")
			m.Add(a.IgnoresCancel, "deaf: true")
			for range again { // the question comes again when a stream is retried
				permits = append(permits, m.String())
			}
		}
	})
	for i, at := range c.Interrupts {
		interrupts = append(interrupts, fmt.Sprintf("{at: %s, text: Message %d.}", at, i+1))
	}
	if len(permits)+len(interrupts) > 0 {
		w.Line(0, "user:")
		w.List(1, "permits", permits)
		w.List(1, "says", interrupts)
	}
}

func (w *schedulerWriter) stream(c *des.Case) {
	w.Line(0, "stream:")
	w.Line(1, "turns:")
	for t := range c.Turns {
		w.turn(&c.Turns[t])
	}
	// Whatever is asked beyond the script has an answer.
	w.Line(2, "- {text: Done., repeat: %d}", len(c.Interrupts)+len(c.Faults)+1)
	var items []string
	eachCall(c, func(k *des.Call) {
		if k.For > 0 {
			items = append(items, k.ID+": "+k.For.String())
		}
	})
	if len(items) > 0 {
		w.Line(0, "durations: {%s}", strings.Join(items, ", "))
	}
}

func (w *schedulerWriter) turn(t *des.Turn) {
	end := ""
	if t.End > 0 {
		end = ", end: " + t.End.String()
	}
	if len(t.Calls) == 0 {
		w.Line(2, "- {text: Done.%s}", end)
		return
	}
	w.Line(2, "- calls:")
	for i := range t.Calls {
		k := &t.Calls[i]
		m := Members{"id: " + k.ID, "tool: " + des.ToolName(k), "at: " + k.At.String()}
		m.Add(k.Failure == des.NotJSON, `raw: "[1,"`)
		w.Line(4, "- %s", m)
	}
	if t.End > 0 {
		w.Line(3, "end: %s", t.End)
	}
}

func (w *schedulerWriter) hooks(c *des.Case) {
	var items []string
	eachCall(c, func(k *des.Call) {
		for i, h := range k.Hooks {
			m := Members{"name: " + des.HookName(k.ID, i), "event: PreToolUse", "matcher: " + des.ToolName(k)}
			m.Add(h.After > 0, "after: %s", h.After)
			m.Add(h.Timeout > 0, "timeout: %s", h.Timeout)
			switch h.Action {
			case des.Deny, des.Allow:
				m.Add(true, "decision: %s", h.Action)
			case des.Stop:
				m.Add(true, "stop: true")
			case des.MakeExclusive:
				m.Add(true, "input: {alone: true}")
			case "":
			default:
				m.Add(true, "fails: %s", h.Action)
			}
			items = append(items, m.String())
		}
	})
	w.List(0, "hooks", items)
}

func (w *schedulerWriter) faults(c *des.Case) {
	var items []string
	eachCall(c, func(k *des.Call) {
		m := Members{"call: " + k.ID}
		m.Add(k.Failure == des.Error, "error: it broke")
		m.Add(k.Failure == des.Panic, "panic: boom")
		m.Add(k.Failure == des.Hang, "hang: true")
		m.Add(k.IgnoresCancel, "deaf: true")
		if len(m) > 1 {
			items = append(items, m.String())
		}
		if k.Empty {
			items = append(items, fault.Fault{What: "empty", Call: k.ID}.String())
		}
		if k.LateProgress > 0 {
			items = append(items, fault.Fault{What: "progress", Call: k.ID, For: k.LateProgress}.String())
		}
	})
	for _, f := range c.Faults {
		items = append(items, requestFault(f))
	}
	w.List(0, "faults", items)
}

func requestFault(f des.Fault) string {
	m := Members{fmt.Sprintf("request: %d", f.Request)}
	m.Add(f.Status > 0, "status: %d", f.Status)
	m.Add(f.Cut > 0, "cut_after: %d", f.Cut)
	m.Add(f.Error != "", "stream_error: %s", f.Error)
	m.Add(f.Malformed > 0, "malformed: %d", f.Malformed)
	m.Add(f.Stall > 0, "stall_after: %d", f.Stall)
	m.Add(f.For > 0, "stall: %s", f.For)
	return m.String()
}

// expect writes what a log holds as what the scenario expects.
func (w *schedulerWriter) expect(c *des.Case, log *des.Log) {
	if log == nil {
		return
	}
	times := map[des.Kind]map[int16]time.Duration{des.Started: {}, des.Ended: {}, des.Emitted: {}}
	status := map[int16]des.Status{}
	var order []string
	for _, e := range log.Entries {
		if e.Kind == des.Ready { // a retried answer brings its calls again
			for _, m := range times {
				delete(m, e.Call)
			}
		}
		if m, ok := times[e.Kind]; ok {
			m[e.Call] = e.At
		}
		if e.Kind == des.Emitted {
			status[e.Call] = des.Status(e.Code)
			order = append(order, c.Call(int(e.Call)).ID)
		}
	}
	w.Line(0, "expect:")
	if end := log.Entries[len(log.Entries)-1]; end.Code != 0 {
		w.Line(1, "outcome: turn")
	}
	if c.Calls() > 0 {
		w.Line(1, `max_running: "<= %d"`, c.Limit)
	}
	w.Line(1, "calls: %d", len(order))
	w.Line(1, "order: [%s]", strings.Join(order, ", "))
	for _, key := range []struct {
		name string
		what des.Kind
	}{{"starts", des.Started}, {"ends", des.Ended}, {"emits", des.Emitted}} {
		if m := emittedTimes(c, status, times[key.what]); len(m) > 0 {
			w.Line(1, "%s: {%s}", key.name, strings.Join(m, ", "))
		}
	}
	w.results(c, status)
	w.Line(1, "makespan: %s", log.Entries[len(log.Entries)-1].At)
}

// emittedTimes are the times of the calls whose results left.
func emittedTimes(c *des.Case, status map[int16]des.Status, times map[int16]time.Duration) []string {
	var items []string
	for n := range c.Calls() {
		_, left := status[int16(n)]
		if at, ok := times[int16(n)]; ok && left {
			items = append(items, fmt.Sprintf("%s: %s", c.Call(n).ID, at))
		}
	}
	return items
}

func (w *schedulerWriter) results(c *des.Case, status map[int16]des.Status) {
	var items []string
	for n := range c.Calls() {
		if s, ok := status[int16(n)]; ok {
			items = append(items, fmt.Sprintf("%s: %s", c.Call(n).ID, s))
		}
	}
	if len(items) > 0 {
		w.Line(1, "results: {%s}", strings.Join(items, ", "))
	}
}
