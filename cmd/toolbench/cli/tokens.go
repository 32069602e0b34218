package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/cassette"
	"toolbench/sim/economics/tokens"
	"toolbench/sim/economics/tokens/endpoint"
	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/host"
	"toolbench/toolsys/settings"
)

const tokensLong = `Counts what the definitions of tools cost in each request, and what deferral saves
of it: with names only, with names and hints, and with the API's defer_loading.

Tools come from catalogues in files (a server's tools/list as a result, an array or
JSON lines; servers or tools by name; tools of requests to models; a folder of such
files, or with a tool a file: it is its server, and what holds no tool is passed
over), from live MCP servers, and from the built-in ones, which are counted when nothing
else is named. A figure counts a line a tool under the counter it names; the most expensive
tools come first. What ToolSearch itself costs is given, and is not in the totals.

With --recording, the tools of recorded requests, in any format that replay reads: the
same figures for one request, and net figures over the whole session, less ToolSearch's
definition in each request and the searches that would have had to load what was
called; and which tools were never called. A transcript holds no tools.

--counter count_tokens asks the Messages API itself, for --model: 6 requests for totals
and one for each of the --measure most expensive tools; all else is apportioned by bytes, and
marked so. The key is the value of the variable that --key-env names; with --cassette the
answers come from a cassette, and with --record they go into it, secrets blanked.`

const tokensExample = `  toolbench tokens --builtin
  toolbench tokens --catalog tools.json --counter o200k --model claude-sonnet-4-5
  toolbench tokens --mcp 'npx -y @modelcontextprotocol/server-everything'
  toolbench tokens --mcp-config .mcp.json --format json
  toolbench tokens --recording session.yaml
  toolbench tokens --catalog tools.json --counter count_tokens --model claude-sonnet-4-5`

const tokensCodes = `Exit codes:
  0    everything was counted
  2    the command line or a catalogue is wrong, or no server could be listed; a
       server that fails beside others is named, and the others are counted
  3    the harness itself failed
  130  interrupted`

type tokensFlags struct {
	looks
	catalogs, commands, urls, configs []string
	recordings                        []string
	endpoint                          endpointFlags
	builtin, schema                   bool
	counter, model, format            string
	percent, top                      int
	limit                             time.Duration
}

func (a *app) tokensCommand() *cobra.Command {
	f := tokensFlags{format: "table", counter: tokens.Names()[0], top: 10, percent: 10}
	cmd := &cobra.Command{
		Use: "tokens", Short: "Count what tool definitions cost", Long: tokensLong + "\n\n" + tokensCodes, Example: tokensExample,
		Args: nothingElse,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tokens(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringArrayVar(&f.catalogs, "catalog", nil, "a catalogue's file, or a folder of them; repeatable")
	flags.StringArrayVar(&f.recordings, "recording", nil, "a recorded session, or a folder of them; repeatable")
	flags.BoolVar(&f.builtin, "builtin", false, "the built-in tools")
	flags.StringArrayVar(&f.commands, "mcp", nil, "an MCP server's command over stdio, with its arguments; repeatable")
	flags.StringArrayVar(&f.urls, "mcp-url", nil, "an MCP server's address over streamable HTTP; repeatable")
	flags.StringArrayVar(&f.configs, "mcp-config", nil, "a .mcp.json that names servers; repeatable")
	counter := &value[string]{to: &f.counter, parse: oneOf(counterNames()...), kind: "COUNTER", text: f.counter}
	flags.VarPF(counter, "counter", "", "what a token is: "+strings.Join(counterNames(), ", ")).Annotations = map[string][]string{ownValues: {"tokens"}}
	flags.StringVar(&f.model, "model", "", "whose window the automatic threshold is taken of; of a recording, its first model")
	f.endpoint.add(flags)
	flags.Var(&value[int]{to: &f.percent, parse: atLeast(1), kind: "N", text: "10"}, "percent", "the automatic threshold, in percent of the window")
	flags.Var(&value[int]{to: &f.top, parse: atLeast(0), kind: "N", text: "10"}, "top", "how many of the most expensive tools the table shows; 0 shows all")
	flags.DurationVar(&f.limit, "timeout", 30*time.Second, "what each live server has to answer")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and count nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"tokens"}}
	return cmd
}

func nothingElse(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%q is no flag; a file is named with --catalog %s; see `%s --help`", args[0], args[0], cmd.CommandPath())
	}
	return nil
}

// tokens is the way from flags to the report.
func (a *app) tokens(ctx context.Context, f tokensFlags) error {
	if f.schema {
		return a.printAll(reports.Schema("tokens"))
	}
	counter, err := a.provisional(f)
	if err != nil {
		return err
	}
	tools, failures, err := a.countable(ctx, f)
	if err != nil {
		return err
	}
	recorded, err := a.recordedTools(ctx, f.recordings, counter)
	if err != nil {
		return err
	}
	tools = append(tools, recorded.Tools()...)
	if ctx.Err() != nil {
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted")}
	}
	for _, failed := range failures {
		a.logf("MCP server %q: %s", failed.Server, failed.Err)
	}
	if len(tools)+len(recorded.Sessions) == 0 {
		return usage("there is no tool to count: none of the servers could be listed, or they have none")
	}
	f.model = cmp.Or(f.model, recorded.Model)
	report, err := a.counted(ctx, tools, counter, f)
	if err != nil {
		return err
	}
	if report.Sessions = recorded.Sessions; report.Measurement != nil && len(f.recordings) > 0 {
		again, err := a.recordedTools(ctx, f.recordings, report.Counter) // under what was measured
		if err != nil {
			return err
		}
		report.Sessions = again.Sessions
	}
	if f.format == "json" {
		return wrap(reports.TokensJSON(a.Stdout, report, failures))
	}
	return wrap(reports.TokensTable(a.Stdout, report, failures, f.top, a.drawing(f.looks)))
}

// counted counts the tools, and ToolSearch beside them.
func (a *app) counted(ctx context.Context, tools []tokens.Tool, counter tokens.Counter, f tokensFlags) (tokens.Report, error) {
	_, searcher, err := tokens.Builtins(settings.Settings{})
	if err != nil {
		return tokens.Report{}, harness(err)
	}
	options := tokens.Options{Counter: counter, Model: f.model, Percent: f.percent}
	if f.counter == tokens.CountTokens && len(tools) > 0 {
		return a.measured(ctx, tools, searcher, options, f.endpoint)
	}
	alone, err := tokens.Count([]tokens.Tool{searcher}, tokens.Options{Counter: counter})
	if err != nil {
		return tokens.Report{}, harness(err)
	}
	report, err := tokens.Count(tools, options)
	report.Search = alone.Total.Full
	if err != nil {
		return tokens.Report{}, harness(err)
	}
	return report, nil
}

// countable gathers the tools of all sources.
func (a *app) countable(ctx context.Context, f tokensFlags) ([]tokens.Tool, []mcpserve.ListFailure, error) {
	catalogue, err := a.catalogues(f.catalogs)
	if err != nil {
		return nil, nil, err
	}
	specs, failures, err := a.specs(f)
	if err != nil {
		return nil, nil, err
	}
	listed, more := mcpserve.ListServers(ctx, specs, a.Env, f.limit)
	failures = append(failures, more...)
	joined, err := join(catalogue, listed)
	if err != nil {
		return nil, nil, err
	}
	all := tokens.Served(joined)
	if f.builtin || len(f.catalogs)+len(f.commands)+len(f.urls)+len(f.configs)+len(f.recordings) == 0 {
		own, _, err := tokens.Builtins(settings.Settings{})
		if err != nil {
			return nil, nil, harness(err)
		}
		all = append(own, all...)
	}
	return all, failures, nil
}

// endpointFlags are how the API's count_tokens is reached.
type endpointFlags struct {
	baseURL, keyEnv string
	cassette        cassetteFlags
	worst           int
}

// apiAddress is the Messages API's official address.
const apiAddress = "https://api.anthropic.com/"

func (f *endpointFlags) add(flags *pflag.FlagSet) {
	f.worst = 5
	flags.StringVar(&f.baseURL, "base-url", apiAddress, "with count_tokens: the API's address")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "with count_tokens: the variable that holds the API's key")
	flags.StringVar(&f.cassette.file, "cassette", "", "with count_tokens: a cassette that answers in place of the API")
	flags.BoolVar(&f.cassette.record, "record", false, "with --cassette: ask the API and write the cassette anew")
	flags.Var(&value[int]{to: &f.worst, parse: atLeast(0), kind: "N", text: "5"}, "measure", "with count_tokens: how many of the most expensive tools are measured one by one")
}

// counterNames are the counters there are, the default first.
func counterNames() []string { return append(tokens.Names(), tokens.CountTokens) }

// provisional is the counter to begin with: what count_tokens will give is not known
// before the tools are.
func (a *app) provisional(f tokensFlags) (tokens.Counter, error) {
	name := f.counter
	if name == tokens.CountTokens {
		name = tokens.Names()[0]
	} else if f.endpoint.cassette.file != "" || f.endpoint.cassette.record {
		return tokens.Counter{}, usage("--cassette and --record are of --counter %s; --counter %s asks nobody", tokens.CountTokens, name)
	}
	c, err := tokens.NewCounter(name)
	if err != nil {
		return tokens.Counter{}, harness(err)
	}
	return c, nil
}

// measured asks the API.
func (a *app) measured(ctx context.Context, tools []tokens.Tool, searcher tokens.Tool, o tokens.Options, f endpointFlags) (tokens.Report, error) {
	if o.Model == "" {
		return tokens.Report{}, usage("--counter %s counts for a model; name it with --model", tokens.CountTokens)
	}
	key, _ := a.lookup(f.keyEnv)
	rt, done, err := a.transport(f.cassette, key, f.keyEnv)
	if err != nil {
		return tokens.Report{}, err
	}
	m, err := endpoint.Measure(ctx, endpoint.Config{BaseURL: f.baseURL, Key: key, Model: o.Model, Transport: rt, Retries: f.cassette.retries()}, tools, searcher, f.worst)
	if err == nil {
		err = done()
	}
	if err != nil {
		return tokens.Report{}, unanswered(ctx, err, f.cassette)
	}
	r, err := tokens.Measured(tools, o, m)
	if err != nil {
		return tokens.Report{}, harness(err)
	}
	return r, nil
}

// unanswered sorts what kept a service from answering.
func unanswered(ctx context.Context, err error, f cassetteFlags) error {
	var refused *endpoint.Refused
	var missed *cassette.MissError
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, errors.New("interrupted")}
	case errors.As(err, &refused):
		return usage("%s; check --model, --base-url and the key", refused)
	case errors.As(err, &missed):
		return usage("%s\nthe tools, the model or the number to measure are not those of the recording; --record asks again", missed)
	case f.file != "" && !f.record:
		return usage("%s: %s", f.file, err)
	}
	return harness(fmt.Errorf("no answer: %w", err))
}

// cassetteFlags name a cassette between the program and a service.
type cassetteFlags struct {
	file   string
	record bool
}

// retries are for the network only.
func (f cassetteFlags) retries() int {
	if f.file != "" && !f.record {
		return 0
	}
	return 2
}

// transport is the way to a service: a cassette, the network, or the network with a
// cassette that takes it down; done ends it. The key is blanked in the cassette.
func (a *app) transport(f cassetteFlags, key, keyEnv string) (rt http.RoundTripper, done func() error, err error) {
	nothing := func() error { return nil }
	switch {
	case f.file == "" && f.record:
		return nil, nil, usage("--record needs the cassette to write: --cassette FILE.yaml")
	case f.file != "" && !f.record:
		_, rt, err = a.player(f.file)
		return rt, nothing, err
	case key == "":
		return nil, nil, usage("there is no key: set %s, or name a recorded cassette with --cassette", keyEnv)
	}
	return a.recordedTransport(f, key)
}

// network is the machine's own way out, with its proxy settings.
func (a *app) network() http.RoundTripper { return http.DefaultTransport }

// player answers from a cassette at once: how long the service took does not matter here.
func (a *app) player(file string) (*cassette.Cassette, http.RoundTripper, error) {
	path := a.path(file)
	c, err := cassette.LoadFile(host.DirFS(filepath.Dir(path)), filepath.Base(path), cassette.Limits{})
	if err != nil {
		return nil, nil, usage("%s", err)
	}
	c.Name = file
	p, err := cassette.NewPlayer(c, cassette.Options{Wait: func(context.Context, string, time.Duration) error { return nil }})
	if err != nil {
		return nil, nil, usage("%s", err)
	}
	return c, p, nil
}
