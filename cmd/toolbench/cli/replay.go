package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/stream"
	"toolbench/toolsys/schedule"
)

const replayLong = `Replays recorded sessions, whoever recorded them and whatever their tools are.

Stand-in tools are made from the definitions and results in the recording, and run
through the real scheduler, pipeline and schema validation, in virtual time, under
each policy. Formats are recognized by content: cassettes of go-vcr, VCR.py, PHP-VCR,
Ruby's VCR, nock and httpmock, httprr traces, HTTP archives, txtar, bare streams
(server-sent events, an event a line, binary frames), requests and responses as they
are, and agents' transcripts in JSON, whole or still being written. What is read is
the Messages API, wherever it is served, and Bedrock's Converse. A folder is searched
for recordings, and what else lies there is named with what it holds instead.

Few recorders take times down, and none takes down whether a tool may run beside
others. What is in the recording counts first; what is not is given by flags, or
assumed, and each figure names what it rests on. A tool of which nothing is known is
exclusive.`

const replayExample = `  toolbench replay session.jsonl                 a transcript, measured beside the policies
  toolbench replay ./cassettes --format json     all recordings of a folder
  toolbench replay c.yaml --safe 'view,ls,mcp__*' --durations 'Read=300ms,*=1s'
  toolbench replay c.yaml --pace first_byte=400ms,tps=80 --policy streaming`

const replayCodes = `Exit codes:
  0    everything was replayed, whatever is wrong with the recordings themselves
  1    with --strict: a recording has problems of its own
  2    the command line is wrong, a file is missing or is no recording
  3    the harness itself failed
  130  interrupted`

type replayFlags struct {
	looks
	safe      replay.Globs
	durations replay.Durations
	pace      stream.Pace
	policies  []schedule.Policy
	seed      uint64
	strict    bool
	schema    bool
	format    string
}

func (a *app) replayCommand() *cobra.Command {
	f := replayFlags{format: "table", pace: replay.DefaultPace()}
	cmd := &cobra.Command{
		Use: "replay FILE|FOLDER...", Short: "Replay recorded sessions", Long: replayLong + "\n\n" + replayCodes, Example: replayExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.Var(&value[replay.Globs]{to: &f.safe, parse: replay.ParseGlobs, kind: "GLOBS"}, "safe", "tools that may run beside others, as 'view,ls,mcp__*'")
	flags.Var(&value[replay.Durations]{to: &f.durations, parse: replay.ParseDurations, kind: "DURATIONS"}, "durations",
		fmt.Sprintf("what tools take that were not measured, as 'Read=300ms,*=1s'; without, %s", replay.DefaultDuration))
	flags.Var(&value[stream.Pace]{to: &f.pace, parse: replay.ParsePace, kind: "PACE"}, "pace", "the speed of streams without times; without, first_byte=400ms,tps=80")
	policy := &value[[]schedule.Policy]{to: &f.policies, parse: somePolicies, kind: "POLICIES"}
	flags.VarPF(policy, "policy", "", "compare these only, with commas: serial, batch, streaming").Annotations = map[string][]string{ownValues: {"replay"}}
	flags.Uint64Var(&f.seed, "seed", 1, "what orders things that happen in one instant")
	flags.BoolVar(&f.strict, "strict", false, "end with 1 if a recording has problems of its own")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and replay nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"replay"}}
	return cmd
}

// somePolicies reads names separated by commas, each once, in the fixed order.
func somePolicies(text string) ([]schedule.Policy, error) {
	var asked []schedule.Policy
	for _, name := range strings.Split(text, ",") {
		p, err := schedule.ParsePolicy(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(replay.Policies(), p) {
			return nil, fmt.Errorf("recordings do not contain what calls read and write, which %s goes by: use serial, batch or streaming", p)
		}
		asked = append(asked, p)
	}
	return slices.DeleteFunc(replay.Policies(), func(p schedule.Policy) bool { return !slices.Contains(asked, p) }), nil
}

// replay is the way from arguments to the exit code.
func (a *app) replay(ctx context.Context, args []string, f replayFlags) error {
	if f.schema {
		return a.printAll(reports.Schema("replay"))
	}
	if len(args) == 0 {
		return usage("name a recording or a folder of them, as in `toolbench replay session.jsonl`")
	}
	files, err := a.recordings(args)
	if err != nil {
		return err
	}
	options := replay.Options{Safe: f.safe, Durations: f.durations, Pace: &f.pace, Policies: f.policies, Seed: f.seed, Secrets: a.secrets()}
	done := &replayed{}
	for _, file := range files {
		if ctx.Err() != nil {
			break
		}
		done.take(file, a.replayFile(ctx, file, options))
	}
	return a.concludeReplay(ctx, done, len(files), f)
}

// replayed is what has come of the files so far.
type replayed struct {
	reports []replay.Report
	skipped []reports.Skipped
	// bad are files that were named and cannot be replayed; failed is the harness's
	// own fault.
	bad    []error
	failed []error
	files  int
}

// take sorts a report: a file that only lay in a folder may be anything.
func (d *replayed) take(file found, r replay.Report) {
	d.files++
	kinds := []error{recording.ErrNotRecording, recording.ErrTooLarge, recording.ErrUnreadable}
	known := slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(r.Err, kind) })
	switch {
	case r.Err != nil && !known:
		d.failed = append(d.failed, r.Err)
	case errors.Is(r.Err, recording.ErrNotRecording) && !file.named:
		d.skipped = append(d.skipped, reports.Skipped{File: file.path, Reason: strings.TrimPrefix(r.Err.Error(), file.path+": ")})
		return
	case r.Err != nil:
		d.bad = append(d.bad, r.Err)
	}
	if errors.Is(r.Err, recording.ErrNotRecording) {
		return // nothing of it can be shown
	}
	d.reports = append(d.reports, r)
}

// problems reports whether a recording has problems of its own.
func (d *replayed) problems() bool {
	return slices.ContainsFunc(d.reports, func(r replay.Report) bool { return len(r.Problems) > 0 })
}

// concludeReplay prints the report and gives the error that carries the exit code.
func (a *app) concludeReplay(ctx context.Context, d *replayed, of int, f replayFlags) error {
	interrupted := ctx.Err() != nil
	d.failed = slices.DeleteFunc(d.failed, func(err error) bool { return interrupted && errors.Is(err, context.Cause(ctx)) })
	if err := a.printReplay(d, f); err != nil {
		return err
	}
	switch {
	case interrupted:
		return &exitError{ExitInterrupted, fmt.Errorf("interrupted: %d of %d files were replayed", d.files-1, of)}
	case len(d.failed) > 0:
		return harness(errors.Join(d.failed...))
	case len(d.bad) > 0:
		return &exitError{ExitUsage, errors.Join(d.bad...)}
	case len(d.reports) == 0:
		return usage("none of the %d files is a recording", d.files)
	case f.strict && d.problems():
		return &exitError{ExitFailed, errors.New("a recording has problems of its own")}
	}
	return nil
}

func (a *app) printReplay(d *replayed, f replayFlags) error {
	if f.format == "json" {
		return wrap(reports.ReplayJSON(a.Stdout, d.reports, d.skipped))
	}
	return wrap(reports.ReplayTable(a.Stdout, d.reports, d.skipped, a.drawing(f.looks)))
}

// found is a file to be replayed. Named ones stand on the command line themselves.
type found struct {
	path  string
	named bool
}

// maxRecordings is how many files one command looks at.
const maxRecordings = 10_000

// recordings gives the files of the arguments, folders searched in the order of
// their paths, each file once. Links to folders are not followed: they may lead
// round in circles.
func (a *app) recordings(args []string) ([]found, error) {
	var all []found
	seen := map[string]bool{}
	add := func(f found) error {
		if seen[f.path] {
			return nil
		}
		if len(all) == maxRecordings {
			return usage("more than %d files: name fewer, or a folder further down", maxRecordings)
		}
		seen[f.path] = true
		all = append(all, f)
		return nil
	}
	for _, arg := range args {
		info, err := os.Stat(a.path(arg))
		switch {
		case err != nil:
			return nil, usage("%s: %s", arg, reason(err))
		case info.IsDir():
			err = a.within(arg, add)
		case !info.Mode().IsRegular():
			return nil, usage("%s: it is no file and no folder", arg)
		default:
			err = add(found{filepath.Clean(arg), true})
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// within gives the files of a folder.
func (a *app) within(root string, add func(found) error) error {
	clean := filepath.Clean(root)
	err := filepath.WalkDir(a.path(root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // follows a link to a file
		if d.IsDir() || err != nil || !info.Mode().IsRegular() {
			return nil
		}
		below, err := filepath.Rel(a.path(root), path)
		if err != nil {
			return err
		}
		return add(found{filepath.Join(clean, below), false})
	})
	var ours *exitError
	if err != nil && !errors.As(err, &ours) {
		return usage("%s: %s", root, reason(err))
	}
	return err
}

// reason is the system's error without the path, which the message has.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (a *app) replayFile(ctx context.Context, f found, o replay.Options) replay.Report {
	file, err := os.Open(a.path(f.path))
	if err != nil {
		return replay.Unopened(f.path, reason(err))
	}
	defer file.Close()
	return replay.Recording(ctx, f.path, file, o)
}
