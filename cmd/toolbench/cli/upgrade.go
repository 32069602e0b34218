package cli

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/reports/screen"
	"toolbench/sim/secret"
	"toolbench/sim/upgrade"
)

//go:embed upgrade.schema.json
var upgradeSchema []byte

const upgradeLong = `Lifts files of earlier formats to those this program writes: cassettes as go-vcr v1
to v4 write them, and scenarios without a format.

All of them are read as they are, so nothing must be upgraded. A lifted cassette has a
duration and event times in every response (those it was played with before), and no
members that replay does not use; a scenario has the line that says its format. The
rest of a scenario, comments too, stays byte for byte. Secrets in a cassette are blanked,
those in a scenario are left, and both are named with kind and place. A file is replaced in one step,
and only by one that reads back as the same; a current one is left alone.`

const upgradeExample = `  toolbench upgrade old.yaml
  toolbench upgrade ./scenarios ./cassettes
  toolbench upgrade --check .              for CI: writes nothing`

const upgradeCodes = `Exit codes:
  0    every file is current now
  1    with --check: a file is old
  2    the command line is wrong, or a file cannot be upgraded: it is none of ours, is
       damaged, or of a newer format
  130  interrupted`

type upgradeFlags struct {
	looks
	check, schema bool
	format        string
}

func (a *app) upgradeCommand() *cobra.Command {
	f := upgradeFlags{format: "table"}
	cmd := &cobra.Command{
		Use: "upgrade FILE|FOLDER...", Short: "Lift files of earlier formats", Long: upgradeLong + "\n\n" + upgradeCodes, Example: upgradeExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.upgrade(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.BoolVar(&f.check, "check", false, "write nothing, and end with 1 if a file is old")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and upgrade nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"upgrade"}}
	return cmd
}

// upgraded is what became of one file.
type upgraded struct {
	File string       `json:"file"`
	Kind upgrade.Kind `json:"kind,omitempty"`
	From int          `json:"from,omitempty"`
	To   int          `json:"to,omitempty"`
	Old  []string     `json:"old"`
	// Secrets are blanked in a cassette and left in a scenario.
	Secrets []secret.Count `json:"secrets,omitempty"`
	Status  string         `json:"status"` // current, old, upgraded, failed
	Error   string         `json:"error,omitempty"`
}

type upgradeReport struct {
	Version int        `json:"version"`
	Files   []upgraded `json:"files"`
	// Skipped counts files of folders that are something else.
	Skipped int `json:"skipped"`
}

// upgrade is the way from arguments to the exit code.
func (a *app) upgrade(ctx context.Context, args []string, f upgradeFlags) error {
	if f.schema {
		return a.printAll(upgradeSchema)
	}
	if len(args) == 0 {
		return usage("name a file or a folder, as in `toolbench upgrade .`")
	}
	files, err := a.recordings(args)
	if err != nil {
		return err
	}
	report := upgradeReport{Version: 1, Files: []upgraded{}}
	for _, file := range files {
		if ctx.Err() != nil {
			break
		}
		if !file.named && !isYAML(file.path) {
			continue
		}
		u, err := a.lift(file.path, f.check)
		if errors.Is(err, upgrade.ErrNeither) && !file.named {
			report.Skipped++
			continue
		}
		report.Files = append(report.Files, u)
	}
	if err := a.printUpgrade(report, f); err != nil {
		return err
	}
	return report.verdict(ctx, f.check)
}

// lift upgrades one file, or says what it would do.
func (a *app) lift(name string, check bool) (upgraded, error) {
	u := upgraded{File: name, Old: []string{}, Status: "failed"}
	path, err := filepath.EvalSymlinks(a.path(name))
	if err == nil {
		err = a.liftInto(&u, path, check)
	}
	if err != nil {
		u.Error = fmt.Sprint(reason(err))
	}
	return u, err
}

func (a *app) liftInto(u *upgraded, path string, check bool) error {
	data, err := readLimited(path)
	if err != nil {
		return err
	}
	r, err := upgrade.File(u.File, data)
	if err != nil {
		return err
	}
	u.Kind, u.From, u.To, u.Old, u.Secrets = r.Kind, r.From, r.To, append(u.Old, r.Old...), r.Secrets
	a.reportSecrets(u, check)
	switch {
	case len(r.Old) == 0:
		u.Status = "current"
	case check:
		u.Status = "old"
	case bytes.Equal(r.Text, data):
		u.Status = "current"
	default:
		if err := writeWhole(path, r.Text); err != nil {
			return fmt.Errorf("it cannot be written: %w", reason(err))
		}
		u.Status = "upgraded"
	}
	return nil
}

// reportSecrets names the secrets of a file, each by its kind and place, and what
// becomes of them.
func (a *app) reportSecrets(u *upgraded, check bool) {
	became := "blanked"
	switch {
	case u.Kind == upgrade.Scenario:
		became = "left as it is; a scenario stays byte for byte, so remove it by hand"
	case check:
		became = "to be blanked"
	}
	for _, c := range u.Secrets {
		times := ""
		if c.Times > 1 {
			times = fmt.Sprintf(", %d times", c.Times)
		}
		a.say("%s: %s: %s%s: %s", u.File, c.Where, c.Kind, times, became)
	}
}

// mostUpgraded bounds a file, in bytes: as much as a cassette may have.
const mostUpgraded = 64 << 20

func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostUpgraded+1))
	if err == nil && len(data) > mostUpgraded {
		err = fmt.Errorf("it is larger than %d bytes", mostUpgraded)
	}
	return data, err
}

func (r upgradeReport) count(status string) int {
	n := 0
	for _, f := range r.Files {
		if f.Status == status {
			n++
		}
	}
	return n
}

// failure is why a file failed; most errors begin with its name.
func (u upgraded) failure() error {
	if strings.HasPrefix(u.Error, u.File) {
		return errors.New(u.Error)
	}
	return fmt.Errorf("%s: %s", u.File, u.Error)
}

// verdict gives the error that carries the exit code.
func (r upgradeReport) verdict(ctx context.Context, check bool) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted after %d files", len(r.Files))}
	case r.count("failed") > 0:
		var errs []error
		for _, f := range r.Files {
			if f.Status == "failed" {
				errs = append(errs, f.failure())
			}
		}
		return &exitError{ExitUsage, errors.Join(errs...)}
	case len(r.Files) == 0:
		return usage("none of the files is a cassette or a scenario")
	case check && r.count("old") > 0:
		return &exitError{ExitFailed, fmt.Errorf("%d of %d files are old; run `toolbench upgrade` on them", r.count("old"), len(r.Files))}
	}
	return nil
}

func (a *app) printUpgrade(r upgradeReport, f upgradeFlags) error {
	if f.format == "json" {
		return wrap(reports.PrintJSON(a.Stdout, r))
	}
	g := screen.Grid{Columns: []screen.Column{{Title: "File"}, {Title: "Kind"}, {Title: "Status"}, {Title: "What was old"}}}
	for _, u := range r.Files {
		if u.Status == "current" {
			continue
		}
		old := strings.Join(u.Old, ", ")
		g.Rows = append(g.Rows, []string{screen.Safe(u.File), string(u.Kind), u.Status, old})
	}
	if len(g.Rows) > 0 {
		d := a.drawing(f.looks)
		drawn, err := g.Draw(d.Width, d.ASCII)
		if err != nil {
			return wrap(err)
		}
		if _, err := fmt.Fprintln(a.Stdout, drawn); err != nil {
			return wrap(err)
		}
	}
	summary := fmt.Sprintf("%d current, %d upgraded, %d old, %d failed, %d other files",
		r.count("current"), r.count("upgraded"), r.count("old"), r.count("failed"), r.Skipped)
	_, err := fmt.Fprintln(a.Stdout, strings.Join(screen.Fold(summary, a.drawing(f.looks).Width), "\n"))
	return wrap(err)
}
