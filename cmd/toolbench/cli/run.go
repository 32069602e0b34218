package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
)

type runFlags struct {
	displayFlags
	selection
	baseline
	jobs, repeat      int
	failFast, verbose bool
	all, show, watch  bool
	quiet, update     bool
	trust             bool
	seed              uint64
	policy            string
	outputs           outputs
	findings          string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := explained(&cobra.Command{
		Use: "run [NAME|PATH...]", Short: "Run scenarios",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watch {
				return a.watch(cmd.Context(), args, f)
			}
			return a.run(cmd.Context(), args, f)
		},
		ValidArgsFunction: a.completeNames,
	}, helpText("codes"))
	flags := cmd.Flags()
	f.addShared(flags)
	flags.VarP(number(&f.jobs, 0), "jobs", "j", "scenarios at once; 0 is one a processor")
	flags.Uint64Var(&f.seed, "seed", 1, "what orders things that happen in one instant")
	flags.Var(&value[string]{to: &f.policy, parse: oneOf(scenario.Policies()...), kind: "POLICY"}, "policy", "schedule calls by this policy instead of the scenario's own policy: "+strings.Join(scenario.Policies(), ", ")+"; times are then not checked")
	f.repeat = 1
	flags.Var(number(&f.repeat, 1), "repeat-each", "run each scenario so often; a differing trace is a failure")
	flags.BoolVarP(&f.update, "update", "u", false, "rewrite the expectations that fail in your files, and keep the comments")
	flags.StringVar(&f.findings, "findings", "", "a folder that keeps what failed, told apart by cause: new, ongoing, resolved or regressed")
	flags.BoolVar(&f.trust, "trust", false, "start the programs that "+ConfigFile+" names as tools and checks")
	flags.BoolVar(&f.all, "all", false, "a row for each scenario, however many they are")
	flags.BoolVar(&f.watch, "watch", false, "run again what a saved file touches, until Ctrl-C")
	flags.VarPF(&repeatableFlag{&f.verbose, &f.show}, "verbose", "v", "draw each scenario's timeline above the table; -vv is --show").NoOptDefVal = "true"
	flags.BoolVar(&f.show, "show", false, "draw timelines, and below each what every call was given, what was decided and why, its result, and the trace")
	a.completeFlags(cmd, f.outputs.names)
	return cmd
}

// addShared adds the flags that run and try have alike.
func (f *runFlags) addShared(flags *pflag.FlagSet) {
	f.selection.add(flags)
	f.displayFlags.add(flags)
	f.baseline.add(flags)
	f.outputs.names = formatNames()
	flags.Var(&f.outputs, "format", "report as "+strings.Join(formatNames(), ", ")+", or to a file: junit=out.xml; repeatable")
	flags.BoolVarP(&f.failFast, "fail-fast", "x", false, "end with the first scenario that does not pass")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "report only what did not pass")
}

// run runs the command and gives the error that carries its exit code.
func (a *app) run(ctx context.Context, args []string, f runFlags) error {
	if err := a.settle(&f); err != nil {
		return err
	}
	against, err := a.readBaseline(f.baseline, "run")
	if err != nil {
		return err
	}
	if err := a.checkLedger(f.findings); err != nil {
		return err
	}
	own, endPrograms, err := a.ownPrograms(ctx, f.trust)
	defer endPrograms()
	if err != nil {
		return err
	}
	a.own = own
	pool := a.pool(f)
	if a.env("GOGC") == "" {
		// Reading a suite and running it make much garbage in a small heap: collecting it took a fifth of the time.
		garbage := 400 // in percent of what is held, before it is collected
		if pool.whole {
			garbage = 200 // every trace is held, which is several times as much
		}
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	plan, err := a.plan(a.arguments("run", args), f.selection)
	if err != nil {
		return err
	}
	if f.update && slices.ContainsFunc(plan.entries, func(e entry) bool { return e.embedded }) {
		return usage("--update cannot change the embedded suite: name the files, as in `toolbench run -u ./scenarios`")
	}
	results, stopped := pool.run(ctx, plan.entries)
	updating := f.update && !stopped
	if updating {
		if stopped, err = a.update(ctx, pool, results); err != nil {
			return err
		}
	}
	a.rememberFailed(results)
	var noted error
	if f.findings != "" && !stopped {
		noted = a.noteFailures(f.findings, results, plan.again(f))
	}
	options := reports.Options{Again: plan.again(f), Secrets: a.secrets()}
	if f.outputs.wants("html") && !stopped {
		options.Others = pool.others(ctx, plan.entries, scenario.Policies())
	}
	judged, err := a.report(outcomes(results), options, against, f)
	if err := cmp.Or(err, noted); err != nil {
		return err
	}
	if updating && stopped {
		return interrupted("interrupted while expectations were updated; each file is as it was or as it was to be")
	}
	return conclude(results, len(plan.entries), stopped, judged)
}

// others plays scenarios under every policy, for timelines beside their own.
func (p *pool) others(ctx context.Context, entries []entry, policies []string) func(check.Result) []check.Result {
	played := map[string][]check.Result{}
	key := func(o check.Result) string { return caseKey(o.File, o.Name) }
	for _, policy := range policies {
		under := *p
		under.options.Policy, under.repeat, under.failFast = policy, 1, false
		results, stopped := under.run(ctx, entries)
		if stopped {
			break
		}
		for _, o := range outcomes(results) {
			if o.Requests = nil; o.Status != check.Errored { // of its own run alone, they are shown
				played[key(o)] = append(played[key(o)], o)
			}
		}
	}
	return func(o check.Result) []check.Result {
		return slices.DeleteFunc(slices.Clone(played[key(o)]), func(other check.Result) bool { return other.Policy == o.Policy })
	}
}

// conclude gives the error that carries the exit code; judged is that of the comparison with a baseline.
func conclude(results []result, of int, stopped bool, judged error) error {
	if stopped {
		return interrupted("interrupted: %d of %d scenarios ran", len(results), of)
	}
	return cmp.Or(verdict(outcomes(results)), judged)
}

// settle looks at flags that bear on one another. Between --verbose and --quiet the
// command line wins over the environment, as everywhere.
func (a *app) settle(f *runFlags) error {
	if f.update && (f.policy != "" || f.repeat > 1) {
		return usage("--update takes the scenarios as they are: leave out --policy and --repeat-each")
	}
	if !f.verbose || !f.quiet {
		return nil
	}
	if a.fromEnv["verbose"] == a.fromEnv["quiet"] {
		return usage("--verbose and --quiet exclude each other")
	}
	f.verbose, f.quiet = !a.fromEnv["verbose"], !a.fromEnv["quiet"]
	return nil
}

// report writes all that was asked for; files first, for nobody closes them early, and what
// cannot be written there is still shown. Then it gives the verdict of the comparison with a baseline.
func (a *app) report(outcomes []check.Result, options reports.Options, against *reference, f runFlags) (judged, err error) {
	unwritten := a.writeFiles(f.outputs, func(w io.Writer, format string) error { return formatNamed(format).Write(w, outcomes, options) })
	for _, o := range outcomes {
		if o.Status == check.Errored && o.Err != nil {
			a.logf("%s", o.Err)
		}
	}
	if a.onGitHub() {
		if err := reports.Annotations(a.commands, outcomes, options); err != nil {
			return nil, harness(err)
		}
	}
	if err := cmp.Or(unwritten, a.printOutcomes(outcomes, options, f)); err != nil {
		return nil, err
	}
	now := reports.StoredRun(outcomes, reports.Options{Again: options.Again})
	return a.compareWith(now, against, f.outputs, f.displayFlags), nil
}

// printOutcomes writes the report on the standard output.
func (a *app) printOutcomes(outcomes []check.Result, options reports.Options, f runFlags) error {
	if !f.outputs.forPeople() {
		return wrap(formatNamed(f.outputs.screen).Write(a.Stdout, outcomes, options))
	}
	looks := a.drawing(f.displayFlags)
	looks.Again, looks.Grouped = options.Again, !f.all && !f.verbose && !f.show
	if f.quiet {
		looks.Unshown = reports.Count(outcomes).Passed
		outcomes = slices.DeleteFunc(slices.Clone(outcomes), func(o check.Result) bool { return o.Status == check.Passed })
		if len(outcomes) == 0 {
			return nil
		}
	}
	for _, o := range outcomes {
		if err := a.draw(o, looks, f); err != nil {
			return err
		}
	}
	return wrap(reports.Table(a.Stdout, outcomes, looks))
}

// draw draws one outcome, where the flags ask for it.
func (a *app) draw(o check.Result, looks reports.Options, f runFlags) error {
	if f.verbose || f.show {
		if err := reports.Timeline(a.Stdout, o, looks); err != nil {
			return wrap(err)
		}
	}
	if f.show {
		looks.Secrets = a.secrets()
		return wrap(reports.Show(a.Stdout, o, looks))
	}
	return nil
}

// plan is what will run.
type plan struct{ entries []entry }

// plan chooses the scenarios.
func (a *app) plan(args []string, s selection) (*plan, error) {
	entries, err := a.find(args)
	switch {
	case err != nil && a.pathsAt != "":
		return nil, fmt.Errorf("%s: %w", a.pathsAt, err)
	case err != nil:
		return nil, err
	}
	p := &plan{s.choose(entries)}
	if len(p.entries) == 0 {
		return nil, usage("no scenario matches; see `toolbench list`")
	}
	if s.lastFailed {
		p.entries = a.onlyFailed(p.entries)
	}
	p.entries, err = a.dealt(s, p.entries)
	return p, err
}

// onlyFailed keeps what did not pass last time; when there is nothing of the kind, it prints that and keeps all.
func (a *app) onlyFailed(entries []entry) []entry {
	before, err := a.recall(lastFailed)
	switch {
	case a.Cache == "":
		err = errors.New("there is no cache folder to remember failures in")
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("no earlier run is remembered here")
	}
	if err != nil {
		a.logf("--last-failed: %s; running all", err)
		return entries
	}
	failed := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !slices.Contains(before.Failed, e.target) })
	if len(failed) == 0 {
		a.logf("--last-failed: none of these failed when they last ran here; running all")
		return entries
	}
	return failed
}

// lastFailed is where it is kept what did not pass.
const lastFailed = "last-failed"

// rememberFailed keeps what did not pass for --last-failed.
func (a *app) rememberFailed(results []result) {
	before, _ := a.recall(lastFailed) // without it, there are the results alone
	failed := map[string]bool{}
	for _, target := range before.Failed {
		failed[target] = true
	}
	for _, r := range results {
		delete(failed, r.entry.target)
	}
	for _, r := range results { // a file may be sound and still clash with another
		if r.outcome.Status != check.Passed {
			failed[r.entry.target] = true
		}
	}
	a.remember(lastFailed, lastRun{Failed: slices.Sorted(maps.Keys(failed))})
}

// targets are what names the entries on a command line, by caseKey.
func (p *plan) targets() map[string]string {
	all := map[string]string{}
	for _, e := range p.entries {
		all[caseKey(e.File, e.Name)] = e.target
	}
	return all
}

// caseKey identifies a case within one run.
func caseKey(file, name string) string { return file + "\x00" + name }

// again names the command that shows an outcome again: the report has its name
// only, and a scenario on disk is named by its path.
func (p *plan) again(f runFlags) func(check.Result) string {
	targets := p.targets()
	return func(o check.Result) string {
		o.Name = cmp.Or(targets[caseKey(o.File, o.Name)], o.Name)
		if f.policy == "" {
			o.Policy = "" // the scenario's own
		}
		command := reports.Again(o)
		if f.trust {
			command += " --trust"
		}
		if f.repeat > 1 {
			command += fmt.Sprintf(" --repeat-each %d", f.repeat)
		}
		return command
	}
}

// update brings the expectations of failed scenarios up to date in their files and
// runs those scenarios again: what then still fails, only a person can settle. A run
// that is stopped meanwhile leaves whole files: interrupted is then true.
func (a *app) update(ctx context.Context, p *pool, results []result) (interrupted bool, err error) {
	for i, r := range results {
		if ctx.Err() != nil {
			return true, nil
		}
		if r.outcome.Status != check.Failed {
			continue
		}
		changed, err := a.rewrite(r.entry, r.outcome)
		if err != nil {
			return false, harness(fmt.Errorf("updating %s: %w", r.entry.File, reason(err)))
		}
		if !changed {
			continue
		}
		again, err := a.resolve(r.entry.target)
		if err != nil {
			return false, err
		}
		second := p.one(ctx, again[0])
		if ctx.Err() != nil {
			return true, nil // it was cut off: what it failed of before stands
		}
		results[i].outcome = second
	}
	return false, nil
}

// rewrite updates one file, and reports that when it is done.
func (a *app) rewrite(e entry, o check.Result) (changed bool, err error) {
	file := a.path(e.File)
	data, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	updated, left, err := a.bench.Update(data, o.Failures)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(updated, data)
	if changed {
		if err := writeWhole(file, updated); err != nil {
			return false, err
		}
		a.logf("updated %s: %d of %d expectations", e.File, len(o.Failures)-len(left), len(o.Failures))
	}
	for _, f := range left {
		a.logf("left %s: %s: %s", cmp.Or(f.At, e.File), f.Expectation, f.Stays())
	}
	return changed, nil
}

// lastRun is what is kept of a working directory for the next run there: the scenarios that did not pass, or the last
// report that was held against a baseline. Failures of one project have no bearing on another.
type lastRun struct {
	Version  int             `json:"version"`
	Failed   []string        `json:"failed,omitempty"`
	Baseline string          `json:"baseline,omitempty"`
	Report   json.RawMessage `json:"report,omitempty"`
}

// kept is the file in which something is kept of the working directory; "" where there is no folder for that.
func (a *app) kept(what string) string {
	if a.Cache == "" {
		return ""
	}
	hash := sha256.Sum256([]byte(a.Dir))
	return filepath.Join(a.Cache, "toolbench", what+"-"+hex.EncodeToString(hash[:8])+".json")
}

// recall reads what is kept; what never was does not exist.
func (a *app) recall(what string) (kept lastRun, err error) {
	file := a.kept(what)
	data, err := os.ReadFile(file)
	if err == nil && (json.Unmarshal(data, &kept) != nil || kept.Version != 1) {
		return lastRun{}, fmt.Errorf("%s cannot be read", file)
	}
	return kept, err
}

// remember keeps something, in one step, so that runs side by side leave a whole file. A run
// does not fail because it cannot be kept: who asks for it is told.
func (a *app) remember(what string, kept lastRun) {
	kept.Version = 1
	if data, err := json.Marshal(kept); err == nil && a.Cache != "" {
		_ = writeWhole(a.kept(what), append(data, '\n'))
	}
}
