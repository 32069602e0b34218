package reports

import (
	_ "embed"
	"io"
	"slices"

	"toolbench/property/campaign"
)

// FuzzVersion is that of the JSON report of a campaign. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const FuzzVersion = 1

//go:embed fuzz.schema.json
var fuzzSchema []byte

// FuzzSchema is the JSON Schema (2020-12) of the JSON report of a campaign.
func FuzzSchema() []byte { return slices.Clone(fuzzSchema) }

type fuzzJSON struct {
	Version  int              `json:"version"`
	Engine   string           `json:"engine"`
	Seed     *uint64          `json:"seed,omitempty"`
	Policies []string         `json:"policies,omitempty"`
	Cases    uint64           `json:"cases"`
	Calls    *uint64          `json:"calls,omitempty"`
	Seconds  *float64         `json:"seconds,omitempty"`
	Seen     []situationJSON  `json:"situations,omitempty"`
	Failure  *fuzzFailureJSON `json:"failure,omitempty"`
	Replayed []replayedJSON   `json:"replayed,omitempty"`
}

type situationJSON struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

type fuzzFailureJSON struct {
	Case     uint64 `json:"case"`
	Broke    string `json:"broke"`
	Found    string `json:"found"`
	Log      string `json:"log"`
	Calls    int    `json:"calls"`
	Left     int    `json:"calls_left"`
	Again    string `json:"again"`
	Scenario string `json:"scenario"`
	File     string `json:"scenario_file"`
	CaseFile string `json:"case_file"`
}

type replayedJSON struct {
	File  string `json:"file"`
	About string `json:"about"`
	Broke string `json:"broke"`
	Found string `json:"found"`
}

// FuzzJSON writes one object as fuzz.schema.json describes it.
func FuzzJSON(w io.Writer, r FuzzReport) error {
	j := fuzzJSON{Version: FuzzVersion, Engine: r.Engine, Cases: r.Total.Cases}
	if r.Replayed != nil {
		j.Cases, j.Replayed = uint64(len(r.Replayed)), replayedOf(r.Replayed)
		return PrintJSON(w, j)
	}
	seconds := rounded(r.Took.Seconds(), 1000)
	j.Seed, j.Policies, j.Calls, j.Seconds = &r.Seed, r.Policies, &r.Total.Calls, &seconds
	for i, s := range campaign.Situations() {
		j.Seen = append(j.Seen, situationJSON{s.Name, r.seen(i)})
	}
	if f := r.Failure; f != nil {
		j.Failure = &fuzzFailureJSON{f.Failure.Case, f.Broke, f.Found, f.Log, f.Calls, f.Left, f.Again, f.Text, f.Scenario, f.Case}
	}
	return PrintJSON(w, j)
}

func replayedOf(all []FuzzReplayed) []replayedJSON {
	var out []replayedJSON
	for _, r := range all {
		j := replayedJSON{File: r.File, About: r.About}
		if r.Broken != nil {
			j.Broke, j.Found = r.Broken.Name, r.Broken.Found
		}
		out = append(out, j)
	}
	return out
}
