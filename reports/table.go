package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
)

// Table writes a row an outcome and a line of totals; below, what failed and why,
// each with the command that shows it again (O8). On a screen too narrow for the
// table it is a list. No line is wider than the screen but a command's: what is
// to be copied is never broken.
func Table(w io.Writer, outcomes []scenario.Outcome, o Options) error {
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

func grid(outcomes []scenario.Outcome, o Options) screen.Grid {
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

func row(outcome scenario.Outcome, o Options) []string {
	name := screen.Safe(outcome.Name)
	status := verdict(outcome.Status).paint.On(verdict(outcome.Status).word, o.Color)
	if outcome.Status == scenario.Errored {
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

func verdict(s scenario.Status) shown {
	switch s {
	case scenario.Passed:
		return shown{"passed", screen.Green}
	case scenario.Failed:
		return shown{"FAILED", screen.Red}
	}
	return shown{"ERROR", screen.Yellow}
}
