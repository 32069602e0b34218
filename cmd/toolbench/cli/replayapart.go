package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"toolbench/sim/replay"
)

// replayPatience is how long a recording may make no progress, by default.
const replayPatience = time.Minute

// replayBatch is what a process is given to replay.
type replayBatch struct {
	Options replay.Options
	Files   []replayInput
	// patience is the parent's alone.
	patience time.Duration
}

// replayNote is what the process of a batch tells its parent: the report of the next file, or, without
// one, that it goes on with that file.
type replayNote struct{ Done *replayedFile }

// replayNotes writes the notes of a batch.
type replayNotes struct {
	mu   sync.Mutex
	to   *bufio.Writer
	gob  *gob.Encoder
	last time.Time
}

func newReplayNotes(w io.Writer) *replayNotes {
	to := bufio.NewWriter(w)
	return &replayNotes{to: to, gob: gob.NewEncoder(to)}
}

// noteEvery is how often a process says at most that it goes on.
const noteEvery = 100 * time.Millisecond

// moved notes that the replay goes on. A parent that has ended reads none.
func (n *replayNotes) moved() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.last) >= noteEvery {
		n.last = now
		_ = n.write(replayNote{})
	}
}

func (n *replayNotes) done(r replayedFile) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.write(replayNote{&r})
}

func (n *replayNotes) write(note replayNote) error {
	return cmp.Or(n.gob.Encode(note), n.to.Flush())
}

// replay replays the files of a batch, one after the other, and hands their reports on.
func (b replayBatch) replay(ctx context.Context, done func(replayedFile) error) error {
	for _, in := range b.Files {
		r := replayedFile{Report: in.replay(ctx, b.Options)}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Report.Err; err != nil {
			r.Error, r.Report.Err = err.Error(), nil
			r.Kind = 1 + slices.IndexFunc(recordingErrors(), func(kind error) bool { return errors.Is(err, kind) })
		}
		if err := done(r); err != nil {
			return err
		}
	}
	return nil
}

// replayChild replays a batch for a parent.
func (a *app) replayChild(ctx context.Context) error {
	var b replayBatch
	if err := gob.NewDecoder(a.Stdin).Decode(&b); err != nil {
		return usage("--child is for toolbench itself: %s", err)
	}
	// As in fuzzChild: little memory is held, and nothing runs beside anything else.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	notes := newReplayNotes(a.Stdout)
	b.Options.Moved = notes.moved
	return wrap(b.replay(ctx, notes.done))
}

// replayApart replays a batch in processes of its own, so that a file which crashes one ends nothing
// else. One that hangs is ended, the file it was at has that as its error, and another goes on with the
// files behind it. Where the program does not know its own path, it replays the batch in this process.
func (a *app) replayApart(ctx context.Context, b replayBatch) ([]byte, error) {
	var all []replayedFile
	take := func(r replayedFile) error { all = append(all, r); return nil }
	var err error
	if a.Self == "" {
		err = b.replay(ctx, take)
	}
	for err == nil && len(all) < len(b.Files) {
		rest := b
		rest.Files = b.Files[len(all):]
		if err = a.replayProcess(ctx, rest, take); errors.Is(err, errReplayHangs) && len(all) < len(b.Files) {
			path := b.Files[len(all)].Of.Path
			err = take(replayedFile{Report: replay.Report{File: path}, Error: fmt.Sprintf("%s: nobody could replay it: %s", path, hung(b.patience))})
		}
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(all)
	return out.Bytes(), err
}

var (
	errReplayHangs = errors.New("the replay hangs")
	errReplayEnded = errors.New("its process ended before it was replayed")
)

func hung(patience time.Duration) string {
	return fmt.Sprintf("its process was ended after %s without progress; give it more with --patience", patience)
}

// replayProcess replays a batch in one process and takes the reports as they come. errReplayHangs means
// that the process was ended, as it made no progress.
func (a *app) replayProcess(ctx context.Context, b replayBatch, take func(replayedFile) error) error {
	var in bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(b); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	errs := &limitedBuffer{most: 1 << 15}
	cmd := exec.CommandContext(ctx, a.Self, "replay", "--child")
	cmd.Env, cmd.Dir, cmd.WaitDelay = append(slices.Clone(a.Env), "GITHUB_ACTIONS="), a.Dir, time.Second
	cmd.Stdin, cmd.Stderr = &in, errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	watch := time.AfterFunc(b.patience, func() { end(errReplayHangs) })
	left, err := readNotes(out, len(b.Files), take, func() { watch.Reset(b.patience) })
	watch.Reset(b.patience)         // it may not end, though all its notes are there
	_, _ = io.Copy(io.Discard, out) // it may still write where its notes could not be read
	ended := cmd.Wait()
	watch.Stop()
	switch {
	case left == 0 && err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errReplayHangs):
		return errReplayHangs
	case ended != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return errors.New(cmp.Or(strings.TrimPrefix(first, "toolbench: "), ended.Error()))
	}
	return cmp.Or(err, errReplayEnded)
}

// readNotes takes the reports of so many files as they come, and gives how many did not; moved is called
// at every note.
func readNotes(r io.Reader, left int, take func(replayedFile) error, moved func()) (int, error) {
	notes := gob.NewDecoder(r)
	for left > 0 {
		var n replayNote
		if err := notes.Decode(&n); err != nil {
			if errors.Is(err, io.EOF) {
				return left, nil
			}
			return left, err
		}
		moved()
		if n.Done == nil {
			continue
		}
		if err := take(*n.Done); err != nil {
			return left, err
		}
		left--
	}
	return 0, nil
}
