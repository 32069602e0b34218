package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
// place in recordingErrors, counted from 1.
type replayedFile struct {
	Report replay.Report
	Error  string
	Kind   int
}

// recordingErrors are what can be wrong with a file as a whole.
func recordingErrors() []error {
	return []error{recording.ErrNotRecording, recording.ErrTooLarge, recording.ErrUnreadable}
}

// report gives the report with its error.
func (r replayedFile) report() replay.Report {
	if r.Error != "" {
		r.Report.Err = &sentError{r.Error, nil}
		if r.Kind > 0 && r.Kind <= len(recordingErrors()) {
			r.Report.Err = &sentError{r.Error, recordingErrors()[r.Kind-1]}
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
