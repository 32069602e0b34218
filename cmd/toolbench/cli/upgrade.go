package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/toolsys/host"
)

type upgradeFlags struct {
	printing
	check bool
}

func (a *app) upgradeCommand() *cobra.Command {
	var f upgradeFlags
	cmd := &cobra.Command{Use: "upgrade FILE|FOLDER...", Short: "Lift files of earlier formats"}
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing, and end with 1 if a file is old")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.upgrade(cmd.Context(), args, f) })
}

// upgrade runs the command and gives the error that carries its exit code.
func (a *app) upgrade(ctx context.Context, args []string, f upgradeFlags) error {
	if len(args) == 0 {
		return usage("name a file or a folder, as in `toolbench upgrade .`")
	}
	files, err := a.recordings(args)
	if err != nil {
		return err
	}
	report := reports.UpgradeReport{Version: reports.UpgradeVersion}
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
	if err := a.print(report, f.printing); err != nil {
		return err
	}
	return concludeUpgrade(ctx, report, f.check)
}

// lift upgrades one file, or reports what it would do.
func (a *app) lift(name string, check bool) (reports.UpgradedFile, error) {
	u := reports.UpgradedFile{File: name, Status: "failed"}
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
	file, err := host.OpenFile(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := readLimited(file, mostUpgraded)
	if err != nil {
		return err
	}
	r, err := scenario.Upgrade(u.File, data)
	if err != nil {
		return err
	}
	u.Kind, u.From, u.To, u.Old, u.Secrets = r.Kind, r.From, r.To, r.Old, r.Secrets
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
		return interrupted("interrupted after %d files", len(r.Files))
	case r.Count("failed") > 0:
		bad := slices.DeleteFunc(slices.Clone(r.Files), func(f reports.UpgradedFile) bool { return f.Status != "failed" })
		return invalid(errors.Join(each(bad, upgradeFailure)...))
	case len(r.Files) == 0:
		return usage("none of the files is a cassette or a scenario")
	case check && r.Count("old") > 0:
		return &exitError{ExitFailed, fmt.Errorf("%d of %d files are old; run `toolbench upgrade` on them", r.Count("old"), len(r.Files))}
	}
	return nil
}
