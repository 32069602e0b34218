package reports_test

import (
	"fmt"
	"testing"
	"time"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

func TestEachReportLooksAsRecorded(t *testing.T) {
	o := reports.Options{OmitTook: true}
	golden(t, "run.json", written(t, reports.JSON, all(), o))
	golden(t, "junit.xml", written(t, reports.JUnit, all(), o))
	golden(t, "markdown", written(t, reports.Markdown, all(), o))
	golden(t, "annotations", written(t, reports.Annotations, all(), o))
	golden(t, "table.color", written(t, reports.Table, all(), reports.Options{Width: 100, Color: true}))
	golden(t, "table.ascii", written(t, reports.Table, all(), reports.Options{Width: 100, ASCII: true}))
	for _, width := range []int{0, 120, 100, 80, 60, 40} {
		golden(t, fmt.Sprint("table.", width), written(t, reports.Table, all(), reports.Options{Width: width}))
	}
	for _, width := range []int{80, 60} {
		golden(t, fmt.Sprint("table.groups.", width), written(t, reports.Table, many(), reports.Options{Width: width, Grouped: true}))
	}
}

func TestHostileTextLooksAsRecorded(t *testing.T) {
	for _, f := range reports.Formats() {
		if f.Name == "html" { // compressed, which is no text to compare; its own tests open it
			continue
		}
		golden(t, "hostile."+f.Name, written(t, f.Write, []check.Result{hostile()}, reports.Options{Width: 100, OmitTook: true}))
	}
	golden(t, "hostile.annotations", written(t, reports.Annotations, []check.Result{hostile()}, reports.Options{}))
	golden(t, "hostile.timeline", timeline(t, hostile(), reports.Options{Width: 100}))
}

func TestTimelinesLookAsRecorded(t *testing.T) {
	golden(t, "timeline.hiding", timeline(t, hiding(), reports.Options{Width: 100}))
	golden(t, "timeline.barrier", timeline(t, barrier(), reports.Options{Width: 100}))
	golden(t, "timeline.barrier.60", timeline(t, barrier(), reports.Options{Width: 60}))
	golden(t, "timeline.barrier.40", timeline(t, barrier(), reports.Options{Width: 40}))
	golden(t, "timeline.ascii", timeline(t, barrier(), reports.Options{Width: 80, ASCII: true}))
	golden(t, "timeline.color", timeline(t, barrier(), reports.Options{Width: 80, Color: true}))
	golden(t, "timeline.crowd", timeline(t, crowd(200), reports.Options{Width: 100}))
	golden(t, "timeline.agents", timeline(t, agents(), reports.Options{Width: 100}))
	golden(t, "timeline.instant", timeline(t, instant(), reports.Options{Width: 80}))
	golden(t, "timeline.error", timeline(t, broken(), reports.Options{Width: 80}))
}

// instant takes no time at all.
func instant() check.Result {
	return check.Result{Name: "instant", Status: check.Passed, Policy: "serial",
		Calls: []check.Call{{ID: "a", Tool: "Read", Turn: 1, Status: "ok"}}, Streams: []check.Stream{{Turn: 1}}}
}

// agents has a sub-agent's turns within a call.
func agents() check.Result {
	o := hiding()
	o.Name, o.Makespan = "sub-agent", 2*time.Minute
	o.Calls[0].Tool, o.Calls[0].Ended, o.Calls[0].Emitted = "Agent", 2*time.Minute, 2*time.Minute
	o.Streams = append(o.Streams, check.Stream{Agent: "agent-1", Turn: 1, Sent: 3 * sec, First: 10 * sec, End: 60 * sec})
	o.Calls = append(o.Calls, check.Call{ID: "sub_1", Tool: "WebFetch", Agent: "agent-1", Turn: 1, Batch: 1, Status: "ok",
		Ready: 30 * sec, Started: 30 * sec, Ended: 90 * sec, Emitted: 90 * sec})
	return o
}
