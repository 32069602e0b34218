package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolbench/property/shards"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
)

// replaySpec is what the workers of a run replay: the files of a list, which was sent and is named by its
// digest. A worker blanks what looks like a secret. Values that only the machine of the run knows to be
// secret are blanked there, since they must not be sent.
type replaySpec struct {
	Options replay.Options
	List    string
	Files   int
	// Patience is how long a recording may make no progress.
	Patience time.Duration
}

// sentList are the files of a run in their order, and the packs that hold their bytes.
type sentList struct {
	Files []sentFile
	Packs []string
}

// sentFile is a file of a list: its digest, where its bytes stand in a pack (from 1; 0: they were
// not sent), or why it could not be read.
type sentFile struct {
	Path, Digest string
	Size         int64
	Pack         int
	At           int64
	Why          string
}

// replayer replays the parts that a worker takes.
type replayer struct {
	a    *app
	q    *shards.Queue
	spec replaySpec
	// here reports whether the worker is the process that began the run, so that the files are its own.
	here bool
	list sentList
	// packs are the fetched packs that the last part needed, as files in the folder dir.
	dir   string
	packs map[int]string
}

// end removes the packs that were fetched.
func (p *replayer) end() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) // a temporary folder that stays behind does no harm
	}
}

// play replays the files of a part.
func (p *replayer) play(ctx context.Context, r shards.Range) ([]byte, error) {
	if p.list.Files == nil {
		var text bytes.Buffer
		if err := p.q.Fetch(ctx, p.spec.List, &text); err != nil {
			return nil, err
		}
		if err := gob.NewDecoder(&text).Decode(&p.list); err != nil {
			return nil, fmt.Errorf("the list of files: %w", err)
		}
	}
	if r.To > uint64(len(p.list.Files)) {
		return nil, fmt.Errorf("the list has %d files, and the part is %s", len(p.list.Files), r)
	}
	b := replayBatch{Options: p.spec.Options, patience: p.spec.Patience}
	used := map[int]bool{}
	for _, f := range p.list.Files[r.From:r.To] {
		in, err := p.find(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		b.Files = append(b.Files, in)
		used[f.Pack] = true
	}
	for n, file := range p.packs {
		if !used[n] {
			delete(p.packs, n)
			_ = os.Remove(file) // if this fails, end removes it
		}
	}
	return p.a.replayApart(ctx, b)
}

var errOtherFile = errors.New("it is not what it was when the run began")

// find gives a file's bytes: those of this machine, if they are the same, or what was sent.
func (p *replayer) find(ctx context.Context, f sentFile) (replayInput, error) {
	in := replayInput{Of: f, File: p.a.path(f.Path)}
	in.Of.At = 0
	if p.here || f.Why != "" || in.same() {
		return in, nil
	}
	if f.Pack == 0 || f.Pack > len(p.list.Packs) {
		return in, errOtherFile
	}
	var err error
	if in.File, err = p.pack(ctx, f.Pack); err != nil {
		return in, err
	}
	if in.Of.At = f.At; !in.same() {
		return in, errOtherFile
	}
	return in, nil
}

// pack gives the file of a pack, which is fetched once.
func (p *replayer) pack(ctx context.Context, n int) (name string, err error) {
	if name, ok := p.packs[n]; ok {
		return name, nil
	}
	if p.dir == "" {
		if p.dir, err = os.MkdirTemp("", "toolbench-part-"); err != nil {
			return "", err
		}
	}
	name = filepath.Join(p.dir, strconv.Itoa(n)) // not the name in the list, which could lead out of the folder
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	if err := errors.Join(p.q.Fetch(ctx, p.list.Packs[n-1], file), file.Close()); err != nil {
		return "", err
	}
	p.packs[n] = name
	return name, nil
}

// replayInput is a file of a list, and the one on this machine that has its bytes.
type replayInput struct {
	Of   sentFile
	File string
}

// open opens the bytes of the file. One that has grown since it was listed is read up to its end of that time.
func (in replayInput) open() (io.ReadCloser, error) {
	if in.Of.Size == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	file, err := os.Open(in.File)
	if err != nil {
		return nil, reason(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, in.Of.At, in.Of.Size), file}, nil
}

// same reports whether the bytes are those of the list.
func (in replayInput) same() bool {
	file, err := in.open()
	if err != nil {
		return false
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return err == nil && n == in.Of.Size && hex.EncodeToString(sum.Sum(nil)) == in.Of.Digest
}

func (in replayInput) replay(ctx context.Context, o replay.Options) replay.Report {
	if in.Of.Why != "" {
		return replay.Unopened(in.Of.Path, errors.New(in.Of.Why))
	}
	file, err := in.open()
	if err != nil {
		return replay.Unopened(in.Of.Path, err)
	}
	defer file.Close()
	return replay.Recording(ctx, in.Of.Path, file, o)
}

// replayedFile carries the report of a file between processes. An error travels as its text, and as its
// recordingError.
type replayedFile struct {
	Report replay.Report
	Error  string
	Kind   int
}

// recordingErrors are what can be wrong with a file as a whole.
var recordingErrors = []error{recording.ErrNotRecording, recording.ErrTooLarge, recording.ErrUnreadable}

// recordingError is the place of an error in recordingErrors, counted from 1; 0 is none of them.
func recordingError(err error) int {
	return 1 + slices.IndexFunc(recordingErrors, func(kind error) bool { return errors.Is(err, kind) })
}

// report gives the report with its error.
func (r replayedFile) report() replay.Report {
	if r.Error != "" {
		r.Report.Err = &sentError{r.Error, nil}
		if r.Kind > 0 && r.Kind <= len(recordingErrors) {
			r.Report.Err = &sentError{r.Error, recordingErrors[r.Kind-1]}
		}
	}
	return r.Report
}

// sentError is the error of another process: its words and its kind.
type sentError struct {
	text string
	kind error
}

func (e *sentError) Error() string { return e.text }

func (e *sentError) Unwrap() error { return e.kind }

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

func (n *replayNotes) write(note replayNote) error { return cmp.Or(n.gob.Encode(note), n.to.Flush()) }

// replay replays the files of a batch, one after the other, and hands their reports on.
func (b replayBatch) replay(ctx context.Context, done func(replayedFile) error) error {
	for _, in := range b.Files {
		r := replayedFile{Report: in.replay(ctx, b.Options)}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Report.Err; err != nil {
			r.Error, r.Report.Err = err.Error(), nil
			r.Kind = recordingError(err)
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
	to := bufio.NewWriter(a.Stdout)
	notes := &replayNotes{to: to, gob: gob.NewEncoder(to)}
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
			err = take(replayedFile{Report: replay.Report{File: path}, Error: fmt.Sprintf(
				"%s: nobody could replay it: its process was ended after %s without progress; give it more with --patience", path, b.patience)})
		}
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(all)
	return out.Bytes(), err
}

var errReplayHangs = errors.New("the replay hangs")

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
	var left int
	_, ended := untilSilent(b.patience, func() { end(errReplayHangs) }, func(alive func()) error {
		left, err = readNotes(out, len(b.Files), take, alive)
		_, _ = io.Copy(io.Discard, out) // it may still write where its notes could not be read
		return cmd.Wait()               // it may not end, though all its notes are there
	})
	switch {
	case left == 0 && err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errReplayHangs):
		return errReplayHangs
	case ended != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return errors.New(cmp.Or(strings.TrimPrefix(first, "toolbench: "), ended.Error()))
	}
	return cmp.Or(err, errors.New("its process ended before it was replayed"))
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
