package cli

import (
	"context"
	"io/fs"
	"path"

	"github.com/spf13/cobra"

	"toolbench/fixtures"
	"toolbench/reports"
	"toolbench/sim/promptcache"
	"toolbench/sim/tokens"
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
are the recording's own, beside ours. What the API says it read and wrote stands
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
		return a.printAll(reports.CacheSchema())
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
