package reports

import (
	"io"

	"toolbench/sim/scenario"
)

// Options say how to write. The zero value writes without limit of width, without
// colour, in Unicode, and with real times.
type Options struct {
	// Width is the number of columns of the screen; below 1 there is no limit.
	Width int
	// Color allows colours; ASCII forbids anything beyond ASCII in what the report
	// itself draws.
	Color, ASCII bool
	// OmitTook leaves real times out, so that equal runs give equal reports.
	OmitTook bool
	// Again gives the command that shows an outcome again; nil stands for Again of
	// this package. Only who started the run knows where its scenarios came from.
	Again func(scenario.Outcome) string
}

func (o Options) again(outcome scenario.Outcome) string {
	if o.Again == nil {
		return Again(outcome)
	}
	return o.Again(outcome)
}

// Writer writes one report of outcomes, in their order. Its errors are those of w.
type Writer func(w io.Writer, outcomes []scenario.Outcome, o Options) error

// Format is a report that can be asked for by name.
type Format struct {
	Name, About string
	Write       Writer
}

// Formats are the reports there are, in the order in which they are offered.
func Formats() []Format {
	return []Format{
		{"table", "a table for people, or a list on a narrow screen", Table},
		{"json", "one JSON object, as run.schema.json describes", JSON},
		{"junit", "JUnit XML, as CI systems read it", JUnit},
		{"markdown", "a table and the failures, for job summaries", Markdown},
	}
}
