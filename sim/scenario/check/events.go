package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/trace"
)

// events checks single trace events: some in order, some never.
func (j *checker) events() {
	from := 0
	for i, want := range j.e.Trace {
		at := slices.IndexFunc(j.rec.Events[from:], func(e trace.Event) bool { return Matches(want, e) })
		if at < 0 {
			j.fail(fmt.Sprintf("trace.%d", i), Wording(want), "no such event"+j.nearest(want))
			return
		}
		from += at + 1
	}
	for i, never := range j.e.Never {
		if at := slices.IndexFunc(j.rec.Events, func(e trace.Event) bool { return Matches(never, e) }); at >= 0 {
			j.fail(fmt.Sprintf("never.%d", i), "never "+Wording(never), string(j.rec.Events[at].AppendLine(nil)))
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
	for _, part := range []struct{ name, value string }{{"agent=", w.Agent}, {"call=", w.Call}, {"tool=", w.Tool}, {"at ", w.At.String()}} {
		if part.value != "" {
			parts = append(parts, part.name+part.value)
		}
	}
	for _, k := range sorted(w.Has) {
		parts = append(parts, k+"~"+strconv.Quote(w.Has[k]))
	}
	return strings.Join(parts, " ")
}
