package check

import (
	"fmt"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// events checks single trace events: some in order, some never.
func (j *checker) events() {
	from := 0
	for i, want := range j.e.Trace {
		at := -1
		for k := from; k < len(j.rec.Events); k++ {
			if Matches(want, j.rec.Events[k]) {
				at = k
				break
			}
		}
		if at < 0 {
			j.fail(fmt.Sprintf("trace.%d", i), Wording(want), "no such event"+j.nearest(want))
			return
		}
		from = at + 1
	}
	for i, never := range j.e.Never {
		for _, e := range j.rec.Events {
			if Matches(never, e) {
				j.fail(fmt.Sprintf("never.%d", i), "never "+Wording(never), string(e.AppendLine(nil)))
				break
			}
		}
	}
}

// nearest shows the events of the same kind, which is where a wrong detail shows.
func (j *checker) nearest(want scenario.EventExpect) string {
	var lines []string
	for _, e := range j.rec.Events {
		if string(e.Kind()) == want.Kind && (want.Call == "" || want.Call == e.Call) {
			lines = append(lines, short(string(e.AppendLine(nil))))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "; of its kind:\n" + strings.Join(lines[:min(len(lines), 5)], "\n")
}

// Matches reports whether an event is the one that is described.
func Matches(w scenario.EventExpect, e trace.Event) bool {
	if w.Kind != "" && string(e.Kind()) != w.Kind || w.Call != "" && e.Call != w.Call || w.Tool != "" && e.Tool != w.Tool ||
		w.Agent != "" && e.Agent != w.Agent || w.At.Set() && !w.At.HoldsAt(e.At) {
		return false
	}
	for k, v := range w.Has {
		if !strings.Contains(e.Get(k), v) {
			return false
		}
	}
	return true
}

// Wording is an expected event in words.
func Wording(w scenario.EventExpect) string {
	parts := []string{w.Kind}
	if w.Agent != "" {
		parts = append(parts, "agent="+w.Agent)
	}
	if w.Call != "" {
		parts = append(parts, "call="+w.Call)
	}
	if w.Tool != "" {
		parts = append(parts, "tool="+w.Tool)
	}
	if w.At.Set() {
		parts = append(parts, "at "+w.At.String())
	}
	for _, k := range sorted(w.Has) {
		parts = append(parts, k+"~"+quoted(w.Has[k]))
	}
	return strings.Join(parts, " ")
}
