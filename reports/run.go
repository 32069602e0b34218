package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"toolbench/reports/screen"
	"toolbench/sim/scenario/check"
)

// Version is that of the JSON report. It changes when a field goes or changes its
// meaning; fields may be added within a version.
const Version = 1

//go:embed run.schema.json
var runSchema []byte

// RunSchema is the JSON Schema (2020-12) of the JSON report.
func RunSchema() []byte { return slices.Clone(runSchema) }

type runJSON struct {
	Version  int           `json:"version"`
	Seed     uint64        `json:"seed"`
	Totals   Totals        `json:"totals"`
	Outcomes []outcomeJSON `json:"outcomes"`
}

type outcomeJSON struct {
	Name          string        `json:"name"`
	About         string        `json:"about,omitempty"`
	File          string        `json:"file,omitempty"`
	Tags          []string      `json:"tags"`
	Status        check.Status  `json:"status"`
	Policy        string        `json:"policy"`
	Seed          uint64        `json:"seed"`
	MakespanMS    ms            `json:"makespan_ms"`
	SerialMS      ms            `json:"serial_ms"`
	HiddenPercent share         `json:"hidden_percent"`
	BoundMS       ms            `json:"bound_ms"`
	Batches       [][]string    `json:"batches"`
	Calls         []callJSON    `json:"calls"`
	Failures      []failureJSON `json:"failures"`
	TraceDigest   string        `json:"trace_digest"`
	Error         string        `json:"error,omitempty"`
	Invalid       bool          `json:"invalid,omitempty"`
	Notes         []string      `json:"notes,omitempty"`
	TookMS        *ms           `json:"took_ms,omitempty"`
	Again         string        `json:"again"`
}

type callJSON struct {
	ID        string   `json:"id"`
	Tool      string   `json:"tool"`
	Agent     string   `json:"agent,omitempty"`
	Turn      int      `json:"turn"`
	Batch     int      `json:"batch"`
	ReadyMS   ms       `json:"ready_ms"`
	StartedMS ms       `json:"started_ms"`
	EndedMS   ms       `json:"ended_ms"`
	EmittedMS ms       `json:"emitted_ms"`
	Status    string   `json:"status"`
	Safe      bool     `json:"safe"`
	WaitsFor  string   `json:"waits_for,omitempty"`
	On        []string `json:"on,omitempty"`
}

type failureJSON struct {
	Expectation string `json:"expectation"`
	Expected    string `json:"expected"`
	Found       string `json:"found"`
	At          string `json:"at"`
}

// ms writes a duration as a number of milliseconds.
type ms time.Duration

// MarshalJSON is exact: a float would round, and turn small ones into 1e-06.
func (d ms) MarshalJSON() ([]byte, error) { return []byte(millis(time.Duration(d))), nil }

// share writes a percentage with at most four decimals.
type share float64

// MarshalJSON never fails: what is no number is 0.
func (p share) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, rounded(float64(p), 1e4), 'f', -1, 64), nil
}

// JSON writes one object as run.schema.json describes it. Texts are the true ones;
// what a terminal would obey is escaped, so that printing the report is safe.
func JSON(w io.Writer, outcomes []check.Result, o Options) error {
	run := runJSON{Version: Version, Totals: Count(outcomes), Outcomes: []outcomeJSON{}}
	if len(outcomes) > 0 {
		run.Seed = outcomes[0].Seed
	}
	for _, outcome := range outcomes {
		run.Outcomes = append(run.Outcomes, outcomeOf(outcome, o))
	}
	return PrintJSON(w, run)
}

// PrintJSON writes a value as indented JSON that is safe to print.
func PrintJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	_, err := w.Write(printable(b.Bytes()))
	return err
}

// printable escapes, in JSON, the characters that the encoder lets through and a
// terminal may obey. They can stand in strings only, where an escape means the same.
func printable(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || screen.Harmless(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

func outcomeOf(outcome check.Result, o Options) outcomeJSON {
	j := outcomeJSON{
		Name: outcome.Name, About: outcome.About, File: outcome.File, Tags: present(outcome.Tags),
		Status: outcome.Status, Policy: outcome.Policy, Seed: outcome.Seed,
		MakespanMS: ms(outcome.Makespan), BoundMS: ms(outcome.Least), SerialMS: ms(outcome.Serial), HiddenPercent: share(outcome.Hidden),
		Batches: [][]string{}, Calls: []callJSON{}, Failures: []failureJSON{},
		TraceDigest: outcome.Digest, Invalid: outcome.Invalid, Notes: outcome.Notes, Again: o.again(outcome),
	}
	if outcome.Err != nil {
		j.Error = outcome.Err.Error()
	}
	if !o.OmitTook {
		took := ms(outcome.Took)
		j.TookMS = &took
	}
	for _, batch := range outcome.Batches {
		j.Batches = append(j.Batches, present(batch))
	}
	for _, call := range outcome.Calls {
		j.Calls = append(j.Calls, callOf(call))
	}
	for _, f := range outcome.Failures {
		j.Failures = append(j.Failures, failureJSON{f.Expectation, f.Expected, f.Found, f.At})
	}
	return j
}

func callOf(c check.Call) callJSON {
	return callJSON{
		ID: c.ID, Tool: c.Tool, Agent: c.Agent, Turn: c.Turn, Batch: c.Batch,
		ReadyMS: ms(c.Ready), StartedMS: ms(c.Started), EndedMS: ms(c.Ended), EmittedMS: ms(c.Emitted),
		Status: c.Status, Safe: c.Safe, WaitsFor: c.WaitsFor, On: c.On,
	}
}

// present is a list that is never null in JSON.
func present(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
