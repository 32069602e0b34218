package reports

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"toolbench/reports/screen"
	"toolbench/sim/draft"
)

// InitVersion is the version of the JSON that init writes.
const InitVersion = 1

// InitReport is what init wrote into a folder.
type InitReport struct {
	Folder string
	Drafts []draft.Draft
	// Recorded is set where the drafts were made from a recording.
	Recorded bool
}

type initJSON struct {
	Version   int         `json:"version"`
	Scenarios []draftJSON `json:"scenarios"`
}

type draftJSON struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Cassette string   `json:"cassette,omitempty" jsonschema:"Absent when the scenario scripts its stream."`
	Tree     string   `json:"tree,omitempty" jsonschema:"The files that the session saw, as they stood at its start. Absent where it saw none."`
	Files    int      `json:"files" jsonschema:"How many those are, with those that stand in the scenario itself."`
	Turns    int      `json:"turns" jsonschema:"Of the recording; 0 without one."`
	Calls    int      `json:"calls"`
	Answered int      `json:"answered" jsonschema:"Calls with a recorded result."`
	Notes    []string `json:"notes" jsonschema:"What was assumed, and what does not fit the recording."`
}

// InitJSON writes one object as init.schema.json describes it.
func InitJSON(w io.Writer, r InitReport) error {
	out := initJSON{Version: InitVersion, Scenarios: []draftJSON{}}
	for _, d := range r.Drafts {
		j := draftJSON{Name: d.Name, File: filepath.Join(r.Folder, d.File), Files: d.Files, Turns: d.Turns, Calls: d.Calls, Answered: d.Answered, Notes: present(d.Notes)}
		if d.Cassette != "" {
			j.Cassette = filepath.Join(r.Folder, filepath.FromSlash(d.Cassette))
		}
		if d.Tree != "" {
			j.Tree = filepath.Join(r.Folder, filepath.FromSlash(d.Tree))
		}
		out.Scenarios = append(out.Scenarios, j)
	}
	return PrintJSON(w, out)
}

// InitTable writes what was written, what to look at in each draft, and how to run it.
func InitTable(w io.Writer, r InitReport, o Options) error {
	out := bufio.NewWriter(w)
	if r.Recorded {
		drawn, err := draftGrid(r.Drafts).Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	target := r.Folder
	for _, d := range r.Drafts {
		if len(r.Drafts) == 1 {
			target = filepath.Join(r.Folder, d.File)
		}
		foldLines(out, draftNotes(d), o)
	}
	foldLines(out, []string{screen.Safe("wrote " + target + "; run it with: toolbench run " + target)}, o)
	return out.Flush()
}

// draftNotes are a draft's notes below its name.
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
