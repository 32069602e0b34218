package generate

import (
	"fmt"
	"strings"
	"time"

	"toolbench/property/des"
)

// expect says what must come of the case, as a log tells it.
func (w *schedulerWriter) expect(c *des.Case, log *des.Log) {
	if log == nil {
		w.Line(0, "expect: {}")
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

// emitted are the times of the calls whose results left.
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
