package reports

import (
	"fmt"
	"strings"

	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
)

// RecordReport is what came of a recorded session (O5).
type RecordReport struct {
	run.CaptureReport
	// Scenario is the file that replays the session; "" where none was written.
	Scenario string
}

// show writes the session's sums, what was blanked in it, and what of the cassette was
// not asked for or was missing.
func (r RecordReport) show(p *page) {
	sums := Grid{Columns: columns(">Turns", ">Calls", ">Recorded", ">Replayed", ">Input", ">Output", ">Cache read", ">Written", ">Bytes", ">Took")}
	u := r.Usage
	sums.add(r.Turns, r.Calls, r.Recorded, r.Replayed, u.Input, u.Output, u.CacheRead, u.CacheWrite, r.Bytes, p.short(r.Took))
	blanked := Grid{Columns: columns("Blanked", "Where", ">Times")}
	for _, c := range r.Blanked {
		blanked.add(c.Kind, c.Where, c.Times)
	}
	p.tables(sums, blanked)
	p.section("Not asked for", r.Unused...)
	p.section("Missing", each(r.Missing, func(why string) string { // the difference behind the first line is the error's own text
		first, _, _ := strings.Cut(why, "\n")
		return strings.TrimSuffix(first, ":")
	})...)
	p.fold("", RecordSummary(r.CaptureReport))
	if r.Scenario != "" {
		p.printf("toolbench run %s replays it\n", Safe(r.Scenario))
	}
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
	secrets := 0
	for _, c := range r.Blanked {
		secrets += c.Times
	}
	if secrets > 0 {
		text += ", " + plural(secrets, "secret", "secrets") + " blanked"
	}
	return text
}

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

func (r RecordReport) document() any {
	doc := recordDoc{
		Version: RecordVersion, Mode: r.Mode, Cassette: r.Cassette, Partial: r.Partial, Scenario: r.Scenario,
		Turns: r.Turns, Calls: r.Calls, Recorded: r.Recorded, Replayed: r.Replayed, Bytes: r.Bytes, Usage: r.Usage, Seconds: r.Took.Seconds(),
		Blanked: r.Blanked, Unused: r.Unused, Missing: r.Missing,
	}
	if r.Err != nil {
		doc.Error = secret.New().Text(r.Err.Error(), nil)
	}
	return doc
}
