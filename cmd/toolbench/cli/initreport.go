package cli

import (
	"bufio"
	_ "embed" // the published schema
	"fmt"
	"path/filepath"
	"strconv"

	"toolbench/reports"
	"toolbench/reports/screen"
	"toolbench/sim/draft"
)

//go:embed init.schema.json
var initSchema []byte

type initJSON struct {
	Version   int         `json:"version"`
	Scenarios []draftJSON `json:"scenarios"`
}

type draftJSON struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Cassette string   `json:"cassette,omitempty"`
	Tree     string   `json:"tree,omitempty"`
	Files    int      `json:"files"`
	Turns    int      `json:"turns"`
	Calls    int      `json:"calls"`
	Answered int      `json:"answered"`
	Notes    []string `json:"notes"`
}

// printDrafts tells what was written, and how to run it.
func (a *app) printDrafts(drafts []draft.Draft, f initFlags) error {
	if f.format == "json" {
		return wrap(reports.PrintJSON(a.Stdout, draftsOf(drafts, f.out)))
	}
	looks := a.drawing(f.looks)
	out := bufio.NewWriter(a.Stdout)
	if f.from != "" {
		drawn, err := draftGrid(drafts).Draw(looks.Width, looks.ASCII)
		if err != nil {
			return wrap(err)
		}
		fmt.Fprintln(out, drawn)
	}
	target := f.out
	for _, d := range drafts {
		if len(drafts) == 1 {
			target = filepath.Join(f.out, d.File)
		}
		foldLines(out, draftNotes(d), looks)
	}
	foldLines(out, []string{screen.Safe("wrote " + target + "; run it with: toolbench run " + target)}, looks)
	return wrap(out.Flush())
}

// draftNotes are what is to be looked at in a draft, below its name.
func draftNotes(d draft.Draft) []string {
	var lines []string
	for i, n := range d.Notes {
		if i == 0 {
			lines = append(lines, screen.Safe(d.Name))
		}
		lines = append(lines, "- "+screen.Safe(n))
	}
	return lines
}

func draftsOf(drafts []draft.Draft, folder string) initJSON {
	out := initJSON{Version: 1, Scenarios: []draftJSON{}}
	for _, d := range drafts {
		j := draftJSON{Name: d.Name, File: filepath.Join(folder, d.File), Files: d.Files, Turns: d.Turns, Calls: d.Calls, Answered: d.Answered, Notes: append([]string{}, d.Notes...)}
		if d.Cassette != "" {
			j.Cassette = filepath.Join(folder, filepath.FromSlash(d.Cassette))
		}
		if d.Tree != "" {
			j.Tree = filepath.Join(folder, filepath.FromSlash(d.Tree))
		}
		out.Scenarios = append(out.Scenarios, j)
	}
	return out
}

func draftGrid(drafts []draft.Draft) screen.Grid {
	g := screen.Grid{Columns: []screen.Column{
		{Title: "Scenario"}, {Title: "Turns", Right: true}, {Title: "Calls", Right: true}, {Title: "Answered", Right: true},
		{Title: "Files", Right: true}, {Title: "Batches", Right: true}, {Title: "Makespan", Right: true},
	}}
	for _, d := range drafts {
		g.Rows = append(g.Rows, []string{screen.Safe(d.Name), strconv.Itoa(d.Turns), strconv.Itoa(d.Calls), strconv.Itoa(d.Answered),
			strconv.Itoa(d.Files), strconv.Itoa(len(d.Outcome.Batches)), d.Outcome.Makespan.String()})
	}
	return g
}
