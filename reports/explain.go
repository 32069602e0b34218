package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
)

// explain says why an outcome did not pass, and what was noted about it.
func explain(w io.Writer, outcome scenario.Outcome, o Options) {
	if outcome.Status == scenario.Passed && len(outcome.Notes) == 0 {
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
	if outcome.Status != scenario.Passed {
		fmt.Fprintf(w, "  again: %s\n", screen.Safe(o.again(outcome)))
	}
	fmt.Fprintln(w)
}

func failure(w io.Writer, f scenario.Failure, o Options) {
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

// multiline says whether a text of several lines was expected, which is shown
// beside what was found line by line. What was found may itself be a diff.
func multiline(f scenario.Failure) bool {
	return strings.Contains(strings.TrimSuffix(f.Expected, "\n"), "\n")
}

// difference is what was expected against what was found, line by line.
func difference(f scenario.Failure) []string {
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
