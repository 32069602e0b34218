package cli

import (
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
	"toolbench/sim/economics/promptcache"
	"toolbench/sim/economics/tokens"
	"toolbench/sim/recording"
)

const cacheLong = `Shows what the order of tools is worth: a session of 40 turns in which MCP servers
connect late, drop, return and change what they list, played under four orderings
against a model of the provider's prompt cache.

For each ordering: the tokens that are read from the cache, written to it and missed,
the share of built-in definitions that stays in the cache, what that costs under each
price list, and what broke the prefix, to the byte and the tool.

With --recording, the same of sessions that somebody recorded, in any format that
replay reads: where the tools of the real requests changed from turn to turn, what
that cost, and what our order would have cost, with and without deferral. Breakpoints
are the recording's own, beside ours. What the API counted as read and written stands
beside as measured. A transcript holds no requests: only what was measured is shown.`

const cacheCodes = `Exit codes:
  0    played
  2    the command line is wrong, a file is missing or is no recording
  3    the harness itself failed
  130  interrupted`

const cacheExample = `  toolbench cache
  toolbench cache --counter o200k --format json
  toolbench cache --recording session.yaml
  toolbench cache --recording ./cassettes --format json`

type cacheFlags struct {
	looks
	counter, format string
	recordings      []string
	schema          bool
}

func (a *app) cacheCommand() *cobra.Command {
	f := cacheFlags{format: "table", counter: tokens.Names()[0]}
	cmd := &cobra.Command{
		Use: "cache", Short: "Show what the order of tools is worth", Long: cacheLong + "\n\n" + cacheCodes, Example: cacheExample,
		Args: onlyRecordings,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cache(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringArrayVar(&f.recordings, "recording", nil, "a recorded session, or a folder of them, in place of the simulated one; repeatable")
	counter := &value[string]{to: &f.counter, parse: oneOf(tokens.Names()...), kind: "COUNTER", text: f.counter}
	flags.VarPF(counter, "counter", "", "what a token is").Annotations = map[string][]string{ownValues: {"cache"}}
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and play nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"cache"}}
	return cmd
}

func (a *app) cache(ctx context.Context, f cacheFlags) error {
	if f.schema {
		return a.printAll(reports.Schema("cache"))
	}
	prices, err := priceLists()
	if err != nil {
		return harness(err)
	}
	counter, err := tokens.NewCounter(f.counter)
	if err != nil {
		return harness(err)
	}
	if len(f.recordings) > 0 {
		return a.recordedCache(ctx, f, counter, prices)
	}
	session := promptcache.Churn()
	results, err := promptcache.Run(session, counter)
	if err != nil {
		return harness(err)
	}
	report := reports.CacheReport{Counter: counter, Session: session, Results: results, Prices: prices}
	if f.format == "json" {
		return wrap(reports.CacheJSON(a.Stdout, report))
	}
	return wrap(reports.CacheTable(a.Stdout, report, a.drawing(f.looks)))
}

// priceLists are the embedded ones, by name of their files.
func priceLists() ([]promptcache.Prices, error) {
	files, err := fs.Glob(fixtures.Files, "prices/*.json")
	if err != nil {
		return nil, err
	}
	var all []promptcache.Prices
	for _, file := range files {
		data, err := fs.ReadFile(fixtures.Files, file)
		if err != nil {
			return nil, err
		}
		p, err := promptcache.ParsePrices(path.Base(file), data)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func onlyRecordings(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%q is no flag; a recorded session is named with --recording %s; see `%s --help`", args[0], args[0], cmd.CommandPath())
	}
	return nil
}

// sessions reads the recordings that flags name, one at a time: take is given each,
// so that a folder does not have to fit into memory. A file that only lies in a
// folder may be anything.
func (a *app) sessions(ctx context.Context, paths []string, take func(*recording.PromptFile) error) ([]reports.Skipped, error) {
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
			a.logf("%s: problems of its own: %d; `toolbench replay` names them", f.path, file.Problems)
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

func (a *app) sessionFile(path string) (*recording.PromptFile, error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	defer file.Close()
	return recording.ReadPrompts(path, file, recording.Limits{})
}

// recordedCache plays recorded sessions against the model of the cache.
func (a *app) recordedCache(ctx context.Context, f cacheFlags, counter tokens.Counter, prices []promptcache.Prices) error {
	report := reports.RecordedCacheReport{Counter: counter, Prices: prices}
	var err error
	report.Skipped, err = a.sessions(ctx, f.recordings, func(file *recording.PromptFile) error {
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
	skipped, err := a.sessions(ctx, paths, func(file *recording.PromptFile) error { return all.Add(file, counter) })
	for _, s := range skipped {
		a.logf("%s: skipped: %s", s.File, s.Reason)
	}
	return all, err
}
