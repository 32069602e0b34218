package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"toolbench/property/fuzz"
	"toolbench/property/invariant"
	"toolbench/reports/screen"
	"toolbench/sim/scenario/check"
)

// FuzzReport is what came of a run, or of cases from files.
type FuzzReport struct {
	Seed     uint64
	Engine   string
	Policies []string
	Total    fuzz.Result
	// Took is the real time.
	Took     time.Duration
	Failure  *FuzzFailure
	Replayed []FuzzReplayed
}

// FuzzFailure is the case that failed, made small.
type FuzzFailure struct {
	fuzz.Failure
	// Calls and Left count the calls it had and has.
	Calls, Left int
	// Again is the command that plays it once more. Scenario and Case are the files
	// it was written to; "" if it was not. Text is the scenario.
	Again, Scenario, Case, Text string
	// Outcome is that of the scenario, or nil.
	Outcome *check.Result
}

// FuzzReplayed is one case from a file.
type FuzzReplayed struct {
	File, About string
	// Broken is nil when all was well.
	Broken *invariant.Violation
}

// FuzzTable writes a run (O6): a line, the rare situations with how often they
// came up, what never did, and the case that failed with its timeline.
func FuzzTable(w io.Writer, r FuzzReport, o Options) error {
	out := bufio.NewWriter(w)
	if r.Replayed != nil {
		replayedTable(out, r.Replayed, o)
		return out.Flush()
	}
	drawn, err := seenGrid(r).Draw(o.Width, o.ASCII)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, drawn)
	section(out, "Never seen", never(r), o)
	fold(out, "", headOf(r), o)
	if r.Failure != nil {
		fmt.Fprintln(out)
		if err := failureOf(out, r.Failure, o); err != nil {
			return err
		}
	}
	return out.Flush()
}

func headOf(r FuzzReport) string {
	seconds := r.Took.Seconds()
	verdict := "all held"
	if r.Failure != nil {
		verdict = "1 failed"
	}
	return fmt.Sprintf("%d cases, %d calls, engine %s, seed %d: %s (%.0f cases/s, %.0f calls/s)",
		r.Total.Cases, r.Total.Calls, r.Engine, r.Seed, verdict, float64(r.Total.Cases)/seconds, float64(r.Total.Calls)/seconds)
}

func seenGrid(r FuzzReport) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{{Title: "Situation"}, {Title: "Times", Right: true}}}
	for i, s := range invariant.Goals() {
		if n := r.seen(i); n > 0 {
			g.Rows = append(g.Rows, []string{s.Name, strconv.Itoa(n)})
		}
	}
	return g
}

// never lists what did not come up although it could have.
func never(r FuzzReport) []string {
	var lines []string
	for i, s := range invariant.Goals() {
		if r.seen(i) == 0 && r.can(s) {
			lines = append(lines, s.Name)
		}
	}
	return lines
}

// seen is how often the i-th situation came up.
func (r *FuzzReport) seen(i int) int {
	if i >= len(r.Total.Seen) {
		return 0
	}
	return r.Total.Seen[i]
}

func (r *FuzzReport) can(s invariant.Goal) bool {
	if s.System && r.Engine == string(fuzz.DES) {
		return false
	}
	for _, p := range r.Policies {
		if s.Policy == "" || s.Policy == p {
			return true
		}
	}
	return false
}

func failureOf(out *bufio.Writer, f *FuzzFailure, o Options) error {
	fold(out, "", screen.Bold.On("FAILED", o.Color)+fmt.Sprintf(" case %d broke %s; of its %d calls %d are left", f.Failure.Case, screen.Safe(f.Broke), f.Calls, f.Left), o)
	for _, line := range head(f.Found, 40) {
		put(out, "  ", screen.Safe(line), o)
	}
	if f.Outcome != nil {
		fmt.Fprintln(out)
		if err := out.Flush(); err != nil {
			return err
		}
		if err := Timeline(out, *f.Outcome, o); err != nil {
			return err
		}
	}
	if f.Scenario != "" {
		fold(out, "", "as a scenario: toolbench run "+Quoted(asFile(f.Scenario))+seedOf(f), o)
		fold(out, "", "as a case: toolbench fuzz --replay "+Quoted(f.Case), o)
	} else {
		fmt.Fprintln(out, f.Text)
	}
	fold(out, "", "again: "+f.Again, o)
	return nil
}

func seedOf(f *FuzzFailure) string {
	if f.Outcome == nil {
		return ""
	}
	return fmt.Sprintf(" --seed %d", f.Outcome.Seed)
}

// asFile writes a path so that it is not taken for a scenario's name.
func asFile(file string) string {
	if strings.ContainsAny(file, `/\`) {
		return file
	}
	return "./" + file
}

// head are the first lines of a text, of a long one.
func head(text string, most int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > most {
		return append(lines[:most:most], fmt.Sprintf("... and %d lines more", len(lines)-most))
	}
	return lines
}

func replayedTable(out io.Writer, all []FuzzReplayed, o Options) {
	failed := 0
	for _, r := range all {
		if r.Broken == nil {
			continue
		}
		failed++
		fold(out, "", screen.Bold.On("FAILED", o.Color)+" "+screen.Safe(r.File)+" broke "+screen.Safe(r.Broken.Name), o)
		for _, line := range head(r.Broken.Found, 40) {
			put(out, "  ", screen.Safe(line), o)
		}
	}
	fmt.Fprintf(out, "%s: %d held, %d failed\n", plural(len(all), "case", "cases"), len(all)-failed, failed)
}

// FuzzList writes the invariants, and what else each case is checked for.
func FuzzList(w io.Writer, o Options) error {
	g := screen.Grid{Columns: []screen.Column{{Title: "Invariant"}, {Title: "Rule"}}}
	for _, p := range fuzz.Invariants() {
		g.Rows = append(g.Rows, []string{p.Name, p.About})
	}
	drawn, err := g.Draw(o.Width, o.ASCII)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, drawn)
	return err
}

// FuzzVersion is that of the JSON report of a run. It changes when a field goes
// or changes its meaning; fields may be added within a version.
const FuzzVersion = 1

type fuzzJSON struct {
	Version  int              `json:"version"`
	Engine   string           `json:"engine" enum:"des,full,both"`
	Seed     uint64           `json:"seed" jsonschema:"What all cases are made from."`
	Policies []string         `json:"policies"`
	Cases    uint64           `json:"cases"`
	Calls    uint64           `json:"calls"`
	Seconds  float64          `json:"seconds" jsonschema:"Real time." minimum:"0"`
	Seen     []situationJSON  `json:"situations" jsonschema:"Rare situations and how often they came up; all of them, also those that never did."`
	Failure  *fuzzFailureJSON `json:"failure,omitempty" jsonschema:"The failing case with the lowest number, made small; absent when all held."`
}

// fuzzReplayJSON is the report of cases from files.
type fuzzReplayJSON struct {
	Version  int            `json:"version"`
	Engine   string         `json:"engine" enum:"des,full,both"`
	Cases    int            `json:"cases"`
	Replayed []replayedJSON `json:"replayed"`
}

type situationJSON struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

type fuzzFailureJSON struct {
	Case     uint64 `json:"case" jsonschema:"Its number under the seed, from 0."`
	Broke    string `json:"broke" jsonschema:"The name of the invariant, or crash or hang."`
	Found    string `json:"found"`
	Log      string `json:"log" jsonschema:"What happened, a line an entry; empty where nothing is known."`
	Calls    int    `json:"calls" jsonschema:"Calls before it was made small."`
	Left     int    `json:"calls_left"`
	Again    string `json:"again" jsonschema:"The command that plays it again."`
	Scenario string `json:"scenario" jsonschema:"The case as a scenario's file."`
	File     string `json:"scenario_file" jsonschema:"Where that was written; empty if it could not be."`
	CaseFile string `json:"case_file" jsonschema:"Where the case was written for --replay."`
}

type replayedJSON struct {
	File  string `json:"file"`
	About string `json:"about"`
	Broke string `json:"broke" jsonschema:"Empty when all was well."`
	Found string `json:"found"`
}

// FuzzJSON writes one object as fuzz.schema.json describes it.
func FuzzJSON(w io.Writer, r FuzzReport) error {
	if r.Replayed != nil {
		return PrintJSON(w, fuzzReplayJSON{FuzzVersion, r.Engine, len(r.Replayed), replayedOf(r.Replayed)})
	}
	j := fuzzJSON{
		Version: FuzzVersion, Engine: r.Engine, Seed: r.Seed, Policies: present(r.Policies),
		Cases: r.Total.Cases, Calls: r.Total.Calls, Seconds: rounded(r.Took.Seconds(), 1000),
	}
	for i, s := range invariant.Goals() {
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
