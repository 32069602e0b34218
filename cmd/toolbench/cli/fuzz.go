package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/reports"
)

const fuzzLong = `Plays random conversations and checks every invariant of the system on each.

A case is made from the seed and its number: calls that arrive, run, fail, hang and
are asked about; hooks; messages of the user; streams that break, stall or are
refused. In the full system every eighth is a system case: tools that are deferred and
searched for, servers that come and go, die during a call and send what was not asked,
rules and rewritten inputs, results too large, files, sub-agents. Each case leaves
some of that out. It is played by discrete events (des), which take microseconds; in the full system, in virtual time (full); or in both,
which must give the same log entry by entry. Full is the conversation, the
scheduler, the pipeline, hooks, permissions and budgets, fed with the bytes of the
model's stream; one case in fifty is also played as a scenario, over HTTP and through
the client library, and must come to the same.

Shell is another matter: scripts over Bash's grammar, of which those that are called
read-only are run in a real Bash in a scratch folder, where nothing may change.

What fails is made small, and written as a scenario that ` + "`toolbench run`" + ` shows, and as
a case that ` + "`toolbench fuzz --replay`" + ` plays. Cases run in processes of their own: one
that crashes or hangs is a finding like any other. A run that is stopped counts what
was played until then.

The table counts rare situations: one that never came up was not tested.`

const fuzzExample = `  toolbench fuzz                                  some of everything
  toolbench fuzz --engine des --runs 1000000      a million cases, without the system
  toolbench fuzz --duration 10m --seed 7          as many as ten minutes take
  toolbench fuzz --faults 'cut*,stall*'           of the faults, these only
  toolbench fuzz --shard 2/4 --format json        a part of them, for a program
  toolbench fuzz --replay fuzz-7-42.case.yaml     one case again, or a folder of them
  toolbench fuzz --list                           the invariants`

const fuzzCodes = `Exit codes:
  0    every invariant held
  1    one did not, or a case crashed or hung
  2    the command line or a file is wrong
  3    the harness itself failed
  130  interrupted`

type fuzzFlags struct {
	looks
	runs, jobs   int
	duration     time.Duration
	seed         uint64
	seeded       bool
	shard        part
	may          generate.Feature
	faults       string
	engine       string
	policies     []string
	replay, out  string
	list, schema bool
	format       string
	child        string
	patience     time.Duration
}

func (a *app) fuzzCommand() *cobra.Command {
	f := fuzzFlags{format: "table", engine: string(fuzz.Both), may: generate.Everything, faults: "all", policies: fuzzPolicies(), jobs: runtime.GOMAXPROCS(0)}
	cmd := &cobra.Command{
		Use: "fuzz", Short: "Play random conversations and check the invariants", Long: fuzzLong + "\n\n" + fuzzCodes, Example: fuzzExample,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.seeded = cmd.Flags().Changed("seed") || a.fromEnv["seed"]
			return a.fuzz(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	own := map[string][]string{ownValues: {"fuzz"}}
	flags.Var(&value[int]{to: &f.runs, parse: atLeast(1), kind: "N"}, "runs", "how many cases; without it and --duration, 50000 with des, else 5000")
	flags.DurationVar(&f.duration, "duration", 0, "go on for so long, as 30s or 10m")
	flags.Uint64Var(&f.seed, "seed", 0, "what all cases are made from; a new one, which is printed, when not given")
	flags.Var(&value[part]{to: &f.shard, parse: shard, kind: "I/N"}, "shard", "play the I-th of N parts")
	flags.VarPF(&value[generate.Feature]{to: &f.may, parse: someFaults, kind: "FAULTS", text: "all"}, "faults", "", "all, none, or globs of: "+strings.Join(faultNames(), ", "))
	flags.VarPF(&value[string]{to: &f.engine, parse: oneOf("des", "full", "both", "shell"), kind: "ENGINE", text: f.engine}, "engine", "", "des, full, both or shell").Annotations = own
	flags.VarPF(&value[[]string]{to: &f.policies, parse: modelled, kind: "POLICIES", text: "all"}, "policy", "", "these only, with commas: "+strings.Join(fuzzPolicies(), ", ")).Annotations = own
	flags.VarP(&value[int]{to: &f.jobs, parse: atLeast(1), kind: "N", text: strconv.Itoa(f.jobs)}, "jobs", "j", "processes at once")
	flags.StringVar(&f.replay, "replay", "", "play a case's file, or a folder of them, and nothing else")
	flags.StringVar(&f.out, "out", ".", "the folder to write a failing case to")
	flags.BoolVar(&f.list, "list", false, "list the invariants, and play nothing")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and play nothing")
	flags.VarPF(&value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}, "format", "", "table or json").Annotations = own
	flags.StringVar(&f.child, "child", "", "play a batch for a parent")
	flags.DurationVar(&f.patience, "patience", fuzzPatience, "how long a case may be silent before it counts as hung")
	for _, name := range []string{"child", "patience"} {
		if err := flags.MarkHidden(name); err != nil {
			panic(err) // the flag is there
		}
	}
	return cmd
}

// fuzz is the way from arguments to the exit code.
func (a *app) fuzz(ctx context.Context, f fuzzFlags) error {
	switch {
	case f.schema:
		return a.printAll(reports.Schema("fuzz"))
	case f.list:
		return wrap(reports.FuzzList(a.Stdout, a.drawing(f.looks)))
	case f.replay != "" && (f.engine == "shell" || strings.HasSuffix(f.replay, scriptEnding)):
		return a.replayShell(ctx, f)
	case f.replay != "":
		return a.fuzzReplay(ctx, f)
	case f.child != "":
		return a.fuzzChild(ctx, f)
	case f.duration < 0:
		return usage("--duration is %s; give a time from now on, as 30s", f.duration)
	}
	if !f.seeded {
		f.seed = rand.Uint64N(1_000_000)
		a.logf("seed %d", f.seed)
	}
	if f.engine == "shell" {
		return a.fuzzShell(ctx, f)
	}
	return a.fuzzRun(ctx, f)
}

// fuzzRun plays the cases, and shows the first that fails.
func (a *app) fuzzRun(ctx context.Context, f fuzzFlags) error {
	running := ctx
	if f.duration > 0 {
		timed, cancel := context.WithTimeout(ctx, f.duration)
		defer cancel()
		running = timed
	}
	p := a.fuzzProgress(f)
	total, err := fuzz.Run(running, f.config(), a.fuzzRunner(f), p.update)
	p.clear()
	if err != nil {
		return harness(err)
	}
	report := reports.FuzzReport{Seed: f.seed, Engine: f.engine, Policies: f.policies, Total: total, Took: p.took()}
	if total.Failed != nil {
		report.Failure = a.fuzzFailure(ctx, f, *total.Failed)
	}
	if err := a.fuzzReport(f, report); err != nil {
		return err
	}
	switch {
	case total.Failed != nil:
		a.verdict = ExitFailed
		return &exitError{code: ExitFailed}
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted after %d cases", total.Cases)}
	}
	return nil
}

func (a *app) fuzzReport(f fuzzFlags, r reports.FuzzReport) error {
	if f.format == "json" {
		return wrap(reports.FuzzJSON(a.Stdout, r))
	}
	return wrap(reports.FuzzTable(a.Stdout, r, a.drawing(f.looks)))
}

func (f *fuzzFlags) plan() generate.Plan {
	return generate.Plan{Seed: f.seed, Policies: f.policies, May: f.may}
}

func (f *fuzzFlags) config() fuzz.Config {
	cfg := fuzz.Config{Plan: f.plan(), Engine: fuzz.Engine(f.engine), Cases: uint64(f.runs), Jobs: f.jobs, Batch: 1_000}
	if f.shard.n > 0 {
		cfg.Shard, cfg.Shards = uint64(f.shard.i-1), uint64(f.shard.n)
	}
	if cfg.Engine == fuzz.DES {
		cfg.Batch = 25_000
	}
	if f.runs == 0 && f.duration == 0 {
		cfg.Cases = 5_000
		if cfg.Engine == fuzz.DES {
			cfg.Cases = 50_000
		}
	}
	return cfg
}

// fuzzPolicies are those that have a definition to be held against.
func fuzzPolicies() []string { return fuzz.Policies() }

func modelled(text string) ([]string, error) {
	if text == "all" {
		return fuzzPolicies(), nil
	}
	var some []string
	for name := range strings.SplitSeq(text, ",") {
		p, err := oneOf(fuzzPolicies()...)(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		some = append(some, p)
	}
	return some, nil
}

func faultNames() []string {
	var names []string
	for _, name := range generate.FeatureNames() {
		if f, _ := generate.FeatureNamed(name); generate.FaultFeatures.Has(f) {
			names = append(names, name)
		}
	}
	return names
}

// someFaults gives what cases may have: everything but the faults that were not asked
// for.
func someFaults(text string) (generate.Feature, error) {
	switch text {
	case "all":
		return generate.Everything, nil
	case "none":
		return generate.Everything &^ generate.FaultFeatures, nil
	}
	may := generate.Everything &^ generate.FaultFeatures
	for glob := range strings.SplitSeq(text, ",") {
		some, err := generate.MatchFeatures(strings.TrimSpace(glob))
		if err != nil {
			return 0, err
		}
		if some &= generate.FaultFeatures; some == 0 {
			return 0, errors.New("use all, none, or globs of " + strings.Join(faultNames(), ", "))
		}
		may |= some
	}
	return may, nil
}

// maxCaseBytes bounds a case's file.
const maxCaseBytes = 1 << 20

// fuzzReplay plays cases from files.
func (a *app) fuzzReplay(ctx context.Context, f fuzzFlags) error {
	files, err := a.caseFiles(f.replay)
	if err != nil {
		return err
	}
	var all []reports.FuzzReplayed
	for _, file := range files {
		data, err := a.readFile(file, maxCaseBytes)
		if err != nil {
			return err
		}
		s, err := fuzz.Parse(data)
		if err != nil {
			return usage("%s: %s", file, err)
		}
		broken := s.Replay(ctx)
		if ctx.Err() != nil {
			return &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d cases were played", len(all), len(files))}
		}
		all = append(all, reports.FuzzReplayed{File: file, About: s.About, Broken: broken})
	}
	if err := a.fuzzReport(f, reports.FuzzReport{Engine: f.engine, Replayed: all}); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(r reports.FuzzReplayed) bool { return r.Broken != nil }) {
		a.verdict = ExitFailed
		return &exitError{code: ExitFailed}
	}
	return nil
}

// caseFiles are the files of a path: itself, or the *.yaml in it, in order.
func (a *app) caseFiles(name string) ([]string, error) {
	info, err := os.Stat(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, usage("%s: it is no file and no folder", name)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	var files []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".yaml" && !e.IsDir() {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, usage("%s holds no case; a case's file ends in .yaml", name)
	}
	return files, nil
}

// fuzzLineEvery is how often a line goes to a standard error that is no terminal.
const fuzzLineEvery = 10 * time.Second

// fuzzProgress shows how far a run is: to people at a terminal on one line that
// is drawn again, else with a line now and then.
type fuzzProgress struct {
	w           io.Writer
	began, last time.Time
	terminal    bool
	shown       bool
	cases       int
}

func (a *app) fuzzProgress(f fuzzFlags) *fuzzProgress {
	now := time.Now()
	return &fuzzProgress{w: a.Stderr, began: now, last: now, terminal: isTerminal(a.Stderr), cases: f.runs}
}

func (p *fuzzProgress) took() time.Duration { return time.Since(p.began) }

// update shows what was played so far; it is called by one goroutine at a time.
func (p *fuzzProgress) update(r fuzz.Result) {
	p.show(p.line(r))
}

func (p *fuzzProgress) line(r fuzz.Result) string {
	of := ""
	if p.cases > 0 {
		of = fmt.Sprintf(" of %d", p.cases)
	}
	seconds := time.Since(p.began).Seconds()
	return fmt.Sprintf("%d%s cases, %d calls, %.0f cases/s", r.Cases, of, r.Calls, float64(r.Cases)/seconds)
}

func (p *fuzzProgress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
