package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
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
func (a *app) fuzzFailure(ctx context.Context, f fuzzFlags, found fuzz.Failure) *reports.FuzzFailure {
	engine := fuzz.Engine(f.engine)
	c := fuzz.NewMaker(f.plan(), engine).Case(found.Case).Clone()
	calls := c.Calls()
	died := found.Broke == "crash" || found.Broke == "hang"
	if died {
		c = a.smallestDeath(ctx, f, c, found.Broke)
	} else {
		t := fuzz.NewChecker(engine)
		timed, cancel := context.WithTimeout(ctx, mostShrinking)
		c = t.Shrink(timed, c, found.Broke, shownBy(ctx, c))
		cancel()
		if b := t.Check(ctx, c); b != nil {
			found.Found, found.Log = b.Found, b.Log
		}
	}
	name := fmt.Sprintf("fuzz-%d-%d", f.seed, found.Case)
	about := fmt.Sprintf("Case %d of seed %d broke %s.", found.Case, f.seed, found.Broke)
	r := &reports.FuzzFailure{
		Case: found.Case, Broke: found.Broke, Found: found.Found, Log: found.Log,
		Calls: calls, Left: c.Calls(), Again: fuzzAgain(f, found.Case), Text: fuzz.Scenario(c, name, about),
	}
	r.File = a.keep(f, name+".yaml", []byte(r.Text))
	if data, err := fuzz.NewSaved(about, engine, c).YAML(); err == nil {
		r.CaseFile = a.keep(f, name+".case.yaml", data)
	}
	if !died {
		timed, cancel := context.WithTimeout(ctx, mostShrinking)
		r.Inevitable = fuzz.NewChecker(engine).Inevitable(timed, c)
		cancel()
		r.Outcome = outcomeOf(ctx, c, r.File, r.Text)
	}
	return r
}

// shownBy gives what a smaller case has to fulfil so that a reader can see what is wrong: if
// the scenario of the case fails, that of the smaller case has to fail too. Otherwise it is
// nil.
func shownBy(ctx context.Context, c generate.Case) func(generate.Case) bool {
	fails := func(c generate.Case) bool {
		out := outcomeOf(ctx, c, "case.yaml", fuzz.Scenario(c, "case", "One case."))
		return out != nil && out.Status == check.Failed
	}
	if !fails(c) {
		return nil
	}
	return fails
}

// outcomeOf runs the scenario, for its timeline.
func outcomeOf(ctx context.Context, c generate.Case, file, text string) *check.Result {
	sc, err := scenario.Parse(file, []byte(text))
	if err != nil || c.Scheduler != nil && c.Scheduler.AbortAt > 0 {
		return nil
	}
	return new(run.Scenario(ctx, sc, run.Options{Seed: c.Seed()}))
}

// keep writes a file and gives its name; "" when it cannot be written, which is printed.
func (a *app) keep(f fuzzFlags, name string, data []byte) string {
	file := filepath.Join(f.out, name)
	if err := writeWhole(a.path(file), data); err != nil {
		a.logf("%s: %s; name another folder with --out", file, reason(err))
		return ""
	}
	return file
}

// fuzzAgain is the command that plays the case of the plan once more.
func fuzzAgain(f fuzzFlags, n uint64) string {
	until := fmt.Sprintf("--runs %d", n+1)
	if f.cases.To > 0 {
		until = fmt.Sprintf("--range %d..%d", n, n+1)
	}
	words := []string{"toolbench fuzz", fmt.Sprintf("--seed %d", f.seed), until, "--engine " + f.engine}
	if w := faultWords(f.may); w != "all" {
		words = append(words, "--faults "+w)
	}
	if !slices.Equal(f.policies, fuzz.Policies()) {
		words = append(words, "--policy "+strings.Join(f.policies, ","))
	}
	return strings.Join(words, " ")
}

// faultWords gives the value of --faults that allows these features.
func faultWords(may generate.Feature) string {
	switch may & generate.FaultFeatures {
	case generate.FaultFeatures:
		return "all"
	case 0:
		return "none"
	}
	return (may & generate.FaultFeatures).String()
}
