package cli

import (
	"bufio"
	"cmp"
	"context"
	_ "embed" // the files of a new project
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/draft"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

type initFlags struct {
	printing
	assumptionFlags
	from, out, tools string
	force, project   bool
	ci               string
	read             []string // the recordings
}

func (a *app) initCommand() *cobra.Command {
	f := initFlags{tools: "stand-in", out: "."}
	cmd := &cobra.Command{Use: "init [NAME]", Short: "Write a scenario to begin with"}
	flags := cmd.Flags()
	f.assumptionFlags.add(flags)
	flags.StringVar(&f.from, "from", "", "draft scenarios from this recording, or a folder of them")
	flags.StringVar(&f.out, "out", f.out, "the folder to write into")
	flags.BoolVar(&f.project, "project", false, "write a project: "+ConfigFile+", a first scenario, its schema; on a terminal, init without arguments asks")
	f.ci = ciNone
	flags.Var(choice(&f.ci, "CI", ciNone, ciGitHub), "ci", "with --project: write a workflow for it too")
	flags.BoolVar(&f.force, "force", false, "replace files that exist")
	flags.Var(choice(&f.tools, "TOOLS", "stand-in", "real"), "tools",
		"real: the built-in Read, Write, Edit, Glob and Grep stand for recorded tools of their names, where they give what was recorded")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.init(cmd.Context(), args, f) })
}

// assumptionFlags are the flags for what a recording does not have.
type assumptionFlags struct {
	safe      replay.Globs
	durations replay.Durations
	pace      stream.Pace
}

func (s *assumptionFlags) add(flags *pflag.FlagSet) {
	flags.Var(&value[replay.Globs]{to: &s.safe, parse: replay.ParseGlobs, kind: "GLOBS"}, "safe", "tools that may run beside others, as 'view,ls,mcp__*'")
	flags.Var(&value[replay.Durations]{to: &s.durations, parse: replay.ParseDurations, kind: "DURATIONS"}, "durations",
		fmt.Sprintf("what tools take that were not measured, as 'Read=300ms,*=1s'; without, %s", replay.DefaultDuration))
	addPace(flags, &s.pace)
}

func addPace(flags *pflag.FlagSet, to *stream.Pace) {
	*to = replay.DefaultPace()
	flags.Var(&value[stream.Pace]{to: to, parse: replay.ParsePace, kind: "PACE"}, "pace", "the speed of streams without times; without, first_byte=400ms,tps=80")
}

// init runs the command and gives the error that carries its exit code.
func (a *app) init(ctx context.Context, args []string, f initFlags) error {
	switch {
	case len(args) > 1:
		return usage("name one scenario, as in `toolbench init greet`")
	case len(args) == 1 && f.from != "":
		return usage("a NAME and --from exclude each other: drafts are named after their recording")
	case f.project && (f.from != "" || len(args) > 0):
		return usage("--project takes no NAME and no --from: it begins with a scenario of its own")
	case f.ci != ciNone && !f.project:
		return usage("--ci goes with --project")
	case f.from != "":
		return a.draft(ctx, f)
	case f.project:
		return a.writeProject(project{folder: "scenarios", tools: toolsNone, ci: f.ci}, f)
	case len(args) == 0 && a.Interactive:
		p, err := a.askProject()
		if err != nil {
			return err
		}
		return a.writeProject(p, f)
	}
	return a.smallest(append(args, "my-scenario")[0], f)
}

// smallest writes the scenario of the README.
func (a *app) smallest(name string, f initFlags) error {
	if draft.Slug(name) != name {
		return usage("%q is no name for a scenario; use small letters, digits and hyphens, as %q", name, draft.Slug(name))
	}
	if err := a.absent(f, name+".yaml"); err != nil {
		return err
	}
	if err := a.writeNamed(filepath.Join(f.out, name+".yaml"), []byte(draft.Smallest(name))); err != nil {
		return err
	}
	return a.concludeDrafts([]draft.Draft{{Name: name, File: name + ".yaml"}}, f)
}

// draftMemory is what the collector works to stay under while drafts are made: a recording
// is read in pieces, and what lives at a time is some cassettes' worth.
const draftMemory = 48 << 20

// draft writes into a folder aside first: only what is whole is put in its place.
func (a *app) draft(ctx context.Context, f initFlags) error {
	if _, err := os.Stat(a.path(f.from)); err != nil {
		return usage("--from %s: %s", f.from, reason(err))
	}
	files, err := a.recordings([]string{f.from})
	if err != nil {
		return err
	}
	if a.env("GOMEMLIMIT") == "" { // the heap of a collector that waits for it to double
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(draftMemory))
	}
	aside, err := os.MkdirTemp("", "toolbench-init-*")
	if err != nil {
		return harness(err)
	}
	defer os.RemoveAll(aside) // a temporary folder that stays behind does no harm
	f.read = each(files, func(from found) string { return from.path })
	drafts, failed := a.drafted(ctx, aside, files, f)
	if len(drafts) == 0 {
		return failed
	}
	if err := a.place(aside, drafts, f); err != nil {
		return err
	}
	return cmp.Or(a.concludeDrafts(drafts, f), failed)
}

// drafted writes the drafts of recordings. Of a folder, what is no recording is passed
// over, and so is one whose drafts another of its name has. What cannot be drafted is named, and
// the first such error is given with the drafts of all others.
func (a *app) drafted(ctx context.Context, aside string, files []found, f initFlags) ([]draft.Draft, error) {
	o := draft.Options{Pace: f.pace, Safe: f.safe, Durations: f.durations, Real: f.tools == "real"}
	var all []draft.Draft
	var failed error
	taken := map[string]bool{}
	for _, from := range files {
		names := draft.Names(from.path)
		at := slices.IndexFunc(names, func(name string) bool { return !taken[name] })
		if at < 0 {
			a.logf("%s: skipped: its drafts would have the names of others; draft it by itself", from.path)
			continue
		}
		o.Name = names[at]
		drafts, err := a.draftsOf(ctx, aside, from.path, o)
		if err != nil && errors.Is(err, recording.ErrNotRecording) && !from.named {
			skipped := skippedFile(from.path, err)
			a.logf("%s: skipped: %s", skipped.File, skipped.Reason)
			continue
		}
		if ctx.Err() != nil {
			return nil, interrupted("interrupted: nothing was written")
		}
		if err != nil && failed == nil {
			failed = initError(from.path, err)
		} else if err != nil {
			a.logf("%s", initError(from.path, err))
		}
		for _, d := range drafts {
			unnumbered := strings.TrimSuffix(strings.TrimRight(d.Name, "0123456789"), "-")
			taken[d.Name], taken[unnumbered] = true, true
		}
		all = append(all, drafts...)
	}
	if len(all) == 0 && failed == nil {
		return nil, usage("--from %s: it holds no recording", f.from)
	}
	return all, failed
}

func (a *app) draftsOf(ctx context.Context, aside, path string, o draft.Options) ([]draft.Draft, error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return draft.Write(ctx, aside, path, file, o)
}

// initError gives the error of a recording the exit code it deserves.
func initError(path string, err error) error {
	if recordingError(err) > 0 {
		return invalid(err)
	}
	if bad, ok := errors.AsType[*scenario.FileError](err); ok {
		return usage("%s: the draft cannot be a scenario: %s", path, bad)
	}
	return harness(fmt.Errorf("%s: %w", path, err))
}

// absent refuses to replace what exists in the folder to write into.
func (a *app) absent(f initFlags, names ...string) error {
	for _, name := range names {
		switch file := filepath.Join(f.out, name); {
		case a.isOneOf(file, f.read):
			return usage("%s: it is read here, and would be lost; name another folder with --out", file)
		case exists(a.path(file)) && !f.force:
			return usage("%s exists; write elsewhere with --out, or replace it with --force", file)
		}
	}
	return nil
}

// place puts the drafts where they are to be, all or none.
func (a *app) place(aside string, drafts []draft.Draft, f initFlags) error {
	var names []string
	for _, d := range drafts {
		names = append(names, d.File, filepath.FromSlash(d.Cassette))
		if d.Tree != "" {
			names = append(names, filepath.FromSlash(d.Tree))
		}
	}
	if err := a.absent(f, names...); err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(aside, name))
		if err != nil {
			return harness(fmt.Errorf("writing %s: %w", filepath.Join(f.out, name), err))
		}
		if err := a.writeNamed(filepath.Join(f.out, name), data); err != nil {
			return err
		}
	}
	return nil
}

// concludeDrafts puts the schema that their first lines name for editors beside drafts, unless a file of that name is
// there, and reports what was written and how to run it.
func (a *app) concludeDrafts(drafts []draft.Draft, f initFlags) error {
	if file := filepath.Join(f.out, draft.SchemaFile); !exists(a.path(file)) {
		if err := a.writeNamed(file, scenario.Schema()); err != nil {
			return err
		}
	}
	return a.print(reports.InitReport{Folder: f.out, Drafts: drafts, Recorded: f.from != ""}, f.printing)
}

// project is what init writes of a project: where its scenarios stand, whether programs of
// its own are tools, and which CI runs it.
type project struct {
	folder, tools, ci string
}

// ciNone and ciGitHub are the answers about CI, toolsNone and toolsOwn those about tools.
const (
	ciNone    = "none"
	ciGitHub  = "github"
	toolsNone = "built-in"
	toolsOwn  = "own"
)

// askProject asks the person at the terminal; an empty line takes what is proposed.
func (a *app) askProject() (project, error) {
	p := project{folder: "scenarios", tools: toolsNone, ci: ciNone}
	lines := bufio.NewScanner(a.Stdin)
	for _, q := range []struct {
		text string
		to   *string
		of   []string
	}{
		{"Folder for scenarios", &p.folder, nil},
		{"Tools of your own, as programs (built-in, own)", &p.tools, []string{toolsNone, toolsOwn}},
		{"CI (none, github)", &p.ci, []string{ciNone, ciGitHub}},
	} {
		fmt.Fprintf(a.Stderr, "%s [%s]: ", q.text, *q.to)
		if !lines.Scan() {
			return p, usage("init was not answered; `toolbench init --project` asks nothing")
		}
		*q.to = cmp.Or(strings.TrimSpace(lines.Text()), *q.to)
		if q.of != nil && !slices.Contains(q.of, *q.to) {
			return p, usage("%q is no answer; write %s", *q.to, strings.Join(q.of, " or "))
		}
	}
	return p, nil
}

// writeProject writes the project's file, a first scenario, and what CI needs.
func (a *app) writeProject(p project, f initFlags) error {
	if !filepath.IsLocal(p.folder) {
		return usage("the folder %s leads out of the project; name one inside", p.folder)
	}
	config := fmt.Sprintf("# Flags that this project always gives; `toolbench doctor` shows what is in force.\nrun: {paths: [%q]}\nlist: {paths: [%q]}\n", p.folder, p.folder)
	type file struct{ name, text string }
	files := []file{
		{filepath.Join(p.folder, "first.yaml"), draft.Smallest("first")},
		{filepath.Join(p.folder, draft.SchemaFile), string(scenario.Schema())},
	}
	if p.tools == toolsOwn {
		config += projectTool
		files = append(files, file{"lookup.sh", projectProgram})
	}
	if p.ci == ciGitHub {
		files = append(files, file{filepath.Join(".github", "workflows", "toolbench.yml"), fmt.Sprintf(projectWorkflow, p.folder)})
	}
	files = append(files, file{ConfigFile, config})
	if err := a.absent(f, each(files, func(one file) string { return one.name })...); err != nil {
		return err
	}
	for _, one := range files {
		name := filepath.Join(f.out, one.name)
		if err := a.writeNamed(name, []byte(one.text)); err != nil {
			return err
		}
		if err := a.printAll([]byte("wrote " + name)); err != nil {
			return err
		}
	}
	return a.printAll([]byte("run it with: toolbench run"))
}

var (
	//go:embed project/tools.yaml
	projectTool string
	//go:embed project/lookup.sh
	projectProgram string
	//go:embed project/workflow.yml
	projectWorkflow string // runs the scenarios of a folder; OWNER in it is for the reader to replace
)
