package cassette

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	vcrfile "github.com/dnaeon/go-vcr/v2/cassette"
	vcr "github.com/dnaeon/go-vcr/v2/recorder"

	"toolbench/sim/secret"
	"toolbench/sim/stream"
)

// ErrNothingRecorded is what Stop returns when no response was completed.
var ErrNothingRecorded = errors.New("nothing was recorded")

// Recorder is a transport that passes requests on and records them (O5). It hands a body over when all of it has
// arrived, as go-vcr does; a body that fails is recorded as far as it came, and fails there for its reader too.
type Recorder struct {
	recorder   *vcr.Recorder
	redact     redactor
	temp, file string
}

// Record begins a recording to path, which must end in ".yaml", of what goes through rt. Event times are stored (see
// OffsetsHeader), noise headers are dropped, secrets blanked: keys and credentials by their place and looks, and the
// given values wherever they stand. Nothing of an earlier recording at the path remains, but it is only replaced when
// Stop succeeds.
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
	r := &Recorder{temp: name + ".recording.yaml", file: path, redact: redactor{finder.Remember(), &secret.Tally{}}}
	err := r.begin(earlier)
	if err == nil {
		r.recorder, err = vcr.NewAsMode(name+".recording", vcr.ModeRecording, timeStamper{rt})
	}
	if err != nil {
		return nil, fmt.Errorf("record to %q: %w", path, err)
	}
	r.recorder.SkipRequestLatency = true // it would sleep what has just been waited
	bodies := Bodies{}
	r.recorder.AddSaveFilter(func(i *vcrfile.Interaction) error {
		r.redact.request(&i.Request)
		r.redact.response(&i.Response)
		i.Request.Body = bodies.Shorten(i.Request.Headers, i.Request.Body)
		return nil
	})
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
	text, err := earlier.yaml(nil) // go-vcr reads it, and knows nothing of shared bodies
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

// Stop writes the cassette, interactions in the order of their completion. It returns ErrNothingRecorded, and leaves
// an earlier file alone, if there is nothing to write.
func (r *Recorder) Stop() error { return r.stop(r.file) }

// Partial is Stop for a recording that did not come to its end: it writes to another file, whose first line has the
// reason, and leaves an earlier cassette alone. It gives the file's name.
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
	if err := os.WriteFile(r.temp, append([]byte(note), text...), 0o644); err != nil {
		return file, errors.Join(err, os.RemoveAll(r.temp)) // where the disk is full, it stays without the note
	}
	return file, os.Rename(r.temp, file)
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

// Blanked counts what was blanked in what was written, by kind and place, once Stop or Partial has returned.
func (r *Recorder) Blanked() []secret.Count { return r.redact.tally.Counts() }

// timeStamper is the transport beneath go-vcr's recorder. It notes when each event of a response arrives and puts the
// times into the response's headers once the body has been read to its end - which is before go-vcr stores them.
type timeStamper struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s timeStamper) RoundTrip(req *http.Request) (*http.Response, error) {
	req, err := readAhead(req)
	if err != nil {
		return nil, err
	}
	start := time.Now() // virtual inside a bubble
	resp, err := s.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	resp.Header = resp.Header.Clone() // it is written to, and may be another's
	inflated(resp)
	resp.Header.Del(OffsetsHeader) // what is recorded may be a replay
	failed, _ := req.Context().Value(brokenKey{}).(*broken)
	resp.Body = &stampedBody{ReadCloser: resp.Body, start: start, stamps: stamps{header: resp.Header}, failed: failed}
	return resp, nil
}

// readAhead reads the request's body to its end before it is sent: go-vcr
// stores what was read of it, and a transport need not read what it ignores.
func readAhead(req *http.Request) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	ahead := *req
	ahead.Body = io.NopCloser(bytes.NewReader(body))
	return &ahead, nil
}

type stampedBody struct {
	io.ReadCloser
	start  time.Time
	stamps stamps
	failed *broken
}

// Read implements io.Reader.
func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.stamps.add(p[:n], time.Since(b.start))
	if err != nil && err != io.EOF && b.failed != nil {
		b.failed.err, err = err, io.EOF
	}
	if err == io.EOF {
		b.stamps.finish(time.Since(b.start))
	}
	return n, err
}

// stamps are the times of a body's events, for its header.
type stamps struct {
	header  http.Header
	decoder stream.Decoder
	head    []byte // the first bytes, to recognize a stream that is not labelled
	at      []time.Duration
	end     int64  // where the last of them ends, in bytes
	pieces  pieces // of a stream that has no server-sent events
	rest    []byte // the beginning of a piece that is not whole yet
	known   bool   // which pieces there are
}

const sniffed = 64 // bytes of head

// add takes in what arrived at a time.
func (s *stamps) add(p []byte, at time.Duration) {
	s.head = append(s.head, p[:min(len(p), sniffed-min(sniffed, len(s.head)))]...)
	if !s.known {
		s.pieces, s.known = piecesOf(s.header), true
	}
	if s.pieces != nil {
		s.cut(p, at)
		return
	}
	// A body that is no stream may fail here; then it has no event times.
	_ = s.decoder.Feed(p, func(stream.Event) error {
		s.at, s.end = append(s.at, at), s.decoder.Offset()
		return nil
	})
}

// cut takes in what arrived of a stream in pieces.
func (s *stamps) cut(p []byte, at time.Duration) {
	s.rest = append(s.rest, p...)
	for size := s.pieces.next(s.rest); size > 0; size = s.pieces.next(s.rest) {
		s.at, s.end, s.rest = append(s.at, at), s.end+int64(size), s.rest[size:]
	}
	if list, ok := s.pieces.(*jsonList); ok && list.other {
		s.rest = nil // a document is not kept twice
	}
}

// StampPieces puts the times of a body's events into its header, given the pieces it came in and when each did.
func StampPieces(header http.Header, pieces []string, at []time.Duration) {
	s := stamps{header: header}
	var last time.Duration
	for i, piece := range pieces {
		last = at[i]
		s.add([]byte(piece), last)
	}
	s.finish(last)
}

// streamed reports whether what came is a stream: of server-sent events, or of pieces.
func (s *stamps) streamed() bool {
	if _, list := s.pieces.(*jsonList); list { // one that came at once is a document as others are
		return len(s.at) > 1 && s.at[0] < s.at[len(s.at)-1]
	}
	if s.pieces != nil {
		return len(s.at) > 0
	}
	return isStream(s.header, string(s.head))
}

// whole is how much of a body ends with an event; one that is no stream may end anywhere.
func (s *stamps) whole(size int) int {
	if !s.streamed() {
		return size
	}
	return min(size, int(s.end))
}

// note puts the times of the events so far into a header.
func (s *stamps) note(h http.Header) {
	if s.streamed() && len(s.at) > 0 {
		h.Set(OffsetsHeader, formatOffsets(s.at))
	}
}

// finish stores the times: one an event, or the end of a body of another kind.
func (s *stamps) finish(now time.Duration) {
	if !s.streamed() {
		s.header.Set(OffsetsHeader, formatOffsets([]time.Duration{now}))
		return
	}
	if s.pieces != nil {
		if _, ok := s.pieces.(*lines); ok && len(bytes.TrimSpace(s.rest)) > 0 {
			s.at = append(s.at, now) // a last line without its line feed
		}
		s.note(s.header)
		return
	}
	err := s.decoder.Close()
	if cut, ok := errors.AsType[*stream.TruncatedError](err); ok {
		if cut.Whole { // Decode takes such an event, so it needs a time
			s.at = append(s.at, now)
		}
	} else if err != nil {
		return
	}
	s.note(s.header)
}
