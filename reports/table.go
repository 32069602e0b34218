package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/reports/screen"
	"toolbench/sim/scenario/check"
)

// Table writes a row an outcome and a line of totals; below, what failed and why,
// each with the command that shows it again (O8). On a screen too narrow for the
// table it is a list. No line is wider than the screen but a command's: what is
// to be copied is never broken.
func Table(w io.Writer, outcomes []check.Result, o Options) error {
	out := bufio.NewWriter(w)
	if len(outcomes) > 0 {
		drawn, err := grid(outcomes, o).Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	for _, outcome := range outcomes {
		explain(out, outcome, o)
	}
	fmt.Fprintln(out, paintOf(Count(outcomes)).On(Count(outcomes).String(), o.Color))
	return out.Flush()
}

func paintOf(t Totals) screen.Paint {
	if t.Failed+t.Errors > 0 {
		return screen.Red
	}
	return screen.Green
}

func grid(outcomes []check.Result, o Options) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{
		{Title: "Scenario"}, {Title: "Status"}, {Title: "Policy"}, {Title: "Makespan", Right: true},
		{Title: "Serial", Right: true}, {Title: "Hidden", Right: true}, {Title: "Batches", Right: true}, {Title: "Calls", Right: true},
	}}
	for _, outcome := range outcomes {
		g.Rows = append(g.Rows, row(outcome, o))
	}
	if s := sum(outcomes); len(outcomes) > 1 {
		g.Footer = []string{plural(len(outcomes), "scenario", "scenarios"), "", "", short(s.makespan, o.ASCII), short(s.serial, o.ASCII),
			percent(s.hidden()), strconv.Itoa(s.batches), strconv.Itoa(s.calls)}
	}
	return g
}

func row(outcome check.Result, o Options) []string {
	name := screen.Safe(outcome.Name)
	status := verdict(outcome.Status).paint.On(verdict(outcome.Status).word, o.Color)
	if outcome.Status == check.Errored {
		return []string{name, status, screen.Safe(outcome.Policy), "", "", "", "", ""}
	}
	return []string{name, status, screen.Safe(outcome.Policy), short(outcome.Makespan, o.ASCII), short(outcome.Serial, o.ASCII),
		percent(outcome.Hidden), strconv.Itoa(len(outcome.Batches)), strconv.Itoa(len(outcome.Calls))}
}

// shown is how a status looks.
type shown struct {
	word  string
	paint screen.Paint
}

func verdict(s check.Status) shown {
	switch s {
	case check.Passed:
		return shown{"passed", screen.Green}
	case check.Failed:
		return shown{"FAILED", screen.Red}
	}
	return shown{"ERROR", screen.Yellow}
}

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

// always reports whether a phase is drawn even when it takes no time.
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

// explain writes why an outcome did not pass, and what was noted about it.
func explain(w io.Writer, outcome check.Result, o Options) {
	if outcome.Status == check.Passed && len(outcome.Notes) == 0 {
		return
	}
	v := verdict(outcome.Status)
	put(w, "", v.paint.On(v.word, o.Color)+" "+screen.Safe(outcome.Name), o)
	if outcome.Err != nil {
		for _, line := range screen.SafeLines(outcome.Err.Error()) {
			put(w, "  ", line, o)
		}
	}
	for _, f := range outcome.Failures {
		failure(w, f, o)
	}
	for _, note := range outcome.Notes {
		put(w, "  ", "note: "+screen.Safe(note), o)
	}
	if outcome.Status != check.Passed {
		fmt.Fprintf(w, "  again: %s\n", screen.Safe(o.again(outcome)))
	}
	fmt.Fprintln(w)
}

func failure(w io.Writer, f check.Failure, o Options) {
	head := screen.Bold.On(screen.Safe(f.Expectation), o.Color)
	if f.At != "" {
		head += "  (" + screen.Safe(f.At) + ")"
	}
	put(w, "  ", head, o)
	if multiline(f) {
		for _, line := range difference(f) {
			put(w, "    ", diffPaint(line).On(screen.Safe(line), o.Color), o)
		}
		return
	}
	put(w, "    ", "expected: "+screen.Green.On(screen.Safe(f.Expected), o.Color), o)
	found := screen.SafeLines(f.Found)
	put(w, "    ", "found:    "+screen.Red.On(first(found), o.Color), o)
	for _, line := range found[min(1, len(found)):] {
		put(w, "      ", diffPaint(line).On(line, o.Color), o)
	}
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// put writes a safe line, indented and folded to the screen's width.
func put(w io.Writer, indent, line string, o Options) {
	room := 0
	if o.Width > 0 {
		room = max(1, o.Width-len(indent))
	}
	for _, part := range screen.Fold(line, room) {
		fmt.Fprintln(w, strings.TrimRight(indent+part, " "))
	}
}

// multiline reports whether a text of several lines was expected, which is shown
// beside what was found line by line. What was found may itself be a diff.
func multiline(f check.Failure) bool {
	return strings.Contains(strings.TrimSuffix(f.Expected, "\n"), "\n")
}

// difference is what was expected against what was found, line by line.
func difference(f check.Failure) []string {
	diff := udiff.Unified("expected", "found", ended(f.Expected), ended(f.Found))
	if diff == "" { // they differ in the last line feed only
		diff = udiff.Unified("expected", "found", f.Expected, f.Found)
	}
	return strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
}

func ended(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

func diffPaint(line string) screen.Paint {
	switch {
	case strings.HasPrefix(line, "+"):
		return screen.Red
	case strings.HasPrefix(line, "-"):
		return screen.Green
	case strings.HasPrefix(line, "@@"):
		return screen.Cyan
	}
	return screen.Plain
}
