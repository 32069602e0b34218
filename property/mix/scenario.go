package mix

import (
	"fmt"
	"strings"

	"toolbench/sim/des"
	"toolbench/sim/fault"
)

// Scenario writes a case as a scenario's file: the same world, tools, hooks, people
// and faults, one to one. Name and about head it. Expect is a log of what must come
// of it; nil expects nothing. What the file format cannot say (that the conversation
// is stopped from outside) is left out.
func Scenario(c *des.Case, name, about string, expect *des.Log) string {
	w := &writer{}
	w.line(0, "name: %s", name)
	w.line(0, "about: %s", about)
	w.line(0, "tags: [faults]")
	w.world(c)
	w.people(c)
	w.stream(c)
	w.hooks(c)
	w.faults(c)
	w.line(0, "policy: %s", c.Policy)
	w.expect(c, expect)
	return w.String()
}

// calls walks over all calls.
func calls(c *des.Case, f func(*des.Call)) {
	for t := range c.Turns {
		for i := range c.Turns[t].Calls {
			f(&c.Turns[t].Calls[i])
		}
	}
}

type writer struct{ strings.Builder }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
}

// list writes a key with lines below it, or nothing if there are none.
func (w *writer) list(indent int, key string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.line(indent, "%s:", key)
	for _, l := range lines {
		w.line(indent+1, "- %s", l)
	}
}

func (w *writer) world(c *des.Case) {
	w.line(0, "world:")
	w.line(1, "only: []")
	w.line(1, `settings: {CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: "%d"}`, c.Limit)
	switch c.Disk {
	case "full":
		w.line(1, "capacity: 1")
	case "read-only":
		w.line(1, "read_only: true")
	}
	if c.Retries > 0 {
		w.line(1, "retries: %d", c.Retries)
	}
	if c.Idle > 0 {
		w.line(1, "stream_idle: %s", c.Idle)
	}
	var allow, ask, tools []string
	calls(c, func(k *des.Call) {
		if k.Goes == des.Unknown {
			return
		}
		tools = append(tools, toolLine(k))
		if k.Ask != nil {
			ask = append(ask, des.ToolName(k))
		} else {
			allow = append(allow, des.ToolName(k))
		}
	})
	w.line(1, "permissions: {allow: [%s], ask: [%s]}", strings.Join(allow, ", "), strings.Join(ask, ", "))
	w.list(1, "tools", tools)
}

func toolLine(k *des.Call) string {
	m := members{"name: " + des.ToolName(k)}
	m.add(k.Safe, "safe: true")
	for _, h := range k.Hooks {
		if h.Does == des.Alone {
			m.add(true, "exclusive_if: alone")
			break
		}
	}
	if k.Cancel {
		m.add(true, "interrupt: cancel")
	} else {
		m.add(true, "interrupt: block")
	}
	m.add(k.Goes == des.Failed, "failed: true")
	m.add(k.Stops, "stops_siblings: true")
	m.add(k.Chars > 0, fmt.Sprintf("answer: x, repeat: %d", k.Chars))
	m.add(len(k.Reads) > 0, "reads: ["+strings.Join(k.Reads, ", ")+"]")
	m.add(len(k.Writes) > 0, "writes: ["+strings.Join(k.Writes, ", ")+"]")
	m.add(k.Limit > 0, "timeout: "+k.Limit.String())
	m.add(k.Modifies, fmt.Sprintf("set_env: {LOG: \"$old %s\"}", k.ID))
	return m.String()
}

// members are those of a mapping on one line.
type members []string

func (m *members) add(is bool, text string) {
	if is {
		*m = append(*m, text)
	}
}

func (m members) String() string { return "{" + strings.Join(m, ", ") + "}" }

func (w *writer) people(c *des.Case) {
	var permits, says []string
	again := 1 + len(c.Faults)
	calls(c, func(k *des.Call) {
		if a := k.Ask; a != nil && k.Goes != des.Unknown {
			m := members{"call: " + k.ID, fmt.Sprintf("allow: %t", a.Allow)}
			m.add(a.After > 0, "after: "+a.After.String())
			m.add(a.Never, "never: true")
			m.add(a.Deaf, "deaf: true")
			for range again { // the question comes again when a stream is retried
				permits = append(permits, m.String())
			}
		}
	})
	for i, at := range c.Says {
		says = append(says, fmt.Sprintf("{at: %s, text: Message %d.}", at, i+1))
	}
	if len(permits)+len(says) > 0 {
		w.line(0, "user:")
		w.list(1, "permits", permits)
		w.list(1, "says", says)
	}
}

func (w *writer) stream(c *des.Case) {
	w.line(0, "stream:")
	w.line(1, "turns:")
	for t := range c.Turns {
		w.turn(&c.Turns[t])
	}
	// Whatever is asked beyond the script has an answer.
	w.line(2, "- {text: Done., repeat: %d}", len(c.Says)+len(c.Faults)+1)
	var lines []string
	calls(c, func(k *des.Call) {
		if k.For > 0 {
			lines = append(lines, k.ID+": "+k.For.String())
		}
	})
	if len(lines) > 0 {
		w.line(0, "durations: {%s}", strings.Join(lines, ", "))
	}
}

func (w *writer) turn(t *des.Turn) {
	end := ""
	if t.End > 0 {
		end = ", end: " + t.End.String()
	}
	if len(t.Calls) == 0 {
		w.line(2, "- {text: Done.%s}", end)
		return
	}
	w.line(2, "- calls:")
	for i := range t.Calls {
		k := &t.Calls[i]
		m := members{"id: " + k.ID, "tool: " + des.ToolName(k), "at: " + k.At.String()}
		m.add(k.Goes == des.Rubbish, `raw: "[1,"`)
		w.line(4, "- %s", m)
	}
	if t.End > 0 {
		w.line(3, "end: %s", t.End)
	}
}

func (w *writer) hooks(c *des.Case) {
	var lines []string
	calls(c, func(k *des.Call) {
		for i, h := range k.Hooks {
			m := members{"name: " + des.HookName(k.ID, i), "event: PreToolUse", "matcher: " + des.ToolName(k)}
			m.add(h.After > 0, "after: "+h.After.String())
			m.add(h.Timeout > 0, "timeout: "+h.Timeout.String())
			switch h.Does {
			case des.Deny, des.Allow:
				m.add(true, "decision: "+h.Does)
			case des.Stop:
				m.add(true, "stop: true")
			case des.Alone:
				m.add(true, "input: {alone: true}")
			case "":
			default:
				m.add(true, "fails: "+h.Does)
			}
			lines = append(lines, m.String())
		}
	})
	w.list(0, "hooks", lines)
}

func (w *writer) faults(c *des.Case) {
	var lines []string
	calls(c, func(k *des.Call) {
		m := members{"call: " + k.ID}
		m.add(k.Goes == des.Error, "error: it broke")
		m.add(k.Goes == des.Panic, "panic: boom")
		m.add(k.Goes == des.Hang, "hang: true")
		m.add(k.Deaf, "deaf: true")
		if len(m) > 1 {
			lines = append(lines, m.String())
		}
		if k.Empty {
			lines = append(lines, fault.Fault{What: "empty", Call: k.ID}.String())
		}
		if k.Late > 0 {
			lines = append(lines, fault.Fault{What: "progress", Call: k.ID, For: k.Late}.String())
		}
	})
	for _, f := range c.Faults {
		lines = append(lines, requestFault(f))
	}
	w.list(0, "faults", lines)
}

func requestFault(f des.Fault) string {
	m := members{fmt.Sprintf("request: %d", f.Request)}
	m.add(f.Status > 0, fmt.Sprintf("status: %d", f.Status))
	m.add(f.Cut > 0, fmt.Sprintf("cut_after: %d", f.Cut))
	m.add(f.Error != "", "stream_error: "+f.Error)
	m.add(f.Malformed > 0, fmt.Sprintf("malformed: %d", f.Malformed))
	m.add(f.Stall > 0, fmt.Sprintf("stall_after: %d", f.Stall))
	m.add(f.For > 0, "stall: "+f.For.String())
	return m.String()
}
