package reports

import (
	_ "embed"
	"io"
	"slices"

	"toolbench/sim/capture"
	"toolbench/sim/secret"
)

//go:embed record.schema.json
var recordSchema []byte

// RecordVersion is the version of the JSON of a recorded session.
const RecordVersion = 1

// RecordSchema is the JSON Schema of what RecordJSON writes.
func RecordSchema() []byte { return slices.Clone(recordSchema) }

type recordDoc struct {
	Version  int            `json:"version"`
	Mode     capture.Mode   `json:"mode"`
	Cassette string         `json:"cassette"`
	Partial  string         `json:"partial,omitempty"`
	Scenario string         `json:"scenario,omitempty"`
	Turns    int            `json:"turns"`
	Calls    int            `json:"calls"`
	Recorded int            `json:"recorded"`
	Replayed int            `json:"replayed"`
	Bytes    int64          `json:"bytes"`
	Usage    capture.Usage  `json:"usage"`
	Seconds  float64        `json:"seconds"`
	Blanked  []secret.Count `json:"blanked"`
	Unused   []string       `json:"unused"`
	Missing  []string       `json:"missing"`
	Error    string         `json:"error,omitempty"`
}

// RecordJSON writes a recorded session for programs; scenario is the file that replays
// it, if one was written. It is as RecordSchema says.
func RecordJSON(w io.Writer, r capture.Report, scenario string) error {
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
