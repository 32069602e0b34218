package reports

import (
	_ "embed"
	"io"
	"slices"

	"toolbench/sim/live"
	"toolbench/sim/tokens"
)

// TokensVersion is that of the JSON report on tokens. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const TokensVersion = 1

//go:embed tokens.schema.json
var tokensSchema []byte

// TokensSchema is the JSON Schema (2020-12) of the JSON report on tokens.
func TokensSchema() []byte { return slices.Clone(tokensSchema) }

type tokensJSON struct {
	Version      int            `json:"version"`
	Counter      string         `json:"counter"`
	Counts       string         `json:"counts"`
	Tools        int            `json:"tools"`
	Servers      int            `json:"servers"`
	FullTokens   int            `json:"full_tokens"`
	FullBasis    string         `json:"full_basis"`
	Modes        modesJSON      `json:"modes"`
	Automatic    automaticJSON  `json:"automatic"`
	SearchTokens int            `json:"tool_search_tokens"`
	PerServer    []costJSON     `json:"per_server"`
	Worst        []toolCostJSON `json:"worst"`
	NoSchema     []string       `json:"without_schema"`
	NoParameters []string       `json:"without_parameters"`
	Failures     []unlistedJSON `json:"failures"`
	Recorded     *sessionsJSON  `json:"recorded,omitempty"`

	Measurement *measurementJSON `json:"measurement,omitempty"`
}

type modesJSON struct {
	Names modeJSON `json:"names"`
	Hints modeJSON `json:"names_hint"`
	API   modeJSON `json:"api"`
}

type modeJSON struct {
	Tokens int     `json:"tokens"`
	Saved  float64 `json:"saved_percent"`
	Basis  string  `json:"basis"`
}

type automaticJSON struct {
	Model       string `json:"model"`
	Window      int    `json:"window"`
	WindowKnown bool   `json:"window_known"`
	Percent     int    `json:"percent"`
	Threshold   int    `json:"threshold_tokens"`
	Deferred    int    `json:"deferred_tokens"`
	Session     int    `json:"session_tokens"`
	Triggers    bool   `json:"triggers"`
	Reason      string `json:"reason"`
}

type costJSON struct {
	Name       string    `json:"name"`
	Tools      int       `json:"tools"`
	FullTokens int       `json:"full_tokens"`
	Modes      modesJSON `json:"modes"`
}

type toolCostJSON struct {
	Name        string    `json:"name"`
	Server      string    `json:"server"`
	FullTokens  int       `json:"full_tokens"`
	FullBasis   string    `json:"full_basis"`
	Description int       `json:"description_tokens"`
	Schema      int       `json:"schema_tokens"`
	NoSchema    bool      `json:"without_schema"`
	Whole       bool      `json:"never_deferred"`
	Modes       modesJSON `json:"modes"`
	Advice      string    `json:"advice,omitempty"`
	Calls       *int      `json:"recorded_calls,omitempty"`
}

type unlistedJSON struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// TokensJSON writes one object as tokens.schema.json describes it, every tool in it.
func TokensJSON(w io.Writer, r tokens.Report, failures []live.Failure) error {
	a := r.Automatic
	basis := r.Counter.Basis()
	j := tokensJSON{
		Version: TokensVersion, Counter: r.Counter.Name, Counts: r.Counter.About, Tools: r.Total.Tools, Servers: len(r.Servers),
		FullTokens: r.Total.Full, FullBasis: totalBasis(r), Modes: totalModes(r), SearchTokens: r.Search,
		Automatic:    automaticJSON{a.Model, a.Window, a.Known, a.Percent, a.Threshold, a.Deferred, a.Session, a.Triggers, a.Reason},
		NoSchema:     sortedNames(r.NoSchema),
		NoParameters: sortedNames(r.Empty), Failures: []unlistedJSON{}, PerServer: []costJSON{}, Worst: []toolCostJSON{},
	}
	for _, s := range r.Servers {
		j.PerServer = append(j.PerServer, costJSON{s.Name, s.Tools, s.Full, modesOf(s.Modes, basis)})
	}
	for _, t := range r.Worst {
		j.Worst = append(j.Worst, toolCostJSON{t.Name, t.Server, t.Full, rowBasis(r, t), t.Description, t.Schema, t.Missing, t.Whole, modesOf(t.Modes, basis), t.Advice, callsOf(t)})
	}
	for _, f := range failures {
		j.Failures = append(j.Failures, unlistedJSON{f.Server, f.Err.Error()})
	}
	j.Recorded, j.Measurement = sessionsOf(r, basis), measurementOf(r.Measurement)
	return PrintJSON(w, j)
}

// totalModes are those of all tools: measured where the API was asked.
func totalModes(r tokens.Report) modesJSON {
	j := modesOf(r.Total.Modes, r.Counter.Basis())
	if m := r.Measurement; m != nil {
		j.Names.Basis, j.Hints.Basis = measuredBasis, measuredBasis
		if m.APIRefused == "" {
			j.API.Basis = measuredBasis
		}
	}
	return j
}

// measuredBasis is that of a figure that the API itself gave.
const measuredBasis = "measured"

func rowBasis(r tokens.Report, row tokens.Row) string {
	if row.Measured {
		return measuredBasis
	}
	return r.Counter.Basis()
}

func totalBasis(r tokens.Report) string {
	if r.Measurement != nil {
		return measuredBasis
	}
	return r.Counter.Basis()
}

type measurementJSON struct {
	Model      string `json:"model"`
	Requests   int    `json:"requests"`
	Tools      int    `json:"tools_measured"`
	APIRefused string `json:"api_refused,omitempty"`
}

func measurementOf(m *tokens.Measurement) *measurementJSON {
	if m == nil {
		return nil
	}
	return &measurementJSON{m.Model, m.Requests, len(m.Tools), m.APIRefused}
}

func modesOf(m tokens.Modes, basis string) modesJSON {
	return modesJSON{
		Names: modeJSON{m.Names.Tokens, m.Names.Saved, basis},
		Hints: modeJSON{m.Hints.Tokens, m.Hints.Saved, basis},
		API:   modeJSON{m.API.Tokens, m.API.Saved, "documented"},
	}
}
