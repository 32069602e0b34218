package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"toolbench/reports"
	"toolbench/sim/replay"
)

// maxReportBytes bounds a stored report.
const maxReportBytes = 256 << 20

type compareFlags struct {
	printing
	thresholds []string
}

func (a *app) compareCommand() *cobra.Command {
	f := compareFlags{printing: printing{outputs: outputs{names: []string{"markdown"}}}}
	cmd := &cobra.Command{Use: "compare BEFORE AFTER", Short: "Show what differs between two reports"}
	flags := cmd.Flags()
	addThresholds(flags, &f.thresholds)
	flags.BoolVar(&f.all, "all", false, "show every change, and every call that moved")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.compare(cmd.Context(), args, f) })
}

func addThresholds(flags *pflag.FlagSet, to *[]string) {
	repeatable(flags, to, "fail-if", "end with 1 if this holds, as 'makespan > +5%' or 'tokens > +500'")
}

// compare runs the command and gives the error that carries its exit code.
func (a *app) compare(ctx context.Context, args []string, f compareFlags) error {
	if len(args) != 2 {
		return usage("name two reports or folders of recordings, as in `toolbench compare before.json after.json`")
	}
	thresholds, err := a.parseThresholds(f.thresholds)
	if err != nil {
		return err
	}
	sides, err := tryEach(args, func(name string) (reports.Stored, error) { return a.comparable(ctx, name) })
	if err != nil {
		return err
	}
	c, err := reports.Compare(sides[0], sides[1])
	if err != nil {
		return usage("%s and %s: %s", args[0], args[1], err)
	}
	c.Before, c.After = args[0], args[1]
	report := reports.CompareReport{Comparison: c, All: f.all}
	if report.Exceeded, err = a.checkAll(c, thresholds); err != nil {
		return err
	}
	return judged(a.print(report, f.printing), worse(report))
}

// judged gives the error of a report that was printed, or that with which one of failures ends.
func judged(printed error, failures bool) error {
	if printed != nil || !failures {
		return printed
	}
	return failed()
}

// worse reports whether something newly fails, or exceeds a threshold.
func worse(r reports.CompareReport) bool { return r.Failing() > 0 || len(r.Exceeded) > 0 }

func (a *app) parseThresholds(texts []string) ([]reports.Threshold, error) {
	all, err := tryEach(texts, reports.ParseThreshold)
	if err != nil {
		return nil, usage("%s--fail-if %s", a.at("fail-if"), err)
	}
	return all, nil
}

func (a *app) checkAll(c *reports.Comparison, thresholds []reports.Threshold) ([]reports.Exceeded, error) {
	var all []reports.Exceeded
	for _, t := range thresholds {
		some, err := c.Check(t)
		if err != nil {
			return nil, usage("%s--fail-if %s", a.at("fail-if"), err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// comparable reads what an argument names: a stored report, or recordings, which are
// replayed first.
func (a *app) comparable(ctx context.Context, name string) (reports.Stored, error) {
	var noReport error
	if isFile(a.path(name)) {
		stored, err := a.storedReport(name)
		if !errors.Is(err, reports.ErrNotReport) {
			return stored, err
		}
		noReport = err
	}
	files, err := a.recordings([]string{name})
	if err != nil {
		return reports.Stored{}, err
	}
	done := &replayed{}
	for i, file := range files {
		done.take(file, a.replayFile(ctx, file, replay.Options{Secrets: a.secrets()}))
		if ctx.Err() != nil {
			return reports.Stored{}, interrupted("interrupted: %d of %d files were replayed", i, len(files))
		}
	}
	switch {
	case len(done.failed) > 0:
		return reports.Stored{}, harness(errors.Join(done.failed...))
	case len(done.Recordings) == 0 && noReport != nil:
		return reports.Stored{}, fmt.Errorf("%w; it is no recording either", noReport)
	case len(done.Recordings) == 0:
		return reports.Stored{}, usage("%s: none of its %d files is a recording; name a folder of recordings, or a report that --format json=FILE wrote", name, len(files))
	}
	return reports.StoredOf("replay", done.ReplayReport), nil
}

// storedReport reads a JSON report from a file.
func (a *app) storedReport(name string) (reports.Stored, error) {
	data, err := a.readFile(name, maxReportBytes)
	if err != nil {
		return reports.Stored{}, err
	}
	data, _, _ = transform.Bytes(unicode.BOMOverride(transform.Nop), data) // shells of Windows write UTF-16
	if len(bytes.TrimSpace(data)) == 0 {
		return reports.Stored{}, usage("%s: it is empty; write a report with --format json=FILE", name)
	}
	stored, err := reports.Read(data)
	if err != nil {
		return reports.Stored{}, usage("%s: %w", name, err)
	}
	return stored, nil
}

// baseline are the flags of a command whose report is compared with an earlier one.
type baseline struct {
	file       string
	thresholds []string
}

func (b *baseline) add(flags *pflag.FlagSet) {
	flags.StringVar(&b.file, "baseline", "", "an earlier JSON report of this command: show what differs, and end with 1 if anything newly fails")
	addThresholds(flags, &b.thresholds)
}

// reference is what a report will be held against: an earlier one, or bounds alone.
type reference struct {
	baseline
	command    string
	earlier    *reports.Stored
	thresholds []reports.Threshold
}

// readBaseline reads what flags name before anything runs; nil is nothing.
func (a *app) readBaseline(b baseline, command string) (*reference, error) {
	if b.file == "" && len(b.thresholds) == 0 {
		return nil, nil
	}
	to := &reference{baseline: b, command: command}
	var err error
	if to.thresholds, err = a.parseThresholds(b.thresholds); err != nil {
		return nil, err
	}
	for _, t := range to.thresholds {
		if b.file == "" && t.OfChange() {
			return nil, usage("%s--fail-if %q is about a change: name the earlier report with --baseline FILE", a.at("fail-if"), t.Text)
		}
	}
	if b.file == "" {
		return to, nil
	}
	stored, err := a.storedReport(b.file)
	if err != nil {
		return nil, fmt.Errorf("%w; a baseline is what `toolbench %s --format json=FILE` writes", err, command)
	}
	if stored.Command != command {
		return nil, usage("%s: it is a report of %s and no baseline of %s", b.file, stored.Command, command)
	}
	to.earlier = &stored
	return to, nil
}

// printAgainst prints a report, and how it compares.
func (a *app) printAgainst(r reports.Report, to *reference, p printing) error {
	if err := a.print(r, p); err != nil || to == nil {
		return err
	}
	return a.compareWith(reports.StoredOf(to.command, r), to, p.outputs, p.displayFlags)
}

// compareWith shows how a new report compares with the baseline: below the report, or on
// the error output where the standard output is for programs. The error carries the
// verdict. The new report is kept for bless.
func (a *app) compareWith(now reports.Stored, to *reference, outs outputs, l displayFlags) error {
	if to == nil {
		return nil
	}
	earlier := now
	if to.earlier != nil {
		earlier = *to.earlier
	}
	c, err := reports.Compare(earlier, now)
	if err != nil {
		return usage("--baseline %s: %s", to.file, err)
	}
	report := reports.CompareReport{Comparison: c}
	if report.Exceeded, err = a.checkAll(c, to.thresholds); err != nil {
		return err
	}
	w := a.Stdout
	if !outs.forPeople() {
		w = a.Stderr
	}
	if to.earlier == nil {
		err = reports.PrintExceeded(w, report.Exceeded, a.drawing(l))
	} else {
		c.Before, c.After = to.file, "now"
		var text bytes.Buffer
		if now.Write(&text) == nil {
			a.remember(candidate, lastRun{Baseline: to.file, Report: text.Bytes()}) // for bless
		}
		fmt.Fprintln(w)
		err = reports.Print(w, report, "table", a.drawing(l))
	}
	return judged(wrap(err), worse(report))
}

// candidate is where the report of the last run with a baseline is kept.
const candidate = "candidate"

func (a *app) blessCommand() *cobra.Command {
	return explained(&cobra.Command{
		Use: "bless [NEW BASELINE]", Short: "Take a new report as the baseline",
		RunE: func(_ *cobra.Command, args []string) error { return a.bless(args) },
	})
}

// bless replaces a baseline, in one step, by a report that was held against it.
func (a *app) bless(args []string) error {
	var stored reports.Stored
	var target string
	switch len(args) {
	case 0:
		kept, err := a.recall(candidate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return usage("no run with --baseline is remembered here; name the new report and the baseline, as in `toolbench bless new.json baseline.json`")
		case err != nil:
			return usage("%s; run again with --baseline", err)
		}
		if stored, err = reports.Read(kept.Report); err != nil {
			return usage("the report that was kept cannot be used: %w; run again with --baseline", err)
		}
		target = kept.Baseline
	case 2:
		var err error
		if stored, err = a.storedReport(args[0]); err != nil {
			return err
		}
		target = args[1]
	default:
		return usage("name the new report and the baseline, as in `toolbench bless new.json baseline.json`, or neither after a run with --baseline")
	}
	summary, err := a.blessed(target, stored)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := stored.Write(&text); err != nil {
		return harness(err)
	}
	if err := a.writeNamed(target, text.Bytes()); err != nil {
		return err
	}
	return a.printAll([]byte(string(reports.Safe(target)) + ": " + summary))
}

// blessed words what becomes of the baseline, and refuses a file that is none.
func (a *app) blessed(target string, now reports.Stored) (string, error) {
	if _, err := os.Stat(a.path(target)); errors.Is(err, os.ErrNotExist) {
		return "a new baseline of " + now.Command, nil
	}
	before, err := a.storedReport(target)
	if err != nil {
		return "", fmt.Errorf("%w; bless replaces reports only", err)
	}
	c, err := reports.Compare(before, now)
	if err != nil {
		return "", usage("%s: %s", target, err)
	}
	return c.Summary(), nil
}
