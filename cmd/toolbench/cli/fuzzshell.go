package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolbench/property/fuzz"
	"toolbench/reports"
)

// scriptEnding is how the files of saved scripts end.
const scriptEnding = ".shell.sh"

// defaultScripts is how many scripts are run where nothing else is asked for.
const defaultScripts = 5_000

// fuzzShell runs in Bash what is called read-only.
func (a *app) fuzzShell(ctx context.Context, f fuzzFlags) error {
	running, cancel := f.timed(ctx)
	defer cancel()
	cfg := fuzz.ScriptConfig{Seed: f.seed, Scripts: uint64(f.runs), Jobs: f.jobs}
	if f.duration == 0 && f.runs == 0 {
		cfg.Scripts = defaultScripts
	}
	if f.shard.n > 0 {
		cfg.Shard, cfg.Shards = uint64(f.shard.i-1), uint64(f.shard.n)
	}
	p := a.fuzzProgress(f)
	total, err := fuzz.RunScripts(running, cfg, func(t fuzz.ScriptTotal) {
		p.show(fmt.Sprintf("%d scripts, %d run in Bash", t.Generated, t.Ran))
	})
	p.clear()
	if err := shellFailure(err); err != nil {
		return err
	}
	report := reports.FuzzShellReport{Seed: f.seed, Generated: total.Generated, Ran: total.Ran, Late: total.Late, Seconds: time.Since(p.began).Seconds()}
	if found := total.Finding; found != nil {
		file := a.keep(f, strings.TrimSuffix(fuzz.ScriptName(found.Seed, found.Number), scriptEnding)+scriptEnding, []byte(found.Small+"\n"))
		report.Finding = &reports.FuzzShellFinding{Number: found.Number, Script: found.Script, Small: found.Small, Changed: found.Changed, File: file}
	}
	if err := a.concludeFuzzShell(f, report); err != nil || ctx.Err() == nil {
		return err
	}
	return interrupted("interrupted after %d scripts", total.Ran)
}

// shellFailure words why no script could be run.
func shellFailure(err error) error {
	switch {
	case errors.Is(err, fuzz.ErrNoBash):
		return usage("%s; install it, or leave --engine shell out", err)
	case err != nil:
		return harness(err)
	}
	return nil
}

func (a *app) concludeFuzzShell(f fuzzFlags, r reports.FuzzShellReport) error {
	if err := a.print(r, f.printing); err != nil || !r.Failed() {
		return err
	}
	return a.failed()
}

// replayShell tries saved scripts again. One that is not called read-only is not run.
func (a *app) replayShell(ctx context.Context, f fuzzFlags) error {
	files, err := a.caseFiles(f.replay, scriptEnding)
	if err != nil {
		return err
	}
	report := reports.FuzzShellReport{Replayed: []reports.FuzzShellReplay{}}
	for _, file := range files {
		text, err := a.readFile(file, maxCaseBytes)
		if err != nil {
			return err
		}
		one := reports.FuzzShellReplay{File: file, ReadOnly: fuzz.ReadOnly(string(text))}
		if one.ReadOnly {
			if one.Changed, err = fuzz.ReplayScript(ctx, string(text)); err != nil {
				return shellFailure(err)
			}
		}
		report.Replayed = append(report.Replayed, one)
	}
	return a.concludeFuzzShell(f, report)
}
