package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario/check"
)

// span is one phase of a lane.
type span struct {
	from, to time.Duration
	kind     cellKind
}

// lane is one line of a timeline.
type lane struct {
	label string
	// took and note stand beside the lane, in its paint.
	took  time.Duration
	note  string
	paint Paint
	spans []span
	// mark is drawn in the cell after its moment, if it is of any kind.
	mark   cellKind
	markAt time.Duration
}

// lanesOf gives each stream's lane with the lanes of its calls below, in the order
// in which the requests left; calls that belong to no stream come last.
func lanesOf(outcome check.Result) []lane {
	var lanes []lane
	placed := make([]bool, len(outcome.Calls))
	for _, s := range inOrder(outcome.Streams) {
		lanes = append(lanes, streamLane(s))
		for i, c := range outcome.Calls {
			if !placed[i] && c.Agent == s.Agent && c.Turn == s.Turn {
				placed[i] = true
				lanes = append(lanes, callLane(i, c, s))
			}
		}
	}
	for i, c := range outcome.Calls {
		if !placed[i] {
			lanes = append(lanes, callLane(i, c, check.Stream{}))
		}
	}
	return lanes
}

func inOrder(streams []check.Stream) []check.Stream {
	return slices.SortedStableFunc(slices.Values(streams), func(a, b check.Stream) int { return cmp.Compare(a.Sent, b.Sent) })
}

func streamLane(s check.Stream) lane {
	l := lane{
		label: fmt.Sprintf("turn %d", s.Turn),
		took:  s.End - s.Sent,
		spans: []span{{s.Sent, s.First, cellSent}, {s.First, s.End, cellStream}},
	}
	if s.Agent != "" {
		l.label = Safe(s.Agent) + " " + l.label
	}
	if s.Cut {
		l.mark, l.markAt, l.note, l.paint = cellCut, s.End, "cut", Red
	}
	return l
}

// callLane splits the running time at the end of the call's own stream: what runs
// beside the stream is hidden. A stream without times hides nothing.
func callLane(i int, c check.Call, s check.Stream) lane {
	hidden := min(max(s.End, c.Started), c.Ended)
	l := lane{
		label: fmt.Sprintf(" #%d %s", i+1, Safe(c.Tool)),
		took:  c.Ended - c.Started,
		spans: []span{{c.Ready, c.Started, cellQueued}, {c.Ended, c.Emitted, cellHeld}},
		mark:  cellEmitted, markAt: c.Emitted,
	}
	if hidden > c.Started {
		l.spans = append(l.spans, span{c.Started, hidden, cellHidden})
	}
	if hidden < c.Ended || hidden == c.Started {
		l.spans = append(l.spans, span{hidden, c.Ended, cellRunning})
	}
	if c.Status != "" && c.Status != "ok" {
		l.note, l.paint = Safe(c.Status), Red
	}
	return l
}

func (l lane) noteText(o Options) string {
	text := o.short(l.took)
	if l.note != "" {
		text += " " + l.note
	}
	return text
}

// cellKind is what a cell of a timeline shows.
type cellKind uint8

const (
	cellNone cellKind = iota
	cellSent
	cellStream
	cellCut
	cellQueued
	cellHidden
	cellRunning
	cellHeld
	cellEmitted
	cellCount
)

// always reports whether a phase is drawn even when it takes no time.
func (i cellKind) always() bool { return i == cellHidden || i == cellRunning || i == cellStream }

// cellWords are the legend.
var cellWords = [cellCount]string{
	cellSent: "request sent", cellStream: "streaming", cellCut: "cut", cellQueued: "queued",
	cellHidden: "running, hidden by the stream", cellRunning: "running", cellHeld: "held", cellEmitted: "emitted",
}

var cellPaints = [cellCount]Paint{
	cellSent: Dim, cellStream: Cyan, cellCut: Red, cellQueued: Dim,
	cellHidden: Green, cellRunning: Yellow, cellHeld: Dim, cellEmitted: Bold,
}

type glyphs [cellCount]rune

func glyphsFor(ascii bool) glyphs {
	if ascii {
		return glyphs{' ', '.', '=', 'x', ':', '#', '+', '-', '>'}
	}
	return glyphs{' ', '┈', '━', '×', '·', '█', '▒', '─', '▸'}
}

// layout is how the width is shared: label, cells, note.
type layout struct {
	label, columns, note int
	total                time.Duration
}

func (p *page) layout(lanes []lane, total time.Duration) layout {
	l := layout{total: total}
	for _, lane := range lanes {
		l.label = max(l.label, Width(lane.label))
		l.note = max(l.note, Width(lane.noteText(p.Options)))
	}
	l.label = min(l.label, max(10, p.Width/4))
	l.note = min(l.note, p.Width/5)
	if p.Width < 60 {
		l.note = 0
	}
	l.columns = p.Width - l.label - 1
	if l.note > 0 {
		l.columns -= l.note + 1
	}
	return l
}

// drawable is how many columns are drawn on: the last is kept for the mark of what is emitted at
// the very end.
func (l layout) drawable() int { return l.columns - 1 }

// cell is the column in which a moment lies.
func (l layout) cell(at time.Duration) int { return columnOf(at, l.total, l.drawable()) }

// columnOf scales a moment of a total to columns. Floats are exact enough for
// columns and do not overflow, as nanoseconds times columns would after years.
func columnOf(at, total time.Duration, columns int) int {
	if total <= 0 || at <= 0 {
		return 0
	}
	return int(min(1, float64(at)/float64(total)) * float64(columns))
}

// cells draws the lane. Phases of no length are left out, except running: each
// call ran, or was answered, and shows it in one cell at least.
func (l lane) cells(to layout) []cellKind {
	cells, end := make([]cellKind, to.columns), 0
	for _, s := range l.spans {
		from, till := to.cell(s.from), to.cell(s.to)
		if s.kind.always() {
			from = min(from, to.drawable()-1)
			till = max(till, from+1)
		}
		for i := from; i < till; i++ {
			cells[i] = s.kind
		}
		end = max(end, till)
	}
	if l.mark != cellNone {
		cells[min(max(to.cell(l.markAt), end), to.columns-1)] = l.mark
	}
	return cells
}

// paintedCells draws cells, each run of one kind in its paint.
func (o Options) paintedCells(cells []cellKind) string {
	signs := glyphsFor(o.ASCII)
	var b strings.Builder
	for i := 0; i < len(cells); {
		n := i
		for n < len(cells) && cells[n] == cells[i] {
			n++
		}
		b.WriteString(cellPaints[cells[i]].On(strings.Repeat(string(signs[cells[i]]), n-i), o.Color && cells[i] != cellNone))
		i = n
	}
	return b.String()
}

// legend explains the inks that the lanes use, an item each.
func legend(lanes []lane, signs glyphs) []string {
	var used [cellCount]bool
	for _, l := range lanes {
		used[l.mark] = true
		for _, s := range l.spans {
			used[s.kind] = used[s.kind] || s.to > s.from || s.kind.always()
		}
	}
	var words []string
	for i, word := range cellWords {
		if used[i] && word != "" {
			words = append(words, string(signs[i])+" "+word)
		}
	}
	return words
}
