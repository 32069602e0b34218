package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/toolsys/schedule"
)

type replayFlags struct {
	printing
	baseline
	assumptionFlags
	spreadFlags
	policies []schedule.Policy
	seed     uint64
	strict   bool
	shard    part
	patience time.Duration
	// spreads: others take part, or processes of this machine. Child is set in one of those.
	spreads, child bool
}

func (a *app) replayCommand() *cobra.Command {
	f := replayFlags{printing: printing{outputs: outputs{names: append(timelines(), exports()...)}}}
	cmd := &cobra.Command{Use: "replay FILE|FOLDER...", Short: "Replay recorded sessions"}
	flags := cmd.Flags()
	f.baseline.add(flags)
	f.briefly(flags, "show every column and what is to be known of each recording, also of many")
	f.assumptionFlags.add(flags)
	own(flags, &value[[]schedule.Policy]{to: &f.policies, parse: somePolicies, kind: "POLICIES"}, "policy", "compare these only, with commas: serial, batch, streaming")
	flags.Uint64Var(&f.seed, "seed", 1, "what orders things that happen in one instant")
	flags.BoolVar(&f.strict, "strict", false, "end with 1 if a recording has problems of its own")
	flags.Var(&value[part]{to: &f.shard, parse: shard, kind: "I/N"}, "shard", "replay the I-th of N parts of the files")
	f.spreadFlags.add(flags, 200, "files")
	flags.Lookup("workers").DefValue = "" // without it, one process replays all
	f.patience = replayPatience
	flags.Var(period(&f.patience, time.Millisecond), "patience", "how long a recording may make no progress in a worker's process before that is ended")
	flags.BoolVar(&f.unsent, "unsent", false, "send no files: all workers have the same ones at the same paths")
	flags.BoolVar(&f.child, "child", false, "replay a batch for a parent")
	flags.Lookup("child").Hidden = true
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error {
		f.spreads = slices.ContainsFunc(strings.Fields("workers part nats listen store name replicas tries silence patience unsent"), flags.Changed)
		return a.replay(cmd.Context(), args, f)
	})
}

// somePolicies reads names separated by commas, each once, in the fixed order.
func somePolicies(text string) ([]schedule.Policy, error) {
	asked, err := tryEach(splitList(text), func(name string) (schedule.Policy, error) {
		p, err := schedule.ParsePolicy(name)
		if err == nil && !slices.Contains(replay.Policies(), p) {
			err = fmt.Errorf("recordings do not contain what calls read and write, which %s goes by: use serial, batch or streaming", p)
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(replay.Policies(), func(p schedule.Policy) bool { return !slices.Contains(asked, p) }), nil
}

// replay runs the command and gives the error that carries its exit code.
func (a *app) replay(ctx context.Context, args []string, f replayFlags) error {
	if f.child {
		return a.replayChild(ctx)
	}
	if len(args) == 0 {
		return usage("name a recording or a folder of them, as in `toolbench replay session.jsonl`")
	}
	against, err := a.readBaseline(f.baseline, "replay")
	if err != nil {
		return err
	}
	files, err := a.recordings(args)
	if err != nil {
		return err
	}
	dealt, files := f.dealt(files)
	if err := a.export(files, &f.outputs); err != nil {
		return err
	}
	options := replay.Options{Safe: f.safe, Durations: f.durations, Pace: &f.pace, Policies: f.policies, Seed: f.seed, Secrets: a.secrets(), Events: f.outputs.wants(timelines()...)}
	done := &replayed{}
	switch {
	case !f.spreads:
		a.replayAll(ctx, files, options, done)
	case options.Events:
		return usage("a timeline is of what this process replayed: leave out --workers, --nats, --listen and --store, or --format %s", strings.Join(timelines(), ", "))
	case f.patience < time.Second:
		return usage("--patience %s: a process may take that long to start; give at least 1s", f.patience)
	default:
		if done, err = a.spreadReplay(ctx, files, options, f.spreadFlags, f.patience); err != nil {
			return err
		}
	}
	done.Shard = dealt
	return a.concludeReplay(ctx, done, len(files), against, f)
}

// dealt gives the part of the files that --shard names, one after the other, and what it is of.
func (f *replayFlags) dealt(files []found) (*reports.ReplayShard, []found) {
	if f.shard.n == 0 {
		return nil, files
	}
	names := sha256.New()
	for _, file := range files {
		fmt.Fprintf(names, "%q\n", file.path)
	}
	all := len(files)
	return &reports.ReplayShard{Part: f.shard.i, Of: f.shard.n, Files: all, List: hex.EncodeToString(names.Sum(nil)[:8])},
		files[(f.shard.i-1)*all/f.shard.n : f.shard.i*all/f.shard.n]
}

// replayAll replays files in this process, one after the other.
func (a *app) replayAll(ctx context.Context, files []found, o replay.Options, done *replayed) {
	shown := a.progress(true)
	defer shown.start(len(files))()
	for _, file := range files {
		if ctx.Err() != nil {
			return
		}
		shown.began(file.path)
		done.take(file, a.replayFile(ctx, file, o))
		shown.ended()
	}
}

// replayed is what has come of the files so far.
type replayed struct {
	reports.ReplayReport
	// bad are files that were named and cannot be replayed; failed is the harness's own fault.
	bad    []error
	failed []error
	files  int
}

// take sorts a report: a file that only lay in a folder may be anything.
func (d *replayed) take(file found, r replay.Report) {
	d.files++
	switch {
	case r.Err != nil && recordingError(r.Err) == 0:
		d.failed = append(d.failed, r.Err)
	case errors.Is(r.Err, recording.ErrNotRecording) && !file.named:
		d.Skipped = append(d.Skipped, skippedFile(file.path, r.Err))
		return
	case r.Err != nil:
		d.bad = append(d.bad, r.Err)
	}
	if !errors.Is(r.Err, recording.ErrNotRecording) { // of which nothing can be shown
		d.Recordings = append(d.Recordings, r)
	}
}

// concludeReplay prints the report and gives the error that carries the exit code.
func (a *app) concludeReplay(ctx context.Context, d *replayed, of int, against *reference, f replayFlags) error {
	stopped := ctx.Err() != nil
	whole := d.files - len(d.failed)
	d.failed = slices.DeleteFunc(d.failed, func(err error) bool { return stopped && errors.Is(err, context.Cause(ctx)) })
	if err := a.print(d.ReplayReport, f.printing); err != nil {
		return err
	}
	judged := a.compareWith(reports.StoredOf("replay", d.ReplayReport), against, f.outputs, f.displayFlags)
	switch {
	case stopped:
		return interrupted("interrupted: %d of %d files were replayed", whole+len(d.failed), of)
	case len(d.failed) > 0:
		return harness(errors.Join(d.failed...))
	case len(d.bad) > 0:
		return invalid(errors.Join(d.bad...))
	case len(d.Recordings) == 0 && d.Shard == nil:
		return usage("none of the %d files is a recording", d.files)
	case f.strict && slices.ContainsFunc(d.Recordings, func(r replay.Report) bool { return len(r.Problems) > 0 }):
		return &exitError{ExitFailed, errors.New("a recording has problems of its own")}
	}
	return judged
}

// found is a file to be replayed. Named ones stand on the command line themselves.
type found struct {
	path  string
	named bool
}

// maxRecordings is how many files one command looks at.
const maxRecordings = 10_000

// recordings gives the files of the arguments, folders searched in the order of their paths, each file once. Links to
// folders are not followed: they may lead round in circles.
func (a *app) recordings(args []string) ([]found, error) {
	var all []found
	seen := map[string]int{}
	add := func(f found) error {
		path := a.absolute(f.path)
		if at, known := seen[path]; known {
			all[at].named = all[at].named || f.named
			return nil
		}
		if len(all) == maxRecordings {
			return usage("more than %d files: name fewer, or a folder further down", maxRecordings)
		}
		seen[path] = len(all)
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

// within gives the files of a folder, and of one that a link leads to: the separator has it followed.
func (a *app) within(root string, add func(found) error) error {
	clean := filepath.Clean(root)
	err := filepath.WalkDir(a.path(root)+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
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
	if _, ours := errors.AsType[*exitError](err); err != nil && !ours {
		return usage("%s: %s", root, reason(err))
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

// exports are the forms in which replay writes the conversations themselves.
func exports() []string { return []string{string(recording.ATIF), string(recording.GenAI)} }

// export writes the conversations of recordings to the files that were asked for in these
// forms, and takes those out of the outputs: the others are of the report.
func (a *app) export(files []found, outs *outputs) error {
	if slices.Contains(exports(), outs.screen) {
		return usage("--format %s: name a file for it, as %[1]s=session.json", outs.screen)
	}
	asked := slices.Clone(outs.files)
	outs.files = slices.DeleteFunc(outs.files, func(f fileOutput) bool { return slices.Contains(exports(), f.format) })
	if len(asked) == len(outs.files) {
		return nil
	}
	var all []*recording.Conversation
	for _, file := range files {
		conversations, err := a.conversations(file)
		if err != nil {
			return err
		}
		all = append(all, conversations...)
	}
	for i, c := range all { // each file counts its own from 1
		c.Number = i + 1
	}
	blank := reports.Options{Secrets: a.secrets()}.Blank()
	for _, f := range asked {
		if !slices.Contains(exports(), f.format) {
			continue
		}
		doc, left := recording.Export(f.format).Write(all, blank)
		if err := a.writeNamed(f.file, append(doc, '\n')); err != nil {
			return err
		}
		if left > 0 {
			a.logf("%s: %d answers that did not come to their end are left out", f.file, left)
		}
	}
	return nil
}

// conversations reads a file; one that is no recording has none, and the report names it.
func (a *app) conversations(f found) ([]*recording.Conversation, error) {
	rec, err := readWith(a, f.path, func(r *os.File) (*recording.Recording, error) {
		return recording.Open(f.path, r, recording.Limits{}, nil)
	})
	if errors.Is(err, recording.ErrNotRecording) {
		return nil, nil
	}
	if err != nil {
		return nil, invalid(err)
	}
	return rec.Conversations, nil
}
