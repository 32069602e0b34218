package reports

import (
	_ "embed"
	"io"
	"slices"

	"toolbench/sim/serve"
)

// ServeVersion is that of the JSON report on what was served. It changes when a field
// goes or changes its meaning; fields may be added within a version.
const ServeVersion = 1

//go:embed serve.schema.json
var serveSchema []byte

// ServeSchema is the JSON Schema (2020-12) of the JSON report on what was served.
func ServeSchema() []byte { return slices.Clone(serveSchema) }

type serveJSON struct {
	Version       int           `json:"version"`
	Source        string        `json:"source"`
	Held          bool          `json:"held"`
	Conversations int           `json:"conversations"`
	Unserved      []int         `json:"unserved"`
	Refused       []refusedJSON `json:"refused"`
	Sessions      []servedJSON  `json:"sessions"`
}

type refusedJSON struct {
	Text    string `json:"text"`
	Opening string `json:"opening,omitempty"`
}

type servedJSON struct {
	Conversation int           `json:"conversation"`
	Opening      string        `json:"opening"`
	Requests     int           `json:"requests"`
	Resent       int           `json:"resent"`
	Answers      int           `json:"answers"`
	Of           int           `json:"answers_recorded"`
	Calls        int           `json:"calls"`
	Results      int           `json:"results"`
	Checks       []checkJSON   `json:"checks"`
	Breakpoints  []string      `json:"breakpoints"`
	Latencies    []latencyJSON `json:"latencies"`
}

type checkJSON struct {
	Name     string        `json:"name"`
	Promise  string        `json:"promise"`
	Status   serve.Status  `json:"status"`
	Findings []findingJSON `json:"findings"`
	More     int           `json:"more_findings,omitempty"`
}

type findingJSON struct {
	Answer int    `json:"after_answer"`
	Text   string `json:"text"`
}

type latencyJSON struct {
	Answer int `json:"after_answer"`
	Calls  int `json:"calls"`
	Took   ms  `json:"took_ms"`
}

// ServeJSON writes one object as serve.schema.json describes it.
func ServeJSON(w io.Writer, r serve.Report) error {
	j := serveJSON{
		Version: ServeVersion, Source: r.Source, Held: r.Held(), Conversations: r.Conversations,
		Unserved: append([]int{}, r.Unserved...), Refused: []refusedJSON{}, Sessions: []servedJSON{},
	}
	for _, refused := range r.Refused {
		j.Refused = append(j.Refused, refusedJSON(refused))
	}
	for _, s := range r.Sessions {
		j.Sessions = append(j.Sessions, servedOf(s))
	}
	return PrintJSON(w, j)
}

func servedOf(s serve.SessionReport) servedJSON {
	j := servedJSON{
		Conversation: s.Conversation, Opening: s.Opening, Requests: s.Requests, Resent: s.Resent, Answers: s.Answers, Of: s.Of,
		Calls: s.Calls, Results: s.Results, Checks: []checkJSON{}, Breakpoints: append([]string{}, s.Breakpoints...), Latencies: []latencyJSON{},
	}
	for _, c := range s.Checks {
		check := checkJSON{Name: c.Name, Promise: c.Promise, Status: c.Status, Findings: []findingJSON{}, More: c.More}
		for _, f := range c.Findings {
			check.Findings = append(check.Findings, findingJSON{f.Turn, f.Text})
		}
		j.Checks = append(j.Checks, check)
	}
	for _, l := range s.Latencies {
		j.Latencies = append(j.Latencies, latencyJSON{l.Turn, l.Calls, ms(l.Took)})
	}
	return j
}
