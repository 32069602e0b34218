package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/cassette"
	"toolbench/sim/draft"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/host"
	"toolbench/toolsys/pipeline"
)

type recordFlags struct {
	printing
	prompt, out, baseURL, keyEnv, model string
	tools, root, permission             string
	mode                                run.CaptureMode
	allow                               []string
	write                               bool
	retries                             int
}

func (a *app) recordCommand() *cobra.Command {
	f := recordFlags{mode: run.ReplayOnly, tools: "memory", root: ".", retries: 2}
	cmd := &cobra.Command{Use: "record SCENARIO", Short: "Record a session with a real model", ValidArgsFunction: a.completeNames}
	flags := cmd.Flags()
	flags.StringVar(&f.prompt, "prompt", "", "what to ask, in place of a scenario")
	own(flags, choice((*string)(&f.mode), "MODE", run.CaptureModes()...), "mode", strings.Join(run.CaptureModes(), ", "))
	flags.StringVar(&f.out, "out", "", "the cassette's file; without, the scenario's own")
	flags.StringVar(&f.baseURL, "base-url", strings.TrimSuffix(api.DefaultBaseURL, "/"), "where the API is")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "the variable that holds the key")
	flags.StringVar(&f.model, "model", "", "with --prompt: the model")
	own(flags, choice(&f.tools, "WHERE", "memory", "disk"), "tools", "with --prompt: where tools work, memory or disk")
	flags.StringVar(&f.root, "root", f.root, "with --tools disk: the folder that can be seen")
	flags.BoolVar(&f.write, "write", false, "with --tools disk: let changes through to the disk")
	repeatable(flags, &f.allow, "allow", "with --prompt: a permission rule, as 'Bash(ls:*)'")
	flags.StringVar(&f.permission, "permission-mode", "", "with --prompt: default, plan, acceptEdits or bypass")
	flags.Var(number(&f.retries, 0), "retries", "how often a request is sent again that the API had no time for")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.record(cmd.Context(), args, f) })
}

// record runs the command and gives the error that carries its exit code.
func (a *app) record(ctx context.Context, args []string, f recordFlags) error {
	job, err := a.recordJob(args, f)
	if err != nil {
		return err
	}
	if job.disk != nil {
		defer job.disk.Close()
	}
	key := a.env(f.keyEnv)
	if err := reachableBase("--base-url", f.baseURL); err != nil {
		return err
	}
	known := secret.FromEnv(a.Env)
	if key != "" {
		known = append([]secret.Known{{Name: f.keyEnv, Value: key}}, known...)
	} else if f.mode.Records(exists(job.cassette)) && !onThisMachine(f.baseURL) {
		return usage("there is no key: set %s, or name the variable that holds it with --key-env", f.keyEnv)
	}
	clock, line := toolsys.RealClock(), &statusLine{w: a.Stderr, enabled: isTerminal(a.Stderr) && a.env("CI") == ""}
	asker := &asker{a: a, always: map[string]bool{}, turn: make(chan struct{}, 1)}
	job.live.Transport, job.live.BaseURL, job.live.Key = http.DefaultTransport, strings.TrimSuffix(f.baseURL, "/")+"/", cmp.Or(key, noKey)
	if a.Interactive && f.mode != run.ReplayOnly {
		job.live.Ask = asker.ask // where there is nobody to ask, calls are refused
	}
	report, err := run.Capture(ctx, run.CaptureConfig{
		Scenario: job.scenario, Cassette: job.cassette, Mode: f.mode, Live: job.live, Known: known,
		Retries: f.retries, Now: clock.Now,
		Progress: func(p run.CaptureProgress) {
			line.draw(fmt.Sprintf("turn %d, %d calls, %d KiB", p.Turns, p.Calls, p.Bytes>>10))
		},
		Notice: func(text string) { line.clear(); a.logf("%s", text) },
		Wait:   func(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, "record", d) },
	})
	line.clear()
	if err != nil {
		return notBegun(job, err)
	}
	report.Cassette = job.shown
	if report.Partial != "" {
		report.Partial = strings.TrimSuffix(job.shown, ".yaml") + ".partial.yaml"
	}
	written := ""
	switch {
	case report.Err != nil || report.Recorded == 0:
	case job.prompt == nil:
		a.outdated(ctx, job)
	default:
		if written, err = a.writeScenario(ctx, job, asker.answers(), secret.New(known...)); err != nil {
			return err
		}
	}
	if err := a.print(reports.RecordReport{CaptureReport: report, Scenario: written}, f.printing); err != nil {
		return err
	}
	return a.ended(report, f)
}

// noKey is what an API on this machine gets where there is no key; such a one needs none.
const noKey = "none"

// onThisMachine reports whether an address leads to this very machine.
func onThisMachine(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// reachableBase refuses addresses that a key must not go to.
func reachableBase(flag, base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage("%s %q is no address of an API; write one like https://api.anthropic.com or http://127.0.0.1:8080", flag, base)
	}
	if u.User != nil || u.RawQuery != "" {
		return usage("%s holds credentials or parameters, which no request takes along; put the key into a variable of the environment", flag)
	}
	if u.Scheme == "http" && !onThisMachine(base) {
		return usage("%s %s would send the key unencrypted to another machine; use https", flag, base)
	}
	return nil
}

// notBegun words why there was no session.
func notBegun(job *recordJob, err error) error {
	var file *scenario.FileError
	var load *cassette.LoadError
	switch {
	case errors.Is(err, run.ErrNoCassette):
		return usage("%s: there is no such cassette; record it with --mode once", job.shown)
	case errors.As(err, &file), errors.As(err, &load):
		return invalid(err)
	}
	return usage("%s cannot be recorded: %s; name another file with --out", job.shown, reason(err))
}

// ended gives the error that carries the exit code, in words that help.
func (a *app) ended(r run.CaptureReport, f recordFlags) error {
	if r.Err == nil {
		return nil
	}
	var miss *cassette.MissError
	var file *scenario.FileError
	kept := ""
	if r.Partial != "" {
		kept = "; what was recorded is in " + r.Partial
	}
	switch {
	case errors.Is(r.Err, context.Canceled):
		return interrupted("interrupted%s", cmp.Or(kept, "; nothing was recorded"))
	case errors.As(r.Err, &miss):
		return &exitError{ExitFailed, fmt.Errorf("%s", a.blanked(r.Err.Error(), a.env(f.keyEnv)))}
	case errors.As(r.Err, &file):
		return invalid(r.Err)
	}
	return a.unanswered(r.Err, f, kept)
}

// unanswered words why a model that is really there did not answer.
func (a *app) unanswered(err error, f recordFlags, kept string) error {
	var refused *api.Error
	var dial *net.OpError
	text := a.blanked(err.Error(), a.env(f.keyEnv))
	switch {
	case errors.As(err, &refused):
		return refusal(refused, text, f, kept)
	case errors.As(err, &dial) && dial.Op == "dial":
		return usage("%s cannot be reached: %s; check --base-url and the network%s", f.baseURL, dial.Err, kept)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		text = "the stream broke off: " + text + "; try again"
	}
	return harness(fmt.Errorf("%s%s", text, kept))
}

func refusal(e *api.Error, text string, f recordFlags, kept string) error {
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return usage("%s; check the key in %s, or name another variable with --key-env%s", text, f.keyEnv, kept)
	case e.Status == http.StatusTooManyRequests || e.Status >= 500:
		return harness(fmt.Errorf("%s; try again later, or with more --retries%s", text, kept))
	}
	return usage("%s%s", text, kept)
}

// recordJob is a session to be held.
type recordJob struct {
	scenario *scenario.Scenario
	live     run.LiveConfig
	// cassette is the file, shown how the command line names it.
	cassette, shown string
	// prompt is set where there is no scenario yet; disk where its tools work on one.
	prompt *run.PromptScenario
	disk   *host.Disk
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (a *app) recordJob(args []string, f recordFlags) (*recordJob, error) {
	switch {
	case f.prompt != "" && len(args) > 0:
		return nil, usage("a scenario and --prompt exclude each other; give one")
	case f.prompt != "":
		return a.promptJob(f)
	case len(args) != 1:
		return nil, usage("name one scenario, or ask something with --prompt; see `toolbench record --help`")
	case f.tools == "disk" || f.write || f.model != "" || f.permission != "" || len(f.allow) > 0:
		return nil, usage("--tools, --write, --model, --allow and --permission-mode go with --prompt; a scenario has these under world")
	}
	return a.scenarioJob(args[0], f)
}

// scenarioJob records a scenario's cassette, of a file or of the suite.
func (a *app) scenarioJob(arg string, f recordFlags) (*recordJob, error) {
	sc, err := a.scenario(arg)
	if err != nil {
		return nil, err
	}
	out := f.out
	if out == "" && isFile(a.path(arg)) && sc.Cassette() != "" {
		out = filepath.Join(filepath.Dir(arg), filepath.FromSlash(sc.Cassette()))
	}
	if out == "" {
		return nil, usage("%s names no cassette of its own; name one with --out FILE.yaml", arg)
	}
	return a.jobFor(&recordJob{scenario: sc}, out)
}

func (a *app) jobFor(job *recordJob, out string) (*recordJob, error) {
	file, err := a.cassetteFile(out)
	job.cassette, job.shown = file, out
	return job, err
}

// cassetteFile is the file that --out names.
func (a *app) cassetteFile(out string) (string, error) {
	if filepath.Ext(out) != ".yaml" {
		return "", usage("--out %s: the name of a cassette ends in .yaml", out)
	}
	if info, err := os.Stat(a.path(out)); err == nil && !info.Mode().IsRegular() {
		return "", usage("--out %s: it is no file", out)
	}
	return a.path(out), nil
}

// promptJob makes a scenario of a prompt.
func (a *app) promptJob(f recordFlags) (*recordJob, error) {
	if f.out == "" {
		return nil, usage("name the cassette to write with --out FILE.yaml")
	}
	p := &run.PromptScenario{Name: run.ScenarioName(filepath.ToSlash(f.out)), Text: f.prompt, Cassette: filepath.Base(f.out), Mode: f.permission, Allow: f.allow, Model: f.model}
	job := &recordJob{prompt: p}
	if f.tools == "disk" {
		disk, root, err := a.openDisk(f)
		if err != nil {
			return nil, usage("--root %s: %s", f.root, reason(err))
		}
		p.Dir, job.disk = root, disk
		job.live.Disk = &run.Disk{FS: disk.FS, Resolve: disk.Resolve}
	} else if f.write {
		return nil, usage("--write goes with --tools disk")
	}
	var err error
	if job.scenario, err = p.Scenario(); err != nil {
		if file, ok := errors.AsType[*scenario.FileError](err); ok {
			return nil, usage("%s; %s", file.Problem, file.Remedy)
		}
		return nil, harness(err)
	}
	return a.jobFor(job, f.out)
}

func (a *app) openDisk(f recordFlags) (*host.Disk, string, error) {
	root, err := filepath.Abs(a.path(f.root))
	if err != nil {
		return nil, "", err
	}
	root = host.Follow(root)
	disk, err := host.Open(host.Config{Root: root, Write: f.write, Scratch: []string{toolsys.DefaultResultsDir}})
	return disk, root, err
}

// writeScenario writes what replays a session beside its cassette, and tries it: where
// the files of a disk cannot be reproduced exactly, requests may differ. It gives no name of one that fails.
func (a *app) writeScenario(ctx context.Context, job *recordJob, answers []run.PermitAnswer, finder *secret.Finder) (string, error) {
	p := *job.prompt
	p.Answers = answers
	if job.disk != nil {
		files, all := job.disk.Seen()
		p.Files, p.Lenient = files, !all
	}
	file := strings.TrimSuffix(job.shown, ".yaml") + ".scenario.yaml"
	if old, err := os.ReadFile(a.path(file)); err == nil { // somebody may have edited it
		if err := a.writeNamed(file+".bak", old); err != nil {
			return "", err
		}
		a.logf("what stood in %s is kept in %s.bak", file, file)
	}
	played := func(expect string) (check.Result, error) {
		text, err := p.YAML()
		if err != nil {
			return check.Result{}, harness(err)
		}
		if err := a.writeNamed(file, []byte(finder.Text(string(text)+expect, nil))); err != nil {
			return check.Result{}, err
		}
		sc, err := scenario.Load(host.DirFS(filepath.Dir(a.path(file))), filepath.Base(file))
		if err != nil {
			return check.Result{}, harness(err)
		}
		return run.Scenario(ctx, sc, run.Options{Seed: 1}), nil
	}
	for {
		out, err := played("")
		switch {
		case err != nil:
			return "", err
		case out.Status == check.Passed:
			return file, expecting(out, played)
		case p.Lenient:
			a.logf("%s does not replay the session as it stands: %v %v", file, out.Failures, out.Err)
			return "", nil
		}
		p.Lenient = true
		a.logf("the files and tools of this session cannot be reproduced exactly: %s lets requests differ (stream.requests: lenient)", file)
	}
}

// expecting writes what a run found as the scenario's expectations, if it then passes.
func expecting(out check.Result, played func(expect string) (check.Result, error)) error {
	for _, grows := range []bool{true, false} { // an answer without content is not sent back
		if again, err := played(draft.Expectations(out, grows)); err != nil || again.Status == check.Passed {
			return err
		}
	}
	_, err := played("")
	return err
}

// outdated prints what a scenario expects and its new cassette does not give: the times of
// a session in real time are not those of another.
func (a *app) outdated(ctx context.Context, job *recordJob) {
	out := run.Scenario(ctx, job.scenario, run.Options{Seed: 1})
	if out.Status != check.Failed {
		return
	}
	a.logf("not all expectations hold for what was recorded: %d do not; the first: %s: expected %s, found %s", len(out.Failures), out.Failures[0].Expectation, out.Failures[0].Expected, out.Failures[0].Found)
	a.logf("`toolbench run --update` takes the new figures; with stream.tolerance, as in `tolerance: 50ms`, times may differ")
}

// asker asks the person at the terminal for permission, one question at a time, and
// keeps the answers, so that they can be given again in a replay.
type asker struct {
	a      *app
	lines  <-chan string
	turn   chan struct{} // held by who asks, and who reads or writes what follows
	always map[string]bool
	given  []run.PermitAnswer
}

func (k *asker) answers() []run.PermitAnswer {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	return k.given
}

func (k *asker) ask(ctx context.Context, q pipeline.Question) (pipeline.Reply, error) {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return pipeline.Reply{}, context.Cause(ctx)
	}
	defer func() { <-k.turn }()
	allow, err := k.allows(ctx, q)
	if err != nil {
		return pipeline.Reply{}, err
	}
	k.given = append(k.given, run.PermitAnswer{Call: q.CallID, Allow: allow})
	return pipeline.Reply{Allow: allow}, nil
}

// allows asks until there is an answer, unless one was given for good.
func (k *asker) allows(ctx context.Context, q pipeline.Question) (bool, error) {
	const most = 300
	for !k.always[q.Tool] {
		fmt.Fprintf(k.a.Stderr, "\r\x1b[K%s wants to run with %s\nallow it? [y]es, [n]o, [a]lways: ", reports.Safe(q.Tool), reports.Cut(reports.Safe(string(q.Input)), most, !k.a.unicode()))
		line, err := k.line(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "a", "always":
			k.always[q.Tool] = true
		case "n", "no":
			return false, nil
		}
	}
	return true, nil
}

// line reads one line; a reader that is waited for in vain is left behind.
func (k *asker) line(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = linesOf(k.a.Stdin)
	}
	select {
	case line, ok := <-k.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
