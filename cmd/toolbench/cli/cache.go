package cli

import (
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
price list, and what broke the prefix, to the byte and the tool.`

const cacheExample = `  toolbench cache
  toolbench cache --counter o200k --format json`

type cacheFlags struct {
	looks
	counter, format string
	schema          bool
}

func (a *app) cacheCommand() *cobra.Command {
	f := cacheFlags{format: "table", counter: tokens.Names()[0]}
	cmd := &cobra.Command{
		Use: "cache", Short: "Show what the order of tools is worth", Long: cacheLong, Example: cacheExample,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.cache(f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	counter := &value[string]{to: &f.counter, parse: oneOf(tokens.Names()...), kind: "COUNTER", text: f.counter}
	flags.VarPF(counter, "counter", "", "what a token is").Annotations = map[string][]string{ownValues: {"cache"}}
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and play nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"cache"}}
	return cmd
}

func (a *app) cache(f cacheFlags) error {
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
