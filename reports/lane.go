package reports

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
)

// span is one phase of a lane.
type span struct {
	from, to time.Duration
	ink      ink
}

// lane is one line of a timeline.
type lane struct {
	label string
	// took and note are told beside the lane; trouble paints it.
	took    time.Duration
	note    string
	trouble bool
	spans   []span
	// mark is drawn in the cell after its moment, if it is any ink.
	mark   ink
	markAt time.Duration
}

// lanesOf gives each stream's lane with the lanes of its calls below, in the order
// in which the requests left; calls that belong to no stream come last.
func lanesOf(outcome scenario.Outcome) []lane {
	var lanes []lane
	drawn := make([]bool, len(outcome.Calls))
	for _, s := range inOrder(outcome.Streams) {
		lanes = append(lanes, streamLane(s))
		for i, c := range outcome.Calls {
			if !drawn[i] && c.Agent == s.Agent && c.Turn == s.Turn {
				drawn[i] = true
				lanes = append(lanes, callLane(i, c, s))
			}
		}
	}
	for i, c := range outcome.Calls {
		if !drawn[i] {
			lanes = append(lanes, callLane(i, c, scenario.Stream{}))
		}
	}
	return lanes
}

func inOrder(streams []scenario.Stream) []scenario.Stream {
	return slices.SortedStableFunc(slices.Values(streams), func(a, b scenario.Stream) int {
		return cmp.Compare(a.Sent, b.Sent)
	})
}

func streamLane(s scenario.Stream) lane {
	l := lane{
		label: fmt.Sprintf("turn %d", s.Turn),
		took:  s.End - s.Sent,
		spans: []span{{s.Sent, s.First, inkSent}, {s.First, s.End, inkStream}},
	}
	if s.Agent != "" {
		l.label = screen.Safe(s.Agent) + " " + l.label
	}
	if s.Cut {
		l.mark, l.markAt, l.note, l.trouble = inkCut, s.End, "cut", true
	}
	return l
}

// callLane splits the running time at the end of the call's own stream: what runs
// beside the stream is hidden. A stream without times hides nothing.
func callLane(i int, c scenario.Call, s scenario.Stream) lane {
	hidden := min(max(s.End, c.Started), c.Ended)
	l := lane{
		label: fmt.Sprintf(" #%d %s", i+1, screen.Safe(c.Tool)),
		took:  c.Ended - c.Started,
		spans: []span{{c.Ready, c.Started, inkQueued}, {c.Ended, c.Emitted, inkHeld}},
		mark:  inkEmitted, markAt: c.Emitted,
	}
	if hidden > c.Started {
		l.spans = append(l.spans, span{c.Started, hidden, inkHidden})
	}
	if hidden < c.Ended || hidden == c.Started {
		l.spans = append(l.spans, span{hidden, c.Ended, inkRunning})
	}
	if c.Status != "" && c.Status != "ok" {
		l.note, l.trouble = screen.Safe(c.Status), true
	}
	return l
}

func (l lane) noteText(ascii bool) string {
	text := short(l.took, ascii)
	if l.note != "" {
		text += " " + l.note
	}
	return text
}

func (l lane) paint() screen.Paint {
	if l.trouble {
		return screen.Red
	}
	return screen.Plain
}
