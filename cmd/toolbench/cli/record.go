package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/scenarios"
	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/host"
)

const recordLong = `Records a session with a model that is really there: a scenario's prompt, or one of
your own, over the Messages API at --base-url, in real time, into a cassette with the
times of its events. Secrets are blanked before anything is written: the key in use,
the values of variables with the name of a secret, in whatever form they appear, and what
looks like a key.

The default mode never touches the network:
  replay-only    what the cassette does not have is an error
  once           records if there is no cassette, and replays otherwise
  new-episodes   replays what the cassette has, and records the rest behind it
  all            records anew; the cassette is replaced when the session is whole

With --prompt, a scenario that replays the session is written beside the cassette. Its
tools work in memory, or with --tools disk on the files below --root, as an overlay:
nothing is written to the disk without --write. A tool that needs permission asks at
the terminal; where there is none, it is refused unless --allow or --permission-mode
lets it through.`

const recordExample = `  toolbench record mine.yaml --mode once
  toolbench record --prompt 'What does main.go do?' --tools disk --root . --out answer.yaml --mode all
  toolbench record --prompt 'Hello' --out hello.yaml --mode once --base-url http://127.0.0.1:8080
  toolbench record mine.yaml --format json`

const recordCodes = `Exit codes:
  0    the session came to its end
  1    the cassette has no answer for what was asked
  2    the command line or a file is wrong, the API refused the key or the request,
       or could not be reached
  3    the API had no time, the stream broke off, or the harness itself failed
  130  interrupted; what was recorded is kept in a file named partial`

type recordFlags struct {
	looks
	prompt, out, baseURL, keyEnv, model string
	tools, root, permission, format     string
	mode                                run.CaptureMode
	allow                               []string
	write, schema                       bool
	retries                             int
}

func (a *app) recordCommand() *cobra.Command {
	f := recordFlags{format: "table", mode: run.ReplayOnly, tools: "memory", root: ".", retries: 2}
	cmd := &cobra.Command{
		Use: "record SCENARIO", Short: "Record a session with a real model", Long: recordLong + "\n\n" + recordCodes, Example: recordExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.record(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringVar(&f.prompt, "prompt", "", "what to ask, in place of a scenario")
	mode := &value[run.CaptureMode]{to: &f.mode, parse: run.ParseCaptureMode, kind: "MODE", text: string(f.mode)}
	flags.VarPF(mode, "mode", "", strings.Join(run.CaptureModes(), ", ")).Annotations = map[string][]string{ownValues: {"record"}}
	flags.StringVar(&f.out, "out", "", "the cassette's file; without, the scenario's own")
	flags.StringVar(&f.baseURL, "base-url", strings.TrimSuffix(api.DefaultBaseURL, "/"), "where the API is")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "the variable that holds the key")
	flags.StringVar(&f.model, "model", "", "with --prompt: the model")
	tools := &value[string]{to: &f.tools, parse: oneOf("memory", "disk"), kind: "WHERE", text: f.tools}
	flags.VarPF(tools, "tools", "", "with --prompt: where tools work, memory or disk").Annotations = map[string][]string{ownValues: {"record"}}
	flags.StringVar(&f.root, "root", f.root, "with --tools disk: the folder that can be seen")
	flags.BoolVar(&f.write, "write", false, "with --tools disk: let changes through to the disk")
	flags.StringArrayVar(&f.allow, "allow", nil, "with --prompt: a permission rule, as 'Bash(ls:*)'; repeatable")
	flags.StringVar(&f.permission, "permission-mode", "", "with --prompt: default, plan, acceptEdits or bypass")
	flags.Var(&value[int]{to: &f.retries, parse: atLeast(0), kind: "N", text: "2"}, "retries", "how often a request is sent again that the API had no time for")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and record nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"record"}}
	cmd.ValidArgsFunction = a.completeNames
	return cmd
}

// record is the way from arguments to the exit code.
func (a *app) record(ctx context.Context, args []string, f recordFlags) error {
	if f.schema {
		return a.printAll(reports.Schema("record"))
	}
	job, err := a.recordJob(args, f)
	if err != nil {
		return err
	}
	if job.disk != nil {
		defer job.disk.Close()
	}
	key := a.env(f.keyEnv)
	if key == "" && f.mode.Records(exists(job.cassette)) {
		return usage("there is no key: set %s, or name the variable that holds it with --key-env", f.keyEnv)
	}
	if err := reachableBase(f.baseURL); err != nil {
		return err
	}
	clock, progress := toolsys.RealClock(), &recordProgress{w: a.Stderr, enabled: isTerminal(a.Stderr) && a.env("CI") == ""}
	asker := a.asker(f)
	job.live.Transport, job.live.BaseURL, job.live.Key = http.DefaultTransport, strings.TrimSuffix(f.baseURL, "/")+"/", key
	job.live.Ask = asker.handler()
	known := append([]secret.Known{{Name: f.keyEnv, Value: key}}, secret.FromEnv(a.Env)...)
	report, err := run.Capture(ctx, run.CaptureConfig{
		Scenario: job.scenario, Cassette: job.cassette, Mode: f.mode, Live: job.live, Known: known,
		Retries: f.retries, Now: clock.Now, Progress: progress.progress, Notice: func(text string) { progress.clear(); a.logf("%s", text) },
		Wait: func(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, "record", d) },
	})
	progress.clear()
	if err != nil {
		return notBegun(job, err)
	}
	report.Cassette = job.shown
	if report.Partial != "" {
		report.Partial = strings.TrimSuffix(job.shown, ".yaml") + ".partial.yaml"
	}
	written := ""
	if report.Err == nil && report.Recorded > 0 && job.prompt != nil {
		if written, err = a.writeScenario(ctx, job, asker.answers(), secret.New(known...)); err != nil {
			return err
		}
	}
	if err := a.printRecord(report, written, f); err != nil {
		return err
	}
	return a.ended(report, f)
}

func (a *app) printRecord(r run.CaptureReport, written string, f recordFlags) error {
	if f.format == "json" {
		return wrap(reports.RecordJSON(a.Stdout, r, written))
	}
	if err := reports.RecordTable(a.Stdout, r, a.drawing(f.looks)); err != nil || written == "" {
		return wrap(err)
	}
	_, err := fmt.Fprintf(a.Stdout, "toolbench run %s replays it\n", written)
	return wrap(err)
}

// reachableBase refuses addresses that a key must not go to.
func reachableBase(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage("--base-url %q is no address of an API; write one like https://api.anthropic.com or http://127.0.0.1:8080", base)
	}
	if u.User != nil {
		return usage("--base-url holds credentials; put the key into a variable and name it with --key-env")
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); u.Scheme == "http" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage("--base-url %s would send the key unencrypted to another machine; use https", base)
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
		return &exitError{ExitUsage, err}
	}
	return usage("%s cannot be recorded: %s; name another file with --out", job.shown, reason(err))
}

// ended gives the error that carries the exit code, in words that help.
func (a *app) ended(r run.CaptureReport, f recordFlags) error {
	if r.Err == nil {
		return nil
	}
	var refused *api.Error
	var miss *cassette.MissError
	var file *scenario.FileError
	var dial *net.OpError
	kept := ""
	if r.Partial != "" {
		kept = "; what was recorded is in " + r.Partial
	}
	finder := secret.New(secret.Known{Name: f.keyEnv, Value: a.env(f.keyEnv)})
	text := finder.Text(r.Err.Error(), nil)
	switch {
	case errors.Is(r.Err, context.Canceled):
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted%s", cmp.Or(kept, "; nothing was recorded"))}
	case errors.As(r.Err, &miss):
		return &exitError{ExitFailed, fmt.Errorf("%s", text)}
	case errors.As(r.Err, &file):
		return &exitError{ExitUsage, r.Err}
	case errors.As(r.Err, &refused):
		return refusal(refused, text, f, kept)
	case errors.As(r.Err, &dial) && dial.Op == "dial":
		return usage("%s cannot be reached: %s; check --base-url and the network%s", f.baseURL, dial.Err, kept)
	}
	if errors.Is(r.Err, io.ErrUnexpectedEOF) {
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
	fsys, name, beside := fs.FS(nil), "", ""
	if info, err := os.Stat(a.path(arg)); err == nil && info.Mode().IsRegular() {
		fsys, name, beside = host.DirFS(filepath.Dir(a.path(arg))), filepath.Base(arg), filepath.Dir(arg)
	} else {
		for _, e := range a.suite() {
			if e.Name == arg {
				fsys, name = scenarios.Files, strings.TrimPrefix(e.File, "scenarios/")
			}
		}
	}
	if fsys == nil {
		return nil, usage("%s is no file and no scenario of the suite; see `toolbench list`", arg)
	}
	sc, err := scenario.Load(fsys, name)
	if err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	out := f.out
	if out == "" && beside != "" && sc.Cassette() != "" {
		out = filepath.Join(beside, filepath.FromSlash(sc.Cassette()))
	}
	if out == "" {
		return nil, usage("%s names no cassette of its own; name one with --out FILE.yaml", arg)
	}
	return a.jobFor(&recordJob{scenario: sc}, out)
}

func (a *app) jobFor(job *recordJob, out string) (*recordJob, error) {
	if filepath.Ext(out) != ".yaml" {
		return nil, usage("--out %s: the name of a cassette ends in .yaml", out)
	}
	if info, err := os.Stat(a.path(out)); err == nil && !info.Mode().IsRegular() {
		return nil, usage("--out %s: it is no file", out)
	}
	job.cassette, job.shown = a.path(out), out
	return job, nil
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
		var file *scenario.FileError
		if errors.As(err, &file) {
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
// the files of a disk cannot be reproduced exactly, requests may differ.
func (a *app) writeScenario(ctx context.Context, job *recordJob, answers []run.PermitAnswer, finder *secret.Finder) (string, error) {
	p := *job.prompt
	p.Answers = answers
	if job.disk != nil {
		files, all := job.disk.Seen()
		p.Files, p.Lenient = files, !all
	}
	file := strings.TrimSuffix(job.shown, ".yaml") + ".scenario.yaml"
	for {
		text, err := p.YAML()
		if err != nil {
			return "", harness(err)
		}
		text = []byte(finder.Text(string(text), nil))
		if err := writeWhole(a.path(file), text); err != nil {
			return "", usage("%s cannot be written: %s", file, reason(err))
		}
		sc, err := scenario.Load(host.DirFS(filepath.Dir(a.path(file))), filepath.Base(file))
		if err != nil {
			return "", harness(err)
		}
		out := run.Scenario(ctx, sc, run.Options{Seed: 1})
		switch {
		case out.Status == check.Passed:
			return file, nil
		case p.Lenient:
			a.logf("%s does not replay the session as it stands: %v %v", file, out.Failures, out.Err)
			return file, nil
		}
		p.Lenient = true
		a.logf("the files and tools of this session cannot be reproduced exactly: %s lets requests differ (stream.requests: lenient)", file)
	}
}
