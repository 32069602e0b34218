package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolbench/sim/scenario/check"
)

// Table writes a row an outcome and a line of totals; below, what failed and why,
// each with the command that shows it again (O8). On a screen too narrow for the
// table it is a list. No line is wider than the screen but a command's: what is
// to be copied is never broken.
func Table(w io.Writer, outcomes []check.Result, o Options) error {
	p := newPage(w, o)
	if o.Grouped && len(outcomes) > mostRows {
		p.groups(outcomes)
	} else {
		p.tables(p.outcomes(outcomes))
		for _, outcome := range outcomes {
			p.explain(outcome)
		}
	}
	totals, paint := Count(outcomes), Green
	totals.Passed += o.Unshown
	if totals.Failed+totals.Errors > 0 {
		paint = Red
	}
	p.printf("%s\n", paint.On(totals.String(), o.Color))
	return p.end()
}

// mostRows is how many outcomes have a row each where outcomes are grouped.
const mostRows = 40

// groups writes a row for all outcomes of one first tag; of what did not pass every row, and why.
func (p *page) groups(outcomes []check.Result) {
	byTag := map[string][]check.Result{}
	var bad []check.Result
	noted := 0
	for _, o := range outcomes {
		tag := "untagged"
		if len(o.Tags) > 0 {
			tag = o.Tags[0]
		}
		byTag[tag] = append(byTag[tag], o)
		switch {
		case o.Status != check.Passed:
			bad = append(bad, o)
		case len(o.Notes) > 0:
			noted++
		}
	}
	g := Grid{Columns: columns("Group", ">Scenarios", "Status", ">Makespan", ">Serial", ">Hidden", ">Batches", ">Calls"), Optional: []int{4, 6, 7}}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		g.add(p.group(Safe(tag), byTag[tag])...)
	}
	g.Footer = rowOf(p.group("all", outcomes))
	p.tables(g)
	if len(bad) > 0 {
		rows := p.outcomes(bad)
		rows.Footer = nil
		p.tables(rows)
	}
	for _, o := range bad {
		p.explain(o)
	}
	p.lines(append(p.remarks(outcomes, noted), "")...)
}

// group is the row of several outcomes.
func (p *page) group(name string, outcomes []check.Result) []any {
	t, s := Count(outcomes), sum(outcomes)
	status := Green.On("passed", p.Color)
	if bad := t.Failed + t.Errors; bad > 0 {
		status = Red.On(fmt.Sprintf("%d FAILED", bad), p.Color)
	}
	return []any{name, len(outcomes), status, p.short(s.makespan), p.short(s.serial), percent(s.hidden()), s.batches, s.calls}
}

// remarks are what a table of groups leaves out.
func (p *page) remarks(outcomes []check.Result, noted int) []string {
	var lines []string
	if !p.OmitTook {
		slow := slices.SortedStableFunc(slices.Values(outcomes), func(a, b check.Result) int { return cmp.Compare(b.Took, a.Took) })
		line := "slowest here: " + Safe(slow[0].Name) + " " + p.short(slow[0].Took)
		for _, o := range slow[1:3] {
			more := line + ", " + Safe(o.Name) + " " + p.short(o.Took)
			if p.Width > 0 && Width(more) > p.Width {
				break
			}
			line = more
		}
		lines = append(lines, line)
	}
	more := "each scenario: --all"
	if noted > 0 {
		more += fmt.Sprintf(", with the notes on %d that passed", noted)
	}
	return append(lines, more)
}

// outcomeTitles head the columns of outcomes.
var outcomeTitles = []string{"Scenario", "Status", "Policy", ">Makespan", ">Serial", ">Hidden", ">Batches", ">Calls"}

func (p *page) outcomes(outcomes []check.Result) Grid {
	g := Grid{Columns: columns(outcomeTitles...)}
	for _, outcome := range outcomes {
		g.add(p.outcome(outcome, Safe, p.verdict(outcome.Status))...)
	}
	if s := sum(outcomes); len(outcomes) > 1 {
		g.Footer = rowOf([]any{plural(len(outcomes), "scenario", "scenarios"), "", "", p.short(s.makespan), p.short(s.serial), percent(s.hidden()), s.batches, s.calls})
	}
	return g
}

// outcome is the row of an outcome; an error has no figures.
func (o Options) outcome(outcome check.Result, safe func(string) string, status string) []any {
	row := []any{safe(outcome.Name), status, safe(outcome.Policy), "", "", "", "", ""}
	if outcome.Status != check.Errored {
		copy(row[3:], []any{o.short(outcome.Makespan), o.short(outcome.Serial), percent(outcome.Hidden), len(ran(outcome)), len(outcome.Calls)})
		if outcome.Makespan == 0 && outcome.Serial == 0 { // nothing takes time, so nothing of it can be hidden
			row[4], row[5] = "", ""
		}
	}
	return row
}

// verdict is how a status looks.
func (o Options) verdict(s check.Status) string {
	switch s {
	case check.Passed:
		return Green.On("passed", o.Color)
	case check.Failed:
		return Red.On("FAILED", o.Color)
	}
	return Yellow.On("ERROR", o.Color)
}

// explain writes why an outcome did not pass, and what was noted about it.
func (p *page) explain(outcome check.Result) {
	if outcome.Status == check.Passed && len(outcome.Notes) == 0 {
		return
	}
	p.put("", p.verdict(outcome.Status)+" "+Safe(outcome.Name))
	if outcome.Err != nil {
		p.put("  ", SafeLines(outcome.Err.Error())...)
	}
	for _, f := range outcome.Failures {
		p.failure(f)
	}
	for _, note := range outcome.Notes {
		p.put("  ", "note: "+Safe(note))
	}
	if outcome.Status != check.Passed {
		p.printf("  again: %s\n", Safe(p.again(outcome)))
	}
	p.printf("\n")
}

func (p *page) failure(f check.Failure) {
	head := Bold.On(Safe(f.Expectation), p.Color)
	if f.At != "" {
		head += "  (" + Safe(f.At) + ")"
	}
	p.put("  ", head)
	if strings.Contains(strings.TrimSuffix(f.Expected, "\n"), "\n") { // what was found may itself be a diff
		for _, line := range difference(f) {
			p.put("    ", diffPaint(line).On(Safe(line), p.Color))
		}
		return
	}
	p.put("    ", "expected: "+Green.On(Safe(f.Expected), p.Color))
	found := SafeLines(f.Found)
	p.put("    ", "found:    "+Red.On(found[0], p.Color))
	for _, line := range found[1:] {
		p.put("      ", diffPaint(line).On(line, p.Color))
	}
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

func diffPaint(line string) Paint {
	switch {
	case strings.HasPrefix(line, "+"):
		return Red
	case strings.HasPrefix(line, "-"):
		return Green
	case strings.HasPrefix(line, "@@"):
		return Cyan
	}
	return Plain
}
