package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/cassette"
	"toolbench/sim/economics"
	"toolbench/toolsys/search"
)

type searchFlags struct {
	printing
	baseline
	catalogs []string
	queries  string
	rankers  []search.Ranker
	ks       []int
	max      int
	minHit5  float64

	embeddings embeddingsFlags
}

func (a *app) searchCommand() *cobra.Command {
	f := searchFlags{rankers: search.Rankers(), ks: []int{1, 5}, max: search.DefaultMax}
	cmd := &cobra.Command{Use: "search --catalog FILE [WORDS...]", Short: "Measure how well ToolSearch finds tools"}
	flags := cmd.Flags()
	f.baseline.add(flags)
	repeatable(flags, &f.catalogs, "catalog", "the tools to search, a file or a folder")
	flags.StringVar(&f.queries, "queries", "", "labelled queries to ask")
	flags.Var(&value[[]search.Ranker]{to: &f.rankers, parse: someRankers, kind: "RANKERS"}, "ranker",
		"these only, with commas: "+strings.Join(rankerNames(), ", "))
	flags.Var(&value[[]int]{to: &f.ks, parse: someKs, kind: "KS", text: "1,5"}, "k", "the ks of hit@k and recall@k")
	flags.Var(number(&f.max, 1), "max", "how many tools to show for words")
	flags.Var(&value[float64]{to: &f.minHit5, parse: upTo(1), kind: "SHARE", text: "0"}, "min-hit5", "end with 1 if ToolSearch's own ranker finds less among five; 0 asks for nothing")
	f.embeddings.add(flags)
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.search(cmd.Context(), args, f) })
}

func rankerNames() []string {
	return each(search.Rankers(), func(r search.Ranker) string { return r.Name })
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
		if err != nil || k < 1 || k > economics.RankDepth {
			return nil, fmt.Errorf("%q: write numbers from 1 to %d, with commas", field, economics.RankDepth)
		}
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return slices.Compact(ks), nil
}

// search runs the command and gives the error that carries its exit code.
func (a *app) search(ctx context.Context, args []string, f searchFlags) error {
	words := strings.Join(args, " ")
	switch {
	case len(f.catalogs) == 0:
		return usage("name the tools to search, as in `toolbench search --catalog tools.json 'send a message'`")
	case f.queries == "" && strings.TrimSpace(words) == "":
		return usage("give the words to look for, as in `toolbench search --catalog FILE 'send a message'`, or give --queries FILE")
	case f.minHit5 > 0 && (f.queries == "" || !slices.Contains(f.ks, 5) || !slices.ContainsFunc(f.rankers, search.Ranker.IsDefault)):
		return usage("--min-hit5 is about labelled queries: give --queries FILE, with %s among --ranker and 5 among --k", search.DefaultRanker().Name)
	case f.queries != "" && len(args) > 0:
		return usage("%q and --queries exclude each other: words are searched, queries are measured", words)
	}
	against, err := a.readBaseline(f.baseline, "search")
	if err != nil {
		return err
	}
	joined, _, err := a.catalogues(f.catalogs)
	if err != nil {
		return err
	}
	tools := searched{reports.SearchedTools{Files: f.catalogs, Servers: len(joined), Tools: joined.Tools()}, economics.NewSearchPool(joined)}
	if f.queries == "" {
		return a.look(ctx, words, tools, f, against)
	}
	return a.measure(ctx, tools, f, against)
}

// searched is the tools to search, and where they come from.
type searched struct {
	reports.SearchedTools
	pool economics.SearchPool
}

// look shows what the rankers find for words.
func (a *app) look(ctx context.Context, words string, s searched, f searchFlags, against *reference) error {
	q, err := search.ParseQuery(words)
	if err != nil {
		return invalid(err)
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
	return a.printAgainst(report, against, f.printing)
}

// measure asks every ranker the labelled queries.
func (a *app) measure(ctx context.Context, tools searched, f searchFlags, against *reference) error {
	data, err := a.readFile(f.queries, economics.MaxQueriesBytes)
	if err != nil {
		return err
	}
	queries, err := economics.ParseQueries(f.queries, data)
	if err != nil {
		return invalid(err)
	}
	var standings []economics.RankerStanding
	for _, r := range f.rankers {
		if ctx.Err() != nil {
			return interrupted("interrupted: %d of %d rankers were asked", len(standings), len(f.rankers))
		}
		standings = append(standings, economics.MeasureRanker(tools.pool, queries, r, f.ks))
	}
	v, err := a.vectors(ctx, tools.pool, economics.QueryTexts(queries), f.embeddings)
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
	if err := a.printAgainst(report, against, f.printing); err != nil {
		return err
	}
	for _, s := range standings {
		if hit := s.All.Hit(max(0, slices.Index(f.ks, 5))); f.minHit5 > 0 && s.Ranker.IsDefault() && hit < f.minHit5 {
			return &exitError{ExitFailed, fmt.Errorf("%s has a hit@5 of %.4g, less than --min-hit5 %g", s.Ranker.Name, hit, f.minHit5)}
		}
	}
	return nil
}

// embeddingsFlags are how an endpoint for embeddings is reached.
type embeddingsFlags struct {
	url, model, keyEnv string
	cassette           cassetteFlags
}

func (f *embeddingsFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "embeddings", "", "an endpoint for embeddings, as https://HOST/v1: adds a ranker by cosine")
	flags.StringVar(&f.model, "embeddings-model", "", "the endpoint's model")
	flags.StringVar(&f.keyEnv, "embeddings-key-env", "EMBEDDINGS_API_KEY", "the variable that holds the endpoint's key; unset sends none")
	f.cassette.add(flags, "embeddings-", "", "endpoint")
}

// vectors embeds a catalogue and its queries; nil where that was not asked for.
func (a *app) vectors(ctx context.Context, pool economics.SearchPool, queries []string, f embeddingsFlags) (*economics.Vectors, error) {
	if f.url == "" && f.cassette.file == "" && !f.cassette.record {
		return nil, nil
	}
	e, done, err := a.embedder(f)
	if err != nil {
		return nil, err
	}
	v, err := economics.NewVectors(ctx, e, pool, queries)
	if err == nil {
		err = done()
	}
	if err != nil {
		check := "--embeddings, --embeddings-model and the key in " + f.keyEnv
		return nil, unanswered(ctx, err, f.cassette, "the catalogue, the queries or the model", check)
	}
	return v, nil
}

func (a *app) embedder(f embeddingsFlags) (economics.Embedder, func() error, error) {
	e := economics.Embedder{URL: f.url, Model: f.model, Key: a.env(f.keyEnv)}
	err := f.cassette.check()
	switch asks := err == nil && !f.cassette.replays(); {
	case asks && f.url == "":
		err = usage("--embeddings-record asks an endpoint: name it with --embeddings https://HOST/v1")
	case asks && f.model == "":
		err = usage("--embeddings asks for vectors of a model: name it with --embeddings-model")
	case asks && e.Key == "":
		err = webAddress("--embeddings", f.url)
	case asks:
		err = reachableBase("--embeddings", f.url)
	}
	if err != nil {
		return e, nil, err
	}
	rt, played, done, err := a.transport(f.cassette, e.Key)
	if played != nil {
		url, model := recordedEndpoint(played)
		e.URL, e.Model = cmp.Or(e.URL, url), cmp.Or(e.Model, model)
	}
	e.Transport = rt
	return e, done, err
}

// recordedEndpoint is the address and the model of a cassette's first request, so that
// a replay needs neither flag.
func recordedEndpoint(c *cassette.Cassette) (url, model string) {
	if len(c.Interactions) == 0 {
		return "", ""
	}
	var body struct{ Model string }
	if json.Unmarshal([]byte(c.Interactions[0].Request.Body), &body) != nil {
		return "", ""
	}
	return c.Interactions[0].Request.URL, body.Model
}
