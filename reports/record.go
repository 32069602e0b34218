package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
)

// RecordTable writes what came of a recorded session (O5): its sums, what was blanked
// in it, and what of the cassette was not asked for or was missing.
func RecordTable(w io.Writer, r run.CaptureReport, o Options) error {
	out := bufio.NewWriter(w)
	for _, g := range []screen.Grid{recordGrid(r, o), blankedGrid(r.Blanked)} {
		if len(g.Rows) == 0 {
			continue
		}
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	section(out, "Not asked for", r.Unused, o)
	section(out, "Missing", r.Missing, o)
	fold(out, "", RecordSummary(r), o)
	return out.Flush()
}

func recordGrid(r run.CaptureReport, o Options) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{
		{Title: "Turns", Right: true}, {Title: "Calls", Right: true}, {Title: "Recorded", Right: true}, {Title: "Replayed", Right: true},
		{Title: "Input", Right: true}, {Title: "Output", Right: true}, {Title: "Cache read", Right: true}, {Title: "Written", Right: true},
		{Title: "Bytes", Right: true}, {Title: "Took", Right: true},
	}}
	g.Rows = [][]string{{
		strconv.Itoa(r.Turns), strconv.Itoa(r.Calls), strconv.Itoa(r.Recorded), strconv.Itoa(r.Replayed),
		strconv.Itoa(r.Usage.Input), strconv.Itoa(r.Usage.Output), strconv.Itoa(r.Usage.CacheRead), strconv.Itoa(r.Usage.CacheWrite),
		strconv.FormatInt(r.Bytes, 10), short(r.Took, o.ASCII),
	}}
	return g
}

func blankedGrid(counts []secret.Count) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{{Title: "Blanked"}, {Title: "Where"}, {Title: "Times", Right: true}}}
	for _, c := range counts {
		g.Rows = append(g.Rows, []string{c.Kind, c.Where, strconv.Itoa(c.Times)})
	}
	return g
}

// RecordSummary words a session in a line.
func RecordSummary(r run.CaptureReport) string {
	switch {
	case r.Partial != "":
		return fmt.Sprintf("%s of the session kept in %s", plural(r.Recorded, "answer", "answers"), r.Partial)
	case r.Err != nil:
		return "nothing was written"
	case r.Recorded == 0:
		return fmt.Sprintf("%s replayed from %s; the network was not used", plural(r.Replayed, "answer", "answers"), r.Cassette)
	}
	text := fmt.Sprintf("%s recorded in %s", plural(r.Recorded, "answer", "answers"), r.Cassette)
	if r.Replayed > 0 {
		text += fmt.Sprintf(", behind %d replayed", r.Replayed)
	}
	if n := times(r.Blanked); n > 0 {
		text += ", " + strings.TrimSpace(plural(n, "secret", "secrets")) + " blanked"
	}
	return text
}

func times(counts []secret.Count) int {
	n := 0
	for _, c := range counts {
		n += c.Times
	}
	return n
}

// RecordVersion is the version of the JSON of a recorded session.
const RecordVersion = 1

type recordDoc struct {
	Version  int              `json:"version"`
	Mode     run.CaptureMode  `json:"mode" enum:"replay-only,once,new-episodes,all"`
	Cassette string           `json:"cassette" jsonschema:"The cassette's file."`
	Partial  string           `json:"partial,omitempty" jsonschema:"The file of a recording that did not come to its end; the cassette is as it was."`
	Scenario string           `json:"scenario,omitempty" jsonschema:"The scenario's file that replays the session, where one was written."`
	Turns    int              `json:"turns" jsonschema:"Answers of the model."`
	Calls    int              `json:"calls" jsonschema:"Tool calls in them."`
	Recorded int              `json:"recorded" jsonschema:"Answers from the network."`
	Replayed int              `json:"replayed" jsonschema:"Answers from the cassette."`
	Bytes    int64            `json:"bytes" jsonschema:"Bytes of answers."`
	Usage    run.CaptureUsage `json:"usage" jsonschema:"What the API counted, over all answers."`
	Seconds  float64          `json:"seconds" jsonschema:"How long the session took, in real time."`
	Blanked  []secret.Count   `json:"blanked" jsonschema:"What was kept out of the cassette: never a value."`
	Unused   []string         `json:"unused" jsonschema:"Interactions of the cassette that were not asked for."`
	Missing  []string         `json:"missing" jsonschema:"Why a request had no answer."`
	Error    string           `json:"error,omitempty" jsonschema:"What the session ended with, when it did not end well."`
}

// RecordJSON writes a recorded session for programs; scenario is the file that replays
// it, if one was written. record.schema.json describes it.
func RecordJSON(w io.Writer, r run.CaptureReport, scenario string) error {
	doc := recordDoc{
		Version: RecordVersion, Mode: r.Mode, Cassette: r.Cassette, Partial: r.Partial, Scenario: scenario,
		Turns: r.Turns, Calls: r.Calls, Recorded: r.Recorded, Replayed: r.Replayed, Bytes: r.Bytes, Usage: r.Usage, Seconds: r.Took.Seconds(),
		Blanked: append([]secret.Count{}, r.Blanked...), Unused: append([]string{}, r.Unused...), Missing: append([]string{}, r.Missing...),
	}
	if r.Err != nil {
		doc.Error = secret.New().Text(r.Err.Error(), nil)
	}
	return PrintJSON(w, doc)
}
