package reports

import (
	"strings"
	"time"

	"toolbench/reports/screen"
)

// ink is what a cell of a timeline shows.
type ink uint8

const (
	inkNone ink = iota
	inkSent
	inkStream
	inkCut
	inkQueued
	inkHidden
	inkRunning
	inkHeld
	inkEmitted
	inkCount
)

// always tells the phases that are drawn even when they take no time.
func (i ink) always() bool { return i == inkHidden || i == inkRunning || i == inkStream }

// inkWords are the legend.
var inkWords = [inkCount]string{
	inkSent: "request sent", inkStream: "streaming", inkCut: "cut", inkQueued: "queued",
	inkHidden: "running, hidden by the stream", inkRunning: "running", inkHeld: "held", inkEmitted: "emitted",
}

var inkPaints = [inkCount]screen.Paint{
	inkSent: screen.Dim, inkStream: screen.Cyan, inkCut: screen.Red, inkQueued: screen.Dim,
	inkHidden: screen.Green, inkRunning: screen.Yellow, inkHeld: screen.Dim, inkEmitted: screen.Bold,
}

type glyphs [inkCount]rune

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

func layoutOf(lanes []lane, total time.Duration, o Options) layout {
	l := layout{total: total}
	for _, lane := range lanes {
		l.label = max(l.label, screen.Width(lane.label))
		l.note = max(l.note, screen.Width(lane.noteText(o.ASCII)))
	}
	l.label = min(l.label, max(10, o.Width/4))
	l.note = min(l.note, o.Width/5)
	if o.Width < 60 {
		l.note = 0
	}
	l.columns = o.Width - l.label - 1
	if l.note > 0 {
		l.columns -= l.note + 1
	}
	return l
}

// The last column is kept for the mark of what is emitted at the very end.
func (l layout) drawable() int { return l.columns - 1 }

// cell is the column in which a moment lies.
func (l layout) cell(at time.Duration) int {
	return columnOf(at, l.total, l.drawable())
}

// columnOf scales a moment of a total to columns. Floats are exact enough for
// columns and do not overflow, as nanoseconds times columns would after years.
func columnOf(at, total time.Duration, columns int) int {
	if total <= 0 || at <= 0 {
		return 0
	}
	return min(columns, int(float64(at)/float64(total)*float64(columns)))
}

// cells draws the lane. Phases of no length are left out, except running: each
// call ran, or was answered, and shows it in one cell at least.
func (l lane) cells(to layout) []ink {
	cells := make([]ink, to.columns)
	end := 0
	for _, s := range l.spans {
		from, till := to.cell(s.from), to.cell(s.to)
		if s.ink.always() {
			from = min(from, to.drawable()-1)
			till = max(till, from+1)
		}
		for i := from; i < till; i++ {
			cells[i] = s.ink
		}
		end = max(end, till)
	}
	if l.mark != inkNone {
		cells[min(max(to.cell(l.markAt), end), to.columns-1)] = l.mark
	}
	return cells
}

// inked draws cells, each run of one ink in its paint.
func inked(cells []ink, o Options) string {
	signs := glyphsFor(o.ASCII)
	var b strings.Builder
	for i := 0; i < len(cells); {
		n := i
		for n < len(cells) && cells[n] == cells[i] {
			n++
		}
		b.WriteString(inkPaints[cells[i]].On(strings.Repeat(string(signs[cells[i]]), n-i), o.Color && cells[i] != inkNone))
		i = n
	}
	return b.String()
}

// legend explains the inks that the lanes use, an item each.
func legend(lanes []lane, signs glyphs) []string {
	var used [inkCount]bool
	for _, l := range lanes {
		used[l.mark] = true
		for _, s := range l.spans {
			used[s.ink] = used[s.ink] || s.to > s.from || s.ink.always()
		}
	}
	var words []string
	for i, word := range inkWords {
		if used[i] && word != "" {
			words = append(words, string(signs[i])+" "+word)
		}
	}
	return words
}
