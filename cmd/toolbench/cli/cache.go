package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/fixtures"
	"toolbench/reports"
	"toolbench/sim/economics"
	"toolbench/sim/recording"
)

type cacheFlags struct {
	printing
	baseline
	counter    string
	recordings []string
	// minKept is the least that our ordering must keep of built-in definitions, in percent.
	minKept float64
}

func (a *app) cacheCommand() *cobra.Command {
	f := cacheFlags{counter: economics.CounterNames()[0]}
	cmd := &cobra.Command{Use: "cache", Short: "Show what the order of tools is worth", Args: onlyFlags("a recorded session is named with --recording")}
	flags := cmd.Flags()
	f.baseline.add(flags)
	f.briefly(flags, "show every break of a prefix, each session by itself, and what the figures rest on")
	repeatable(flags, &f.recordings, "recording", "a recorded session, or a folder of them, in place of the simulated one")
	flags.Var(&value[float64]{to: &f.minKept, parse: upTo(100), kind: "PERCENT", text: "0"}, "min-kept", "end with 1 if our ordering keeps less of the built-in definitions; 0 asks for nothing")
	own(flags, choice(&f.counter, "COUNTER", economics.CounterNames()...), "counter", "what a token is")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, _ []string) error { return a.cache(cmd.Context(), f) })
}

func (a *app) cache(ctx context.Context, f cacheFlags) error {
	against, err := a.readBaseline(f.baseline, "cache")
	if err != nil {
		return err
	}
	prices := fixed("prices/*.json", economics.ParsePrices)
	counter, err := economics.NewCounter(f.counter)
	if err != nil {
		return harness(err)
	}
	if len(f.recordings) > 0 {
		return a.recordedCache(ctx, f, counter, prices, against)
	}
	session := economics.Churn()
	results := economics.RunOrderings(session, counter)
	err = a.printAgainst(reports.CacheReport{Counter: counter, Session: session, Results: results, Prices: prices}, against, f.printing)
	return cmp.Or(err, keptEnough("", results, f.minKept))
}

// fixed reads embedded files of a kind, in the order of their names.
func fixed[T any](pattern string, parse func(file string, data []byte) (T, error)) (all []T) {
	files, err := fs.Glob(fixtures.Files, pattern)
	for _, file := range files {
		data, unread := fs.ReadFile(fixtures.Files, file)
		one, wrong := parse(path.Base(file), data)
		err = cmp.Or(err, unread, wrong)
		all = append(all, one)
	}
	if err != nil {
		panic(err) // they are part of the program
	}
	return all
}

// onlyFlags refuses arguments that are no flags, with the flag that they may have been
// meant for.
func onlyFlags(flag string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("%q is no flag; %s %s; see `%s --help`", args[0], flag, args[0], cmd.CommandPath())
		}
		return nil
	}
}

// sessions reads the recordings that flags name, one at a time: take is given each,
// so that a folder does not have to fit into memory. A file that only lies in a
// folder may be anything.
func (a *app) sessions(ctx context.Context, paths []string, take func(*recording.PromptFile)) ([]reports.Skipped, error) {
	files, err := a.recordings(paths)
	if err != nil {
		return nil, err
	}
	var skipped []reports.Skipped
	taken := 0
	shown := a.progress(true)
	defer shown.start(len(files))()
	for _, f := range files {
		shown.began(f.path)
		if ctx.Err() != nil {
			return nil, interrupted("interrupted: %d of %d files were read", taken+len(skipped), len(files))
		}
		file, err := readWith(a, f.path, func(r *os.File) (*recording.PromptFile, error) {
			return recording.ReadPrompts(f.path, r, recording.Limits{})
		})
		shown.ended()
		switch other := errors.Is(err, recording.ErrNotRecording); {
		case other && !f.named:
			skipped = append(skipped, skippedFile(f.path, err))
			continue
		case other:
			return nil, usage("%w; name a cassette, an archive, a stream or a transcript (a listing of tools alone is counted with `toolbench tokens --catalog`)", err)
		case err != nil:
			return nil, invalid(err)
		}
		taken++
		if file.Problems > 0 && !a.faulty[f.path] {
			a.faulty[f.path] = true
			a.logf("%s: problems of its own: %d; `toolbench replay` names them", f.path, file.Problems)
		}
		take(file)
	}
	if taken == 0 {
		return nil, usage("%s: none of %d files is a recording; name a cassette, an archive or a transcript", strings.Join(paths, ", "), len(files))
	}
	return skipped, nil
}

// skippedFile is a file that only lies in a folder, and why it is passed over.
func skippedFile(path string, err error) reports.Skipped {
	return reports.Skipped{File: path, Reason: strings.TrimPrefix(err.Error(), path+": ")}
}

// recordedCache plays recorded sessions against the model of the cache.
func (a *app) recordedCache(ctx context.Context, f cacheFlags, counter economics.Counter, prices []economics.Prices, against *reference) error {
	report := reports.RecordedCacheReport{Counter: counter, Prices: prices}
	rules := fixed("prices/automatic/*.json", economics.ParseCacheRules)
	var err error
	report.Skipped, err = a.sessions(ctx, f.recordings, func(file *recording.PromptFile) {
		for _, s := range file.Sessions {
			one := economics.ReplayCache(file.Name, s, counter)
			one.Automatic = economics.AutomateCache(s, rules, counter)
			report.Sessions = append(report.Sessions, one)
		}
	})
	if err != nil {
		return err
	}
	err, asked := a.printAgainst(report, against, f.printing), f.minKept == 0
	for _, s := range report.Sessions {
		err = cmp.Or(err, keptEnough(s.File+": ", s.Results, f.minKept))
		asked = asked || len(s.Results) > 0
	}
	if !asked {
		err = cmp.Or(err, usage("--min-kept %g: none of the recordings holds requests; record some with `toolbench tap`", f.minKept))
	}
	return err
}

// keptEnough is an error if one of our orderings keeps less of the built-in definitions.
func keptEnough(of string, results []economics.OrderingCost, least float64) error {
	for _, r := range results {
		if strings.HasPrefix(r.Ordering.Name, "ours") && r.Kept < least {
			return &exitError{ExitFailed, fmt.Errorf("%s%s keeps %.4g %% of the built-in definitions, less than --min-kept %g", of, r.Ordering.Name, r.Kept, least)}
		}
	}
	return nil
}

// recordedTools counts the sessions of recordings, and gives their tools.
func (a *app) recordedTools(ctx context.Context, paths []string, counter economics.Counter) (*economics.Recordings, error) {
	all := economics.NewRecordings()
	if len(paths) == 0 {
		return all, nil
	}
	skipped, err := a.sessions(ctx, paths, func(file *recording.PromptFile) { all.Add(file, counter) })
	for _, s := range skipped {
		a.logf("%s: skipped: %s", s.File, s.Reason)
	}
	return all, err
}
