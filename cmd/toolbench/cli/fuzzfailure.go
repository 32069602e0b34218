package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolbench/property/campaign"
	"toolbench/property/mix"
	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// mostShrinking is how long a failing case is made smaller: what hangs within a process
// takes its time at each try.
const mostShrinking = 2 * time.Minute

// fuzzFailure makes a failing case small and writes it down, as a scenario and as a
// case.
func (a *app) fuzzFailure(ctx context.Context, f fuzzFlags, found campaign.Failure) *reports.FuzzFailure {
	engine := campaign.Engine(f.engine)
	c := campaign.NewMaker(f.plan(), engine).Case(found.Case).Clone()
	calls := c.Calls()
	died := found.Broke == "crash" || found.Broke == "hang"
	switch {
	case died:
		c = a.smallestDeath(ctx, f, c, found.Broke)
	default:
		t := campaign.NewTester(engine)
		timed, cancel := context.WithTimeout(ctx, mostShrinking)
		c = t.Small(timed, c, found.Broke, shownBy(ctx, c))
		cancel()
		if b := t.Try(ctx, c); b != nil {
			found.Found, found.Log = b.Found, b.Log
		}
	}
	r := &reports.FuzzFailure{Failure: found, Calls: calls, Left: c.Calls(), Again: fuzzAgain(f, found.Case)}
	name := fmt.Sprintf("fuzz-%d-%d", f.seed, found.Case)
	about := fmt.Sprintf("Case %d of seed %d broke %s.", found.Case, f.seed, found.Broke)
	text := c.Scenario(name, about)
	r.Scenario = a.keep(f, name+".yaml", []byte(text))
	if data, err := campaign.Save(about, engine, c).YAML(); err == nil {
		r.Case = a.keep(f, name+".case.yaml", data)
	}
	if !died {
		r.Outcome = outcomeOf(ctx, c, r.Scenario, text)
	}
	r.Text = text
	return r
}

// shownBy asks of smaller cases that their scenario fails, if that of the case does: a
// reader wants to see what is wrong.
func shownBy(ctx context.Context, c campaign.Drawn) func(campaign.Drawn) bool {
	fails := func(c campaign.Drawn) bool {
		out := outcomeOf(ctx, c, "case.yaml", c.Scenario("case", "One case."))
		return out != nil && out.Status == check.Failed
	}
	if !fails(c) {
		return nil
	}
	return fails
}

// outcomeOf runs the scenario, for its timeline.
func outcomeOf(ctx context.Context, c campaign.Drawn, file, text string) *check.Result {
	sc, err := scenario.Parse(file, []byte(text))
	if err != nil || c.Mix != nil && c.Mix.Leaves > 0 {
		return nil
	}
	out := run.Scenario(ctx, sc, run.Options{Seed: c.Seed()})
	return &out
}

// keep writes a file and gives its name; "" when it cannot be written, which is told.
func (a *app) keep(f fuzzFlags, name string, data []byte) string {
	file := filepath.Join(f.out, name)
	if err := os.WriteFile(a.path(file), data, 0o644); err != nil {
		a.say("%s: %s; name another folder with --out", file, reason(err))
		return ""
	}
	return file
}

// fuzzAgain is the command that plays the case of the plan once more.
func fuzzAgain(f fuzzFlags, n uint64) string {
	words := []string{"toolbench fuzz", fmt.Sprintf("--seed %d", f.seed), fmt.Sprintf("--runs %d", n+1), "--engine " + f.engine}
	if w := faultWords(f.may); w != "all" {
		words = append(words, "--faults "+w)
	}
	if !slices.Equal(f.policies, fuzzPolicies()) {
		words = append(words, "--policy "+strings.Join(f.policies, ","))
	}
	return strings.Join(words, " ")
}

// faultWords is what --faults was.
func faultWords(may mix.Feature) string {
	switch may & mix.Faults {
	case mix.Faults:
		return "all"
	case 0:
		return "none"
	}
	var words []string
	for _, name := range faultNames() {
		if f, _ := mix.Named(name); may.Has(f) {
			words = append(words, name)
		}
	}
	return strings.Join(words, ",")
}
