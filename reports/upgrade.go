package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"toolbench/reports/screen"
	"toolbench/sim/scenario"
	"toolbench/sim/secret"
)

// UpgradeVersion is the version of the JSON that upgrade writes.
const UpgradeVersion = 1

// UpgradeReport is what became of files of earlier formats.
type UpgradeReport struct {
	Version int            `json:"version"`
	Files   []UpgradedFile `json:"files"`
	Skipped int            `json:"skipped" jsonschema:"Files in folders that are neither cassette nor scenario."`
}

// UpgradedFile is what became of one file.
type UpgradedFile struct {
	File    string            `json:"file"`
	Kind    scenario.FileKind `json:"kind,omitempty" enum:"cassette,scenario"`
	From    int               `json:"from,omitempty" jsonschema:"The format it has."`
	To      int               `json:"to,omitempty" jsonschema:"The format this program writes."`
	Old     []string          `json:"old" jsonschema:"What was old in it, in words."`
	Secrets []secret.Count    `json:"secrets,omitempty" jsonschema:"What was blanked in a cassette, or is left in a scenario."`
	Status  string            `json:"status" jsonschema:"old with --check only: it was not written." enum:"current,old,upgraded,failed"`
	Error   string            `json:"error,omitempty" jsonschema:"Why it failed."`
}

// Count is how many files have a status.
func (r UpgradeReport) Count(status string) int {
	n := 0
	for _, f := range r.Files {
		if f.Status == status {
			n++
		}
	}
	return n
}

// UpgradeJSON writes one object as upgrade.schema.json describes it.
func UpgradeJSON(w io.Writer, r UpgradeReport) error { return PrintJSON(w, r) }

// UpgradeTable writes a row for each file that is not current, and how many files have
// each status.
func UpgradeTable(w io.Writer, r UpgradeReport, o Options) error {
	out := bufio.NewWriter(w)
	g := screen.Grid{Columns: []screen.Column{{Title: "File"}, {Title: "Kind"}, {Title: "Status"}, {Title: "What was old"}}}
	for _, f := range r.Files {
		if f.Status != "current" {
			g.Rows = append(g.Rows, []string{screen.Safe(f.File), string(f.Kind), f.Status, strings.Join(f.Old, ", ")})
		}
	}
	if len(g.Rows) > 0 {
		drawn, err := g.Draw(o.Width, o.ASCII)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, drawn)
	}
	summary := fmt.Sprintf("%d current, %d upgraded, %d old, %d failed, %d other files",
		r.Count("current"), r.Count("upgraded"), r.Count("old"), r.Count("failed"), r.Skipped)
	foldLines(out, []string{summary}, o)
	return out.Flush()
}
