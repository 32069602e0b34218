package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	vcr "github.com/dnaeon/go-vcr/v2/recorder"
)

// ErrNothingRecorded is what Stop returns when no response was completed.
var ErrNothingRecorded = errors.New("nothing was recorded")

// Recorder is a transport that passes requests on and records them (O5). It
// hands a body over when the whole of it has arrived, as go-vcr does; a body
// that fails is not recorded.
type Recorder struct {
	recorder   *vcr.Recorder
	temp, file string
}

// Record begins a recording to path, which must end in ".yaml", of what goes
// through rt. Event times are stored (see OffsetsHeader), noise headers are
// dropped, secrets blanked: keys and credentials by their place and looks, and
// the given values wherever they stand. Nothing of an earlier recording at the
// path remains, but it is only replaced when Stop succeeds.
func Record(path string, rt http.RoundTripper, secrets ...string) (*Recorder, error) {
	name, ok := strings.CutSuffix(path, ".yaml")
	if !ok || name == "" {
		return nil, fmt.Errorf("record to %q: the name of a cassette ends in .yaml", path)
	}
	if rt == nil {
		return nil, fmt.Errorf("record to %q: there is no transport to record", path)
	}
	r := &Recorder{temp: name + ".recording.yaml", file: path}
	// go-vcr would append to what it finds.
	if err := os.Remove(r.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("record to %q: %w", path, err)
	}
	var err error
	r.recorder, err = vcr.NewAsMode(name+".recording", vcr.ModeRecording, stamper{rt})
	if err != nil {
		return nil, fmt.Errorf("record to %q: %w", path, err)
	}
	r.recorder.SkipRequestLatency = true // it would sleep what has just been waited
	r.recorder.AddSaveFilter(newRedactor(secrets).interaction)
	return r, nil
}

// RoundTrip implements http.RoundTripper.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() // go-vcr replaces the body and never closes it
	}
	return r.recorder.RoundTrip(req.Clone(req.Context()))
}

// Stop writes the cassette, interactions in the order of their completion. It
// returns ErrNothingRecorded, and leaves an earlier file alone, if there is
// nothing to write.
func (r *Recorder) Stop() error {
	if err := r.recorder.Stop(); err != nil {
		return fmt.Errorf("record to %q: %w", r.file, err)
	}
	err := os.Rename(r.temp, r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record to %q: %w", r.file, ErrNothingRecorded)
	}
	return err
}
