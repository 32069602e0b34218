package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/draft"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

const initLong = `Writes a scenario to begin with: the smallest one, or, with --from, one for each
conversation of a recording, in any format that replay reads.

A drafted scenario runs as it stands and fails when a call is reordered, dropped or
changed. Its tools are stand-ins with the recorded schemas and answers (--tools real puts
built-in file tools in their place where these give what was recorded), its cassette
has the recorded stream with this system's own requests, its tree the files that the
session saw, its expectations are what a first run found. The user's messages are the
recorded ones. Where the recording has times, calls take theirs, and tools whose calls ran
beside others are marked safe; every other tool is exclusive, unless its definition or
--safe names it. What was made up, assumed or left out is listed here and on
top of the file. Secrets are blanked. Files that exist are left alone without --force.`

const initExample = `  toolbench init                                   my-scenario.yaml, the smallest one
  toolbench init greet --out scenarios
  toolbench init --from session.jsonl --out mine && toolbench run mine
  toolbench init --from c.yaml --safe 'view,ls' --durations 'view=300ms,*=1s'`

const initCodes = `Exit codes:
  0    written; each draft passes as it stands
  2    the command line is wrong, a file exists, or the recording is none or too large
  3    the harness itself failed
  130  interrupted`

type initFlags struct {
	looks
	from, out, format string
	force, schema     bool
	tools             string
	safe              replay.Globs
	durations         replay.Durations
	pace              stream.Pace
}

func (a *app) initCommand() *cobra.Command {
	f := initFlags{format: "table", tools: "stand-in", pace: replay.DefaultPace(), out: "."}
	cmd := &cobra.Command{
		Use: "init [NAME]", Short: "Write a scenario to begin with", Long: initLong + "\n\n" + initCodes, Example: initExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.init(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringVar(&f.from, "from", "", "draft scenarios from this recording")
	flags.StringVar(&f.out, "out", f.out, "the folder to write into")
	flags.BoolVar(&f.force, "force", false, "replace files that exist")
	flags.Var(&value[replay.Globs]{to: &f.safe, parse: replay.ParseGlobs, kind: "GLOBS"}, "safe", "tools that may run beside others, as 'view,ls,mcp__*'")
	flags.Var(&value[replay.Durations]{to: &f.durations, parse: replay.ParseDurations, kind: "DURATIONS"}, "durations",
		fmt.Sprintf("what tools take that were not measured, as 'Read=300ms,*=1s'; without, %s", replay.DefaultDuration))
	flags.Var(&value[stream.Pace]{to: &f.pace, parse: replay.ParsePace, kind: "PACE"}, "pace", "the speed of streams without times; without, first_byte=400ms,tps=80")
	flags.Var(&value[string]{to: &f.tools, parse: oneOf("stand-in", "real"), kind: "TOOLS", text: "stand-in"}, "tools",
		"real: the built-in Read, Write, Edit, Glob and Grep stand for recorded tools of their names, where they give what was recorded")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and write nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"init"}}
	return cmd
}

// init is the way from arguments to the exit code.
func (a *app) init(ctx context.Context, args []string, f initFlags) error {
	switch {
	case f.schema:
		return a.printAll(reports.Schema("init"))
	case len(args) > 1:
		return usage("name one scenario, as in `toolbench init greet`")
	case len(args) == 1 && f.from != "":
		return usage("a NAME and --from exclude each other: drafts are named after their recording")
	case f.from != "":
		return a.draft(ctx, f)
	}
	return a.smallest(append(args, "my-scenario")[0], f)
}

// smallest writes the scenario of the README.
func (a *app) smallest(name string, f initFlags) error {
	if draft.Slug(name) != name {
		return usage("%q is no name for a scenario; use small letters, digits and hyphens, as %q", name, draft.Slug(name))
	}
	file := filepath.Join(f.out, name+".yaml")
	if err := a.absent(f, file); err != nil {
		return err
	}
	if err := writeWhole(a.path(file), []byte(draft.Smallest(name))); err != nil {
		return harness(fmt.Errorf("writing %s: %w", file, err))
	}
	return a.printDrafts([]draft.Draft{{Name: name, File: name + ".yaml"}}, f)
}

// draft writes into a folder aside first: only what is whole is put in its place.
func (a *app) draft(ctx context.Context, f initFlags) error {
	file, err := os.Open(a.path(f.from))
	if err != nil {
		return usage("--from %s: %s", f.from, reason(err))
	}
	defer file.Close()
	aside, err := os.MkdirTemp("", "toolbench-init-*")
	if err != nil {
		return harness(err)
	}
	defer os.RemoveAll(aside) // what is left of it is nobody's loss
	drafts, err := draft.Write(ctx, aside, f.from, file, draft.Options{Pace: f.pace, Safe: f.safe, Durations: f.durations, Real: f.tools == "real"})
	if err != nil {
		return initError(ctx, err)
	}
	if err := a.place(aside, drafts, f); err != nil {
		return err
	}
	return a.printDrafts(drafts, f)
}

// initError gives an error the exit code it deserves.
func initError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{ExitInterrupted, errors.New("interrupted: nothing was written")}
	}
	for _, kind := range []error{recording.ErrNotRecording, recording.ErrTooLarge, recording.ErrUnreadable, draft.ErrNothing} {
		if errors.Is(err, kind) {
			return &exitError{ExitUsage, err}
		}
	}
	if bad, ok := errors.AsType[*scenario.FileError](err); ok {
		return usage("the draft cannot be a scenario: %s", bad)
	}
	return harness(err)
}

// absent refuses to replace what exists.
func (a *app) absent(f initFlags, files ...string) error {
	for _, file := range files {
		if _, err := os.Stat(a.path(file)); !f.force && !errors.Is(err, fs.ErrNotExist) {
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
	for _, name := range names {
		if err := a.absent(f, filepath.Join(f.out, name)); err != nil {
			return err
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(aside, name))
		if err == nil {
			err = writeWhole(a.path(filepath.Join(f.out, name)), data)
		}
		if err != nil {
			return harness(fmt.Errorf("writing %s: %w", filepath.Join(f.out, name), err))
		}
	}
	return nil
}

// printDrafts reports what was written, and how to run it.
func (a *app) printDrafts(drafts []draft.Draft, f initFlags) error {
	report := reports.InitReport{Folder: f.out, Drafts: drafts, Recorded: f.from != ""}
	if f.format == "json" {
		return wrap(reports.InitJSON(a.Stdout, report))
	}
	return wrap(reports.InitTable(a.Stdout, report, a.drawing(f.looks)))
}
