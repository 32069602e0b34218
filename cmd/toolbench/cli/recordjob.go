package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"toolbench/scenarios"
	"toolbench/sim/capture"
	"toolbench/sim/scenario"
	"toolbench/sim/secret"
	"toolbench/toolsys"
	"toolbench/toolsys/host"
)

// recordJob is a session to be held.
type recordJob struct {
	scenario *scenario.Scenario
	live     scenario.Live
	// cassette is the file, shown how the command line names it.
	cassette, shown string
	// prompt is set where there is no scenario yet; disk where its tools work on one.
	prompt *capture.Prompt
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
		fsys, name, beside = os.DirFS(filepath.Dir(a.path(arg))), filepath.Base(arg), filepath.Dir(arg)
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
		return nil, usage("%s names no cassette of its own; say where it goes with --out FILE.yaml", arg)
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
		return nil, usage("say where the cassette goes with --out FILE.yaml")
	}
	p := &capture.Prompt{Name: capture.NameOf(filepath.ToSlash(f.out)), Text: f.prompt, Cassette: filepath.Base(f.out), Mode: f.permission, Allow: f.allow, Model: f.model}
	job := &recordJob{prompt: p}
	if f.tools == "disk" {
		disk, root, err := a.openDisk(f)
		if err != nil {
			return nil, usage("--root %s: %s", f.root, reason(err))
		}
		p.Dir, job.disk = root, disk
		job.live.Disk = &scenario.Disk{FS: disk.FS, Resolve: disk.Resolve}
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
	disk, err := host.Open(host.Config{
		Base: afero.NewOsFs(), Root: root, Write: f.write, Resolve: host.Follow, Scratch: []string{toolsys.DefaultResultsDir},
	})
	return disk, root, err
}

// writeScenario writes what replays a session beside its cassette, and tries it: where
// the world of a disk cannot be had again to the letter, requests are let differ.
func (a *app) writeScenario(ctx context.Context, job *recordJob, answers []capture.Answer, finder *secret.Finder) (string, error) {
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
		sc, err := scenario.Load(os.DirFS(filepath.Dir(a.path(file))), filepath.Base(file))
		if err != nil {
			return "", harness(err)
		}
		out := scenario.Run(ctx, sc, scenario.Options{Seed: 1})
		switch {
		case out.Status == scenario.Passed:
			return file, nil
		case p.Lenient:
			a.say("%s does not replay the session as it stands: %v %v", file, out.Failures, out.Err)
			return file, nil
		}
		p.Lenient = true
		a.say("the world of this session cannot be had again to the letter: %s lets requests differ (stream.requests: lenient)", file)
	}
}
