package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/toolsys/host"
)

const upgradeLong = `Lifts files of earlier formats to those this program writes: cassettes as go-vcr v1
to v4 write them, and scenarios without a format.

All of them are read as they are, so nothing must be upgraded. A lifted cassette has a
duration and event times in every response (those it was played with before), and no
members that replay does not use; a scenario has the line with its format. The
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

// upgrade is the way from arguments to the exit code.
func (a *app) upgrade(ctx context.Context, args []string, f upgradeFlags) error {
	if f.schema {
		return a.printAll(reports.Schema("upgrade"))
	}
	if len(args) == 0 {
		return usage("name a file or a folder, as in `toolbench upgrade .`")
	}
	files, err := a.recordings(args)
	if err != nil {
		return err
	}
	report := reports.UpgradeReport{Version: reports.UpgradeVersion, Files: []reports.UpgradedFile{}}
	for _, file := range files {
		if ctx.Err() != nil {
			break
		}
		if !file.named && !isYAML(file.path) {
			continue
		}
		u, err := a.lift(file.path, f.check)
		if errors.Is(err, scenario.ErrNeither) && !file.named {
			report.Skipped++
			continue
		}
		report.Files = append(report.Files, u)
	}
	if err := a.printUpgrade(report, f); err != nil {
		return err
	}
	return concludeUpgrade(ctx, report, f.check)
}

// lift upgrades one file, or reports what it would do.
func (a *app) lift(name string, check bool) (reports.UpgradedFile, error) {
	u := reports.UpgradedFile{File: name, Old: []string{}, Status: "failed"}
	path, err := filepath.EvalSymlinks(a.path(name))
	if err == nil {
		err = a.liftInto(&u, path, check)
	}
	if err != nil {
		u.Error = fmt.Sprint(reason(err))
	}
	return u, err
}

func (a *app) liftInto(u *reports.UpgradedFile, path string, check bool) error {
	data, err := readLimited(path)
	if err != nil {
		return err
	}
	r, err := scenario.Upgrade(u.File, data)
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
func (a *app) reportSecrets(u *reports.UpgradedFile, check bool) {
	became := "blanked"
	switch {
	case u.Kind == scenario.KindScenario:
		became = "left as it is; a scenario stays byte for byte, so remove it by hand"
	case check:
		became = "to be blanked"
	}
	for _, c := range u.Secrets {
		times := ""
		if c.Times > 1 {
			times = fmt.Sprintf(", %d times", c.Times)
		}
		a.logf("%s: %s: %s%s: %s", u.File, c.Where, c.Kind, times, became)
	}
}

// mostUpgraded bounds a file, in bytes: as much as a cassette may have.
const mostUpgraded = 64 << 20

func readLimited(path string) ([]byte, error) {
	f, err := host.OpenFile(path)
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

// upgradeFailure is why a file failed; most errors begin with its name.
func upgradeFailure(u reports.UpgradedFile) error {
	if strings.HasPrefix(u.Error, u.File) {
		return errors.New(u.Error)
	}
	return fmt.Errorf("%s: %s", u.File, u.Error)
}

// concludeUpgrade gives the error that carries the exit code.
func concludeUpgrade(ctx context.Context, r reports.UpgradeReport, check bool) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted after %d files", len(r.Files))}
	case r.Count("failed") > 0:
		var errs []error
		for _, f := range r.Files {
			if f.Status == "failed" {
				errs = append(errs, upgradeFailure(f))
			}
		}
		return &exitError{ExitUsage, errors.Join(errs...)}
	case len(r.Files) == 0:
		return usage("none of the files is a cassette or a scenario")
	case check && r.Count("old") > 0:
		return &exitError{ExitFailed, fmt.Errorf("%d of %d files are old; run `toolbench upgrade` on them", r.Count("old"), len(r.Files))}
	}
	return nil
}

func (a *app) printUpgrade(r reports.UpgradeReport, f upgradeFlags) error {
	if f.format == "json" {
		return wrap(reports.UpgradeJSON(a.Stdout, r))
	}
	return wrap(reports.UpgradeTable(a.Stdout, r, a.drawing(f.looks)))
}
