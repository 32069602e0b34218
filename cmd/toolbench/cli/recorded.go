package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/promptcache"
	"toolbench/sim/recording"
	"toolbench/sim/requests"
	"toolbench/sim/tokens"
)

func onlyRecordings(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%q is no flag; a recorded session is named with --recording %s; see `%s --help`", args[0], args[0], cmd.CommandPath())
	}
	return nil
}

// sessions reads the recordings that flags name, one at a time: take is given each,
// so that a folder does not have to fit into memory. A file that only lies in a
// folder may be anything.
func (a *app) sessions(ctx context.Context, paths []string, take func(*requests.File) error) ([]reports.Skipped, error) {
	files, err := a.recordings(paths)
	if err != nil {
		return nil, err
	}
	var skipped []reports.Skipped
	taken := 0
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d files were read", taken+len(skipped), len(files))}
		}
		file, err := a.sessionFile(f.path)
		if errors.Is(err, recording.ErrNotRecording) && !f.named {
			skipped = append(skipped, reports.Skipped{File: f.path, Reason: strings.TrimPrefix(err.Error(), f.path+": ")})
			continue
		}
		if errors.Is(err, recording.ErrNotRecording) {
			err = fmt.Errorf("%w; name a cassette, an archive, a stream or a transcript (a listing of tools alone is counted with `toolbench tokens --catalog`)", err)
		}
		if err != nil {
			return nil, &exitError{ExitUsage, err}
		}
		taken++
		if file.Problems > 0 {
			a.say("%s: problems of its own: %d; `toolbench replay` names them", f.path, file.Problems)
		}
		if err := take(file); err != nil {
			return nil, harness(err)
		}
	}
	if taken == 0 {
		return nil, usage("%s: none of %d files is a recording; name a cassette, an archive or a transcript", strings.Join(paths, ", "), len(files))
	}
	return skipped, nil
}

func (a *app) sessionFile(path string) (*requests.File, error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	defer file.Close()
	return requests.Read(path, file, recording.Limits{})
}

// recordedCache plays recorded sessions against the model of the cache.
func (a *app) recordedCache(ctx context.Context, f cacheFlags, counter tokens.Counter, prices []promptcache.Prices) error {
	report := reports.RecordedCacheReport{Counter: counter, Prices: prices}
	var err error
	report.Skipped, err = a.sessions(ctx, f.recordings, func(file *requests.File) error {
		for _, s := range file.Sessions {
			one, err := promptcache.Replay(file.Name, s, counter)
			if err != nil {
				return err
			}
			report.Sessions = append(report.Sessions, one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.format == "json" {
		return wrap(reports.RecordedCacheJSON(a.Stdout, report))
	}
	return wrap(reports.RecordedCacheTable(a.Stdout, report, a.drawing(f.looks)))
}

// recordedTools counts the sessions of recordings, and gives their tools.
func (a *app) recordedTools(ctx context.Context, paths []string, counter tokens.Counter) (*tokens.Recordings, error) {
	all, err := tokens.NewRecordings()
	if err != nil {
		return nil, harness(err)
	}
	if len(paths) == 0 {
		return all, nil
	}
	skipped, err := a.sessions(ctx, paths, func(file *requests.File) error { return all.Add(file, counter) })
	for _, s := range skipped {
		a.say("%s: skipped: %s", s.File, s.Reason)
	}
	return all, err
}
