package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/economics/retrieval"
	"toolbench/toolsys/search"
)

const searchLong = `Measures how well ToolSearch finds the tools of a catalogue, or shows what it finds.

With --queries, a file of queries that people have labelled with the tools that would
do, each ranker is asked all of them: hit@k is the share of queries with a relevant
tool among the first k, recall@k the mean share of a query's relevant tools that are
there, MRR the mean of 1/rank of the first one. The figures of queries at even and at
odd places stand beside the total: whoever tunes on one half can show the other.

With words instead, what each ranker finds for them, with scores and why. Scores of
different rankers cannot be compared.

A catalogue is a listing of tools in JSON, as servers give it, or an object a line. A
line of queries is {"query": ..., "relevant": ["server::tool", ...]}, with id, lang and
class where you like.

` + embeddingsLong

const searchExample = `  toolbench search --catalog tools.json 'send a message'
  toolbench search --catalog tools.json 'select:mcp__chat__send'
  toolbench search --catalog tools.jsonl --queries queries.jsonl
  toolbench search --catalog tools.jsonl --queries queries.jsonl --ranker lexicon --k 1,3,10 --format json
  toolbench search --catalog tools.jsonl --queries q.jsonl --embeddings http://localhost:11434/v1 --embeddings-model nomic-embed-text`

const searchCodes = `Exit codes:
  0    measured, or searched, whatever was found
  2    the command line, a catalogue or a file of queries is wrong
  3    the harness itself failed
  130  interrupted`

type searchFlags struct {
	looks
	catalogs []string
	queries  string
	rankers  []search.Ranker
	ks       []int
	max      int
	schema   bool
	format   string

	embeddings embeddingsFlags
}

func (a *app) searchCommand() *cobra.Command {
	f := searchFlags{format: "table", rankers: search.Rankers(), ks: []int{1, 5}}
	cmd := &cobra.Command{
		Use: "search --catalog FILE [WORDS...]", Short: "Measure how well ToolSearch finds tools", Long: searchLong + "\n\n" + searchCodes, Example: searchExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.search(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringArrayVar(&f.catalogs, "catalog", nil, "the tools to search, a file or a folder; may be given several times")
	flags.StringVar(&f.queries, "queries", "", "labelled queries to ask")
	flags.Var(&value[[]search.Ranker]{to: &f.rankers, parse: someRankers, kind: "RANKERS"}, "ranker",
		"these only, with commas: "+strings.Join(rankerNames(), ", "))
	flags.Var(&value[[]int]{to: &f.ks, parse: someKs, kind: "KS", text: "1,5"}, "k", "the ks of hit@k and recall@k")
	flags.Var(&value[int]{to: &f.max, parse: atLeast(1), kind: "N", text: strconv.Itoa(search.DefaultMax)}, "max", "how many tools to show for words")
	f.embeddings.add(flags)
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and search nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"search"}}
	return cmd
}

func rankerNames() []string {
	var names []string
	for _, r := range search.Rankers() {
		names = append(names, r.Name)
	}
	return names
}

// someRankers reads names separated by commas, each once, in the order given.
func someRankers(text string) ([]search.Ranker, error) {
	var asked []search.Ranker
	for name := range strings.SplitSeq(text, ",") {
		r, ok := search.RankerNamed(strings.TrimSpace(name))
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is no ranker; use %s", name, strings.Join(rankerNames(), ", "))
		case slices.ContainsFunc(asked, func(other search.Ranker) bool { return other.Name == r.Name }):
			return nil, fmt.Errorf("%s is there twice", r.Name)
		}
		asked = append(asked, r)
	}
	return asked, nil
}

// someKs reads numbers separated by commas, in order, each once.
func someKs(text string) ([]int, error) {
	var ks []int
	for field := range strings.SplitSeq(text, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || k < 1 || k > retrieval.Depth {
			return nil, fmt.Errorf("%q: write numbers from 1 to %d, with commas", field, retrieval.Depth)
		}
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return slices.Compact(ks), nil
}

// search is the way from arguments to the exit code.
func (a *app) search(ctx context.Context, args []string, f searchFlags) error {
	words := strings.Join(args, " ")
	switch {
	case f.schema:
		return a.printAll(reports.Schema("search"))
	case len(f.catalogs) == 0:
		return usage("name the tools to search, as in `toolbench search --catalog tools.json 'send a message'`")
	case f.queries == "" && strings.TrimSpace(words) == "":
		return usage("give the words to look for, as in `toolbench search --catalog FILE 'send a message'`, or give --queries FILE")
	case f.queries != "" && len(args) > 0:
		return usage("%q and --queries exclude each other: words are searched, queries are measured", words)
	}
	joined, err := a.catalogues(f.catalogs)
	if err != nil {
		return err
	}
	tools := searched{reports.SearchedTools{Files: f.catalogs, Servers: len(joined), Tools: joined.Tools()}, retrieval.NewPool(joined)}
	if f.queries == "" {
		return a.look(ctx, words, tools, f)
	}
	return a.measure(ctx, tools, f)
}

// readFile reads a file of at most so many bytes; of a larger one, not more.
func (a *app) readFile(name string, most int64) ([]byte, error) {
	file, err := os.Open(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, usage("%s: %s", name, reason(err))
	case int64(len(data)) > most:
		return nil, usage("%s: it is larger than %d bytes; split it", name, most)
	}
	return data, nil
}

// searched is the tools to search, and where they come from.
type searched struct {
	reports.SearchedTools
	pool retrieval.Pool
}

// look shows what the rankers find for words.
func (a *app) look(ctx context.Context, words string, s searched, f searchFlags) error {
	q, err := search.ParseQuery(words)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	report := reports.FindingsReport{Tools: s.SearchedTools, Words: words}
	for _, r := range f.rankers {
		report.Found = append(report.Found, reports.Finding{Ranker: r, Result: search.NewIndex(r, s.pool.Entries, nil).Search(q, f.max)})
	}
	v, err := a.vectors(ctx, s.pool, []string{words}, f.embeddings)
	if err != nil {
		return err
	}
	if v != nil {
		report.Found = append(report.Found, reports.Finding{Ranker: v.Label(), Result: v.Search(words, q, f.max)})
	}
	if f.format == "json" {
		return wrap(reports.FindingsJSON(a.Stdout, report))
	}
	return wrap(reports.FindingsTable(a.Stdout, report, a.drawing(f.looks)))
}

// measure asks every ranker the labelled queries.
func (a *app) measure(ctx context.Context, tools searched, f searchFlags) error {
	data, err := a.readFile(f.queries, retrieval.MaxBytes)
	if err != nil {
		return err
	}
	queries, err := retrieval.Parse(f.queries, data)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	var standings []retrieval.Standing
	for _, r := range f.rankers {
		if ctx.Err() != nil {
			return &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d rankers were asked", len(standings), len(f.rankers))}
		}
		standings = append(standings, retrieval.Measure(tools.pool, queries, r, f.ks))
	}
	v, err := a.vectors(ctx, tools.pool, retrieval.Texts(queries), f.embeddings)
	if err != nil {
		return err
	}
	if v != nil {
		standings = append(standings, v.Measure(queries, f.ks))
	}
	if s := standings[0]; s.All.Queries+s.NoneExpected == 0 {
		return usage("%s: none of its %d queries names a tool of %s; are they for another catalogue?", f.queries, len(queries), strings.Join(f.catalogs, ", "))
	}
	report := reports.SearchReport{Tools: tools.SearchedTools, File: f.queries, Ks: f.ks, Standings: standings}
	if f.format == "json" {
		return wrap(reports.SearchJSON(a.Stdout, report))
	}
	return wrap(reports.SearchTable(a.Stdout, report, a.drawing(f.looks)))
}
