package cassette

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	vcr "github.com/dnaeon/go-vcr/v2/recorder"

	"toolbench/sim/secret"
)

// ErrNothingRecorded is what Stop returns when no response was completed.
var ErrNothingRecorded = errors.New("nothing was recorded")

// Recorder is a transport that passes requests on and records them (O5). It
// hands a body over when the whole of it has arrived, as go-vcr does; a body
// that fails is recorded as far as it came, and fails there for its reader too.
type Recorder struct {
	recorder   *vcr.Recorder
	redact     redactor
	temp, file string
}

// Record begins a recording to path, which must end in ".yaml", of what goes
// through rt. Event times are stored (see OffsetsHeader), noise headers are
// dropped, secrets blanked: keys and credentials by their place and looks, and
// the given values wherever they stand. Nothing of an earlier recording at the
// path remains, but it is only replaced when Stop succeeds.
func Record(path string, rt http.RoundTripper, secrets ...string) (*Recorder, error) {
	return RecordAfter(path, rt, secret.New(nameless(secrets)...), nil)
}

// RecordAfter is Record with a finder of secrets of one's own, and with the
// interactions of an earlier cassette, unless it is nil, before those recorded.
func RecordAfter(path string, rt http.RoundTripper, finder *secret.Finder, earlier *Cassette) (*Recorder, error) {
	name, ok := strings.CutSuffix(path, ".yaml")
	if !ok || name == "" {
		return nil, fmt.Errorf("record to %q: the name of a cassette ends in .yaml", path)
	}
	if rt == nil {
		return nil, fmt.Errorf("record to %q: there is no transport to record", path)
	}
	r := &Recorder{temp: name + ".recording.yaml", file: path, redact: redactor{finder, &secret.Tally{}}}
	if err := r.begin(earlier); err != nil {
		return nil, fmt.Errorf("record to %q: %w", path, err)
	}
	var err error
	r.recorder, err = vcr.NewAsMode(name+".recording", vcr.ModeRecording, stamper{rt})
	if err != nil {
		return nil, fmt.Errorf("record to %q: %w", path, err)
	}
	r.recorder.SkipRequestLatency = true // it would sleep what has just been waited
	r.recorder.AddSaveFilter(r.redact.interaction)
	return r, nil
}

// begin leaves what go-vcr is to append to where it looks for it, or nothing.
func (r *Recorder) begin(earlier *Cassette) error {
	if err := os.Remove(r.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if earlier == nil {
		return nil
	}
	text, err := earlier.YAML()
	if err != nil {
		return err
	}
	return os.WriteFile(r.temp, text, 0o644)
}

// broken carries the error of a body past go-vcr, which would drop the interaction.
type broken struct{ err error }

type brokenKey struct{}

// RoundTrip implements http.RoundTripper.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() // go-vcr replaces the body and never closes it
	}
	b := &broken{}
	resp, err := r.recorder.RoundTrip(req.Clone(context.WithValue(req.Context(), brokenKey{}, b)))
	if err == nil && b.err != nil {
		resp.Body = failing{resp.Body, b.err}
	}
	return resp, err
}

// failing is a body that ends in an error.
type failing struct {
	io.ReadCloser
	err error
}

// Read implements io.Reader.
func (f failing) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// Stop writes the cassette, interactions in the order of their completion. It
// returns ErrNothingRecorded, and leaves an earlier file alone, if there is
// nothing to write.
func (r *Recorder) Stop() error { return r.stop(r.file) }

// Partial is Stop for a recording that did not come to its end: it writes to another
// file, which says so in its first line with the reason, and leaves an earlier
// cassette alone. It gives the file's name.
func (r *Recorder) Partial(reason string) (string, error) {
	file := strings.TrimSuffix(r.file, ".yaml") + ".partial.yaml"
	if err := r.stop(file); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	note := "# This recording is partial: " + strings.Join(strings.Fields(r.redact.finder.Text(reason, nil)), " ") + "\n"
	return file, os.WriteFile(file, append([]byte(note), text...), 0o644)
}

// Discard ends a recording without a trace of it.
func (r *Recorder) Discard() error {
	if err := os.Remove(r.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record to %q: %w", r.file, err)
	}
	return nil
}

func (r *Recorder) stop(file string) error {
	if err := r.recorder.Stop(); err != nil {
		return fmt.Errorf("record to %q: %w", file, errors.Join(err, os.RemoveAll(r.temp)))
	}
	err := os.Rename(r.temp, file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record to %q: %w", file, ErrNothingRecorded)
	}
	return err
}

// Blanked says what was blanked in what was written, by kind and place, once Stop or
// Partial has returned.
func (r *Recorder) Blanked() []secret.Count { return r.redact.tally.Counts() }
