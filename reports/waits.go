package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
)

// wait is a run of neighbouring calls that waited for the same.
type wait struct {
	first, last     int
	shortest, worst time.Duration
	what            string
	safe            bool
	on              []string
}

// waits says what queued calls waited for, a line for neighbours that waited for
// the same: 200 calls behind one edit are one line.
func waits(outcome scenario.Outcome, o Options) []string {
	number := map[string]int{}
	for i, c := range outcome.Calls {
		number[c.ID] = i + 1
	}
	var lines []string
	for _, group := range waiting(outcome.Calls) {
		lines = append(lines, group.line(number, outcome.Calls, o))
	}
	return lines
}

func waiting(calls []scenario.Call) []wait {
	var groups []wait
	for i, c := range calls {
		if c.WaitsFor == "" {
			continue
		}
		took := c.Started - c.Ready
		if last := len(groups) - 1; last >= 0 && groups[last].joins(i, c) {
			g := &groups[last]
			g.last, g.shortest, g.worst = i, min(g.shortest, took), max(g.worst, took)
			continue
		}
		groups = append(groups, wait{i, i, took, took, c.WaitsFor, c.Safe, c.On})
	}
	return groups
}

func (g wait) joins(i int, c scenario.Call) bool {
	return g.last == i-1 && g.what == c.WaitsFor && g.safe == c.Safe && slices.Equal(g.on, c.On)
}

func (g wait) line(number map[string]int, calls []scenario.Call, o Options) string {
	who := fmt.Sprintf("#%d waited", g.first+1)
	if g.last > g.first {
		who = fmt.Sprintf("#%d to #%d waited", g.first+1, g.last+1)
	}
	took := short(g.shortest, o.ASCII)
	if longer := short(g.worst, o.ASCII); longer != took {
		took += " to " + longer
	}
	return fmt.Sprintf("%s %s %s", who, took, g.reason(named(g.on, number, calls)))
}

// reason words what the calls waited for; on names the calls in their way.
func (g wait) reason(on string) string {
	after := ""
	if on != "" {
		after = ": after " + on
	}
	switch {
	case g.what == "stream":
		return "for the stream to end"
	case g.what == "exclusive" && g.safe:
		return "for an exclusive call" + after
	case g.what == "exclusive":
		return "to run alone" + after
	case g.what == "limit":
		return "for a free place" + after
	case g.what == "effects":
		return "for what it reads or writes" + after
	case g.what == "order":
		return "for its turn" + after
	}
	return "for " + screen.Safe(g.what) + after
}

// named are the first calls of a list by number and tool.
func named(ids []string, number map[string]int, calls []scenario.Call) string {
	const most = 4
	var words []string
	for _, id := range ids[:min(len(ids), most)] {
		if n := number[id]; n > 0 {
			words = append(words, fmt.Sprintf("#%d %s", n, screen.Safe(calls[n-1].Tool)))
		} else {
			words = append(words, screen.Safe(id))
		}
	}
	text := strings.Join(words, ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
