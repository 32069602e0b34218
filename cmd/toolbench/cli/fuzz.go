package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/property/fuzz"
	"toolbench/property/generate"
	"toolbench/reports"
)

type fuzzFlags struct {
	printing
	runs, jobs  int
	duration    time.Duration
	seed        uint64
	seeded      bool
	shard       part
	cases       reports.FuzzRange
	may         generate.Feature
	engine      string
	policies    []string
	replay, out string
	findings    string
	list        bool
	goals       bool
	child       string
	patience    time.Duration
}

func (a *app) fuzzCommand() *cobra.Command {
	f := fuzzFlags{jobs: runtime.GOMAXPROCS(0)}
	f.everything()
	cmd := &cobra.Command{Use: "fuzz", Short: "Play random conversations and check the invariants", Args: cobra.NoArgs}
	flags := cmd.Flags()
	f.addCases(flags)
	flags.Var(&value[int]{to: &f.runs, parse: atLeast(1), kind: "N"}, "runs", "how many cases; without it and --duration, 50000 with des, else 5000")
	flags.Var(period(&f.duration, 0), "duration", "go on for so long, as 30s or 10m")
	flags.Var(&value[part]{to: &f.shard, parse: shard, kind: "I/N"}, "shard", "play the I-th of N parts")
	own(flags, choice(&f.engine, "ENGINE", "des", "full", "both", "shell"), "engine", "des, full, both or shell")
	flags.VarP(number(&f.jobs, 1), "jobs", "j", "processes at once")
	flags.StringVar(&f.replay, "replay", "", "play a case's file, or a folder of them, and nothing else")
	flags.BoolVar(&f.list, "list", false, "list the invariants, and play nothing")
	flags.StringVar(&f.child, "child", "", "play a batch for a parent")
	f.patience = fuzzPatience
	flags.Var(period(&f.patience, time.Millisecond), "patience", "how long a case may be silent before it counts as hung")
	for _, name := range []string{"child", "patience"} {
		flags.Lookup(name).Hidden = true
	}
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, _ []string) error {
		f.seeded = cmd.Flags().Changed("seed") || a.fromEnv["seed"]
		return a.fuzz(cmd.Context(), f)
	})
}

// everything is what is played when nothing is left out.
func (f *fuzzFlags) everything() {
	f.outputs.names = timelines()
	f.engine, f.may, f.policies = string(fuzz.Both), generate.Everything, fuzz.Policies()
}

// addCases adds the flags about which cases are played, and what becomes of those that fail.
func (f *fuzzFlags) addCases(flags *pflag.FlagSet) {
	flags.Uint64Var(&f.seed, "seed", 0, "what all cases are made from; a new one, which is printed, when not given")
	flags.Var(&value[reports.FuzzRange]{to: &f.cases, parse: caseRange, kind: "A..B"}, "range", "of the seed, play the cases from number A up to, and without, B")
	flags.Var(&value[generate.Feature]{to: &f.may, parse: someFaults, kind: "FAULTS", text: "all"}, "faults", "all, none, or globs of: "+faultNames())
	own(flags, &value[[]string]{to: &f.policies, parse: modelled, kind: "POLICIES", text: "all"}, "policy", "these only, with commas: "+strings.Join(fuzz.Policies(), ", "))
	flags.StringVar(&f.findings, "findings", "", "a folder that keeps what was found, told apart by cause: new, ongoing, resolved or regressed")
	flags.StringVar(&f.out, "out", ".", "the folder to write a failing case to")
	flags.BoolVarP(&f.goals, "verbose", "v", false, "list the goals, with how often each came up")
}

// fuzz runs the command and gives the error that carries its exit code.
func (a *app) fuzz(ctx context.Context, f fuzzFlags) error {
	switch {
	case f.list:
		return wrap(reports.FuzzList(a.Stdout, a.drawing(f.displayFlags)))
	case f.replay != "" && (f.engine == "shell" || strings.HasSuffix(f.replay, scriptEnding)):
		return a.replayShell(ctx, f)
	case f.replay != "":
		return a.fuzzReplay(ctx, f)
	case f.child != "":
		return a.fuzzChild(ctx, f)
	}
	if err := f.ranged(); err != nil {
		return err
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
	if err := a.checkLedger(f.findings); err != nil {
		return err
	}
	running, cancel := context.WithTimeout(ctx, cmp.Or(f.duration, math.MaxInt64))
	defer cancel()
	p := a.fuzzProgress(f)
	total, err := fuzz.Run(running, f.config(), a.fuzzRunner(f), func(r fuzz.Result) { p.show(p.cases(r)) })
	p.clear()
	if err != nil {
		return harness(err)
	}
	report := reports.FuzzReport{Seed: f.seed, Engine: f.engine, Policies: f.policies, Total: total, Took: time.Since(p.began), Goals: f.goals}
	if f.cases != (reports.FuzzRange{}) {
		report.Range = &f.cases
	}
	if total.Failed != nil {
		report.Failure = a.fuzzFailure(ctx, f, *total.Failed)
	}
	if err := a.print(report, f.printing); err != nil {
		return err
	}
	if f.findings != "" && ctx.Err() == nil {
		var failures []*reports.FuzzFailure
		if report.Failure != nil {
			failures = append(failures, report.Failure)
		}
		if err := a.noteFindings(ctx, f.findings, failures...); err != nil {
			return err
		}
	}
	switch {
	case total.Failed != nil:
		return failed()
	case ctx.Err() != nil:
		return interrupted("interrupted after %d cases", total.Cases)
	}
	return f.played(total.Cases, "cases")
}

// played is an error where the time was too short for anything.
func (f *fuzzFlags) played(n uint64, what string) error {
	if n == 0 && f.duration > 0 {
		return usage("--duration %s was over before any %s were played; give it longer", f.duration, what)
	}
	return nil
}

func (f *fuzzFlags) plan() generate.Plan {
	return generate.Plan{Seed: f.seed, Policies: f.policies, May: f.may}
}

func (f *fuzzFlags) config() fuzz.Config {
	cfg := fuzz.Config{Engine: fuzz.Engine(f.engine), Cases: uint64(f.runs), Jobs: f.jobs, Batch: 1_000}
	if f.shard.n > 0 {
		cfg.Shard, cfg.Shards = uint64(f.shard.i-1), uint64(f.shard.n)
	}
	if cfg.Engine == fuzz.DES {
		cfg.Batch = 25_000
	}
	if n := f.cases.To - f.cases.From; n > 0 {
		cfg.First, cfg.Cases, cfg.Through = f.cases.From, n, true
		return cfg
	}
	if f.runs == 0 && f.duration == 0 {
		cfg.Cases = 5_000
		if cfg.Engine == fuzz.DES {
			cfg.Cases = 50_000
		}
	}
	return cfg
}

// caseRange reads the numbers of cases.
func caseRange(text string) (reports.FuzzRange, error) {
	from, to, _ := strings.Cut(text, "..")
	a, err1 := strconv.ParseUint(from, 10, 63)
	b, err2 := strconv.ParseUint(to, 10, 63)
	if err1 != nil || err2 != nil || a >= b {
		return reports.FuzzRange{}, errors.New("write A..B with A less than B, as 0..1000 and 1000..2000")
	}
	return reports.FuzzRange{From: a, To: b}, nil
}

// ranged refuses what does not go with a range.
func (f *fuzzFlags) ranged() error {
	switch {
	case f.cases == (reports.FuzzRange{}):
		return nil
	case !f.seeded:
		return usage("--range names cases of a seed: give the same --seed to each part")
	case f.runs > 0 || f.duration > 0 || f.shard.n > 0:
		return usage("--range alone decides which cases are played: leave out --runs, --duration and --shard")
	case f.engine == "shell":
		return usage("scripts of --engine shell have no numbers for --range: use --runs and --shard")
	case f.findings != "":
		return usage("--findings wants to know when all was played: note them of the whole, not of a --range")
	}
	return nil
}

// modelled reads policies that have a definition to be held against.
func modelled(text string) ([]string, error) {
	if text == "all" {
		return fuzz.Policies(), nil
	}
	return tryEach(splitList(text), oneOf(fuzz.Policies()...))
}

// faultNames are the features that are faults.
func faultNames() string { return strings.ReplaceAll(generate.FaultFeatures.String(), ",", ", ") }

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
	for _, glob := range splitList(text) {
		some, err := generate.MatchFeatures(glob)
		if err != nil {
			return 0, err
		}
		if some &= generate.FaultFeatures; some == 0 {
			return 0, errors.New("use all, none, or globs of " + faultNames())
		}
		may |= some
	}
	return may, nil
}

// maxCaseBytes bounds a case's file.
const maxCaseBytes = 1 << 20

// fuzzReplay plays cases from files.
func (a *app) fuzzReplay(ctx context.Context, f fuzzFlags) error {
	files, err := a.caseFiles(f.replay, ".yaml")
	if err != nil {
		return err
	}
	report := reports.FuzzReplayReport{Engine: f.engine}
	for _, file := range files {
		data, err := a.readFile(file, maxCaseBytes)
		if err != nil {
			return err
		}
		s, err := fuzz.Parse(file, data)
		if err != nil {
			return usage("%s", err)
		}
		broken := s.Replay(ctx)
		if ctx.Err() != nil {
			return interrupted("interrupted: %d of %d cases were played", len(report.Replayed), len(files))
		}
		one := reports.FuzzReplayed{File: file, About: s.About}
		if broken != nil {
			one.Broke, one.Found = broken.Name, broken.Found
		}
		report.Replayed = append(report.Replayed, one)
	}
	return judged(a.print(report, f.printing), report.Failed() > 0)
}

// caseFiles are the files of a path: itself, or those in it with an ending, in order.
func (a *app) caseFiles(name, ending string) ([]string, error) {
	if info, err := os.Stat(a.path(name)); err == nil && info.Mode().IsRegular() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) && !e.IsDir() {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, usage("%s holds no case; a case's file ends in %s", name, ending)
	}
	return files, nil
}

// fuzzLineEvery is how often a line goes to a standard error that is no terminal.
const fuzzLineEvery = 10 * time.Second

// fuzzProgress shows how far a run is: to people at a terminal on one line that
// is drawn again, else with a line now and then. It is used by one goroutine at a time.
type fuzzProgress struct {
	statusLine
	began, last time.Time
	runs        int
}

func (a *app) fuzzProgress(f fuzzFlags) *fuzzProgress {
	now := time.Now()
	return &fuzzProgress{statusLine: statusLine{w: a.Stderr, enabled: isTerminal(a.Stderr), ascii: !a.unicode()}, began: now, last: now, runs: max(f.runs, int(f.cases.To-f.cases.From))}
}

// cases is how far a run of cases is.
func (p *fuzzProgress) cases(r fuzz.Result) string {
	of := ""
	if p.runs > 0 {
		of = fmt.Sprintf(" of %d", p.runs)
	}
	return fmt.Sprintf("%d%s cases, %d calls, %.0f cases/s", r.Cases, of, r.Calls, float64(r.Cases)/time.Since(p.began).Seconds())
}

// show shows how far the run is, unless that was just shown.
func (p *fuzzProgress) show(text string) {
	every := fuzzLineEvery
	if p.enabled {
		every = progressEvery
	}
	if time.Since(p.last) < every {
		return
	}
	p.last = time.Now()
	if !p.enabled {
		logf(p.w, "%s", text)
	}
	p.draw(text)
}

// scriptEnding is how the files of saved scripts end.
const scriptEnding = ".shell.sh"

// defaultScripts is how many scripts are run where nothing else is asked for.
const defaultScripts = 5_000

// fuzzShell runs in Bash what is called read-only.
func (a *app) fuzzShell(ctx context.Context, f fuzzFlags) error {
	running, cancel := context.WithTimeout(ctx, cmp.Or(f.duration, math.MaxInt64))
	defer cancel()
	cfg := fuzz.ScriptConfig{Seed: f.seed, Scripts: uint64(f.runs), Jobs: f.jobs}
	if f.duration == 0 && f.runs == 0 {
		cfg.Scripts = defaultScripts
	}
	if f.shard.n > 0 {
		cfg.Shard, cfg.Shards = uint64(f.shard.i-1), uint64(f.shard.n)
	}
	p := a.fuzzProgress(f)
	total, err := fuzz.RunScripts(running, cfg, func(t fuzz.ScriptTotal) { p.show(fmt.Sprintf("%d scripts, %d run in Bash", t.Generated, t.Ran)) })
	p.clear()
	if err := shellFailure(err); err != nil {
		return err
	}
	report := reports.FuzzShellReport{Seed: f.seed, Generated: total.Generated, Ran: total.Ran, Late: total.Late, Seconds: time.Since(p.began).Seconds()}
	if found := total.Finding; found != nil {
		file := a.keep(f, fmt.Sprintf("fuzz-%d-%d", found.Seed, found.Number)+scriptEnding, []byte(found.Small+"\n"))
		report.Finding = &reports.FuzzShellFinding{Number: found.Number, Script: found.Script, Small: found.Small, Changed: found.Changed, File: file}
	}
	if err := judged(a.print(report, f.printing), report.Failed()); err != nil {
		return err
	}
	if ctx.Err() == nil {
		return f.played(total.Ran, "scripts")
	}
	return interrupted("interrupted after %d scripts", total.Ran)
}

// shellFailure words why no script could be run.
func shellFailure(err error) error {
	if errors.Is(err, fuzz.ErrNoBash) {
		return usage("%s; install it, or leave --engine shell out", err)
	}
	return harness(err)
}

// replayShell tries saved scripts again. One that is not called read-only is not run.
func (a *app) replayShell(ctx context.Context, f fuzzFlags) error {
	files, err := a.caseFiles(f.replay, scriptEnding)
	if err != nil {
		return err
	}
	report := reports.FuzzShellReport{Replayed: []reports.FuzzShellReplay{}}
	for _, file := range files {
		text, err := a.readFile(file, maxCaseBytes)
		if err != nil {
			return err
		}
		one := reports.FuzzShellReplay{File: file, ReadOnly: fuzz.ReadOnly(string(text))}
		if one.ReadOnly {
			if one.Changed, err = fuzz.ReplayScript(ctx, string(text)); err != nil {
				return shellFailure(err)
			}
		}
		report.Replayed = append(report.Replayed, one)
	}
	return judged(a.print(report, f.printing), report.Failed())
}
