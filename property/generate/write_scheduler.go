package generate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolbench/property/des"
)

// SchedulerScenario writes a case as a scenario's file: the same world, tools, hooks, people and faults, one to one.
// Name and about head it. Expect is a log of what must come of it; nil expects nothing. What the file format cannot
// express (that the conversation is stopped from outside) is left out.
func SchedulerScenario(c *des.Case, name, about string, expect *des.Log) string {
	w := &schedulerWriter{}
	w.keys(0, "name", name, "about", about, "tags", []string{"faults"})
	w.world(c)
	w.user(schedulerPermits(c), nil, c.Interrupts)
	w.stream(c)
	w.list(0, "hooks", schedulerHooks(c))
	w.list(0, "faults", faultLines(append(callFaults(c), c.Faults...)))
	w.keys(0, "policy", c.Policy)
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

type schedulerWriter struct{ writer }

func (w *schedulerWriter) world(c *des.Case) {
	capacity := 0
	if c.Disk == "full" {
		capacity = 1
	}
	allow, ask, tools := []string{}, []string{}, []string(nil)
	eachCall(c, func(k *des.Call) {
		switch {
		case k.Failure == des.Unknown:
			return
		case k.Ask != nil:
			ask = append(ask, des.ToolName(k))
		default:
			allow = append(allow, des.ToolName(k))
		}
		tools = append(tools, schedulerTool(k))
	})
	w.line(0, "world:")
	w.line(1, "only: []")
	w.keys(1, "settings", flow(fmt.Sprintf(`{CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: "%d"}`, c.Limit)),
		"capacity", capacity, "read_only", c.Disk == "read-only", "retries", c.Retries, "stream_idle", c.Idle,
		"permissions", flow(mapping("allow", allow, "ask", ask)))
	w.list(1, "tools", tools)
}

func schedulerTool(k *des.Call) string {
	interrupt, alone, answer, env := "block", "", "", flow("")
	if k.Cancel {
		interrupt = "cancel"
	}
	if slices.ContainsFunc(k.Hooks, func(h des.Hook) bool { return h.Action == des.MakeExclusive }) {
		alone = "alone"
	}
	if k.Chars > 0 {
		answer = "x"
	}
	if k.Modifies {
		env = flow(fmt.Sprintf("{LOG: \"$old %s\"}", k.ID))
	}
	return mapping("name", des.ToolName(k), "safe", k.Safe, "exclusive_if", alone, "interrupt", interrupt,
		"failed", k.Failure == des.Failed, "stops_siblings", k.StopsSiblings, "answer", answer, "repeat", k.Chars,
		"reads", k.Reads, "writes", k.Writes, "timeout", k.Limit, "set_env", env)
}

func schedulerPermits(c *des.Case) (permits []string) {
	eachCall(c, func(k *des.Call) {
		if a := k.Ask; a != nil && k.Failure != des.Unknown {
			for range 1 + len(c.Faults) { // the question comes again when a stream is retried
				permits = append(permits, mapping("call", k.ID, "allow", flow(fmt.Sprint(a.Allow)), "after", a.After, "never", a.Never, "deaf", a.IgnoresCancel))
			}
		}
	})
	return permits
}

func (w *schedulerWriter) stream(c *des.Case) {
	w.line(0, "stream:")
	w.line(1, "turns:")
	for i := range c.Turns {
		w.turn(&c.Turns[i])
	}
	// Whatever is asked beyond the script has an answer.
	w.line(2, "- {text: Done., repeat: %d}", len(c.Interrupts)+len(c.Faults)+1)
	var durations []string
	eachCall(c, func(k *des.Call) { durations = append(durations, members([]any{k.ID, k.For})...) })
	w.keys(0, "durations", inBraces(durations))
}

func (w *schedulerWriter) turn(t *des.Turn) {
	if len(t.Calls) == 0 {
		w.line(2, "- %s", mapping("text", "Done.", "end", t.End))
		return
	}
	w.line(2, "- calls:")
	for i := range t.Calls {
		k := &t.Calls[i]
		raw := ""
		if k.Failure == des.NotJSON {
			raw = "[1,"
		}
		w.line(4, "- %s", mapping("id", k.ID, "tool", des.ToolName(k), "at", k.At, "raw", raw))
	}
	w.keys(3, "end", t.End)
}

func schedulerHooks(c *des.Case) (items []string) {
	eachCall(c, func(k *des.Call) {
		for i, h := range k.Hooks {
			decision, fails, input := "", h.Action, flow("")
			switch h.Action {
			case des.Deny, des.Allow:
				decision, fails = h.Action, ""
			case des.Stop:
				fails = ""
			case des.MakeExclusive:
				input, fails = "{alone: true}", ""
			}
			items = append(items, mapping("name", des.HookName(k.ID, i), "event", "PreToolUse", "matcher", des.ToolName(k),
				"after", h.After, "timeout", h.Timeout, "decision", decision, "stop", h.Action == des.Stop, "input", input, "fails", fails))
		}
	})
	return items
}

// callFaults are what goes wrong with the calls.
func callFaults(c *des.Case) (all []des.Fault) {
	eachCall(c, func(k *des.Call) {
		at := func(is bool, what, arg string, d time.Duration) {
			if is {
				all = append(all, des.Fault{What: what, Arg: arg, Call: k.ID, For: d})
			}
		}
		at(k.Failure == des.Error, "error", "it broke", 0)
		at(k.Failure == des.Panic, "panic", "", 0)
		at(k.Failure == des.Hang, "hang", "", 0)
		at(k.IgnoresCancel, "deaf", "", 0)
		at(k.Empty, "empty", "", 0)
		at(k.LateProgress > 0, "progress", "", k.LateProgress)
	})
	return all
}

// expect writes what a log holds as what the scenario expects: of the calls whose results
// left, when they started, ended and left, and how they ended.
func (w *schedulerWriter) expect(c *des.Case, log *des.Log) {
	if log == nil {
		return
	}
	times := map[des.Kind]map[int16]time.Duration{des.Started: {}, des.Ended: {}, des.Emitted: {}}
	status := map[int16]des.Status{}
	order := []string{}
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
	var results []string
	left := map[des.Kind][]string{}
	for n := range int16(c.Calls()) {
		s, ok := status[n]
		if !ok {
			continue
		}
		id := c.Call(int(n)).ID
		results = append(results, id+": "+s.String())
		for kind, m := range times {
			if at, ok := m[n]; ok {
				left[kind] = append(left[kind], id+": "+at.String())
			}
		}
	}
	end := log.Entries[len(log.Entries)-1]
	outcome, running := "", ""
	if end.Code != 0 {
		outcome = "turn"
	}
	if c.Calls() > 0 {
		running = fmt.Sprintf("<= %d", c.Limit)
	}
	w.line(0, "expect:")
	w.keys(1, "outcome", outcome, "max_running", running, "calls", flow(strconv.Itoa(len(order))), "order", flow(text(order)),
		"starts", inBraces(left[des.Started]), "ends", inBraces(left[des.Ended]), "emits", inBraces(left[des.Emitted]),
		"results", inBraces(results), "makespan", flow(end.At.String()))
}
