package cassette

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"toolbench/sim/stream"
)

// stamper is the transport beneath go-vcr's recorder. It notes when each event
// of a response arrives and puts the times into the response's headers once
// the body has been read to its end - which is before go-vcr stores them.
type stamper struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s stamper) RoundTrip(req *http.Request) (*http.Response, error) {
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
	resp.Body = &stampedBody{ReadCloser: resp.Body, start: start, header: resp.Header, failed: failed}
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
	start   time.Time
	header  http.Header
	decoder stream.Decoder
	head    []byte // the first bytes, to tell a stream that is not labelled
	at      []time.Duration
	failed  *broken
}

const sniffed = 64 // bytes of head

// Read implements io.Reader.
func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.head = append(b.head, p[:min(n, sniffed-min(sniffed, len(b.head)))]...)
	// A body that is no stream may fail here; then it has no event times.
	_ = b.decoder.Feed(p[:n], func(stream.Event) error {
		b.at = append(b.at, time.Since(b.start))
		return nil
	})
	if err != nil && err != io.EOF && b.failed != nil {
		b.failed.err, err = err, io.EOF
	}
	if err == io.EOF {
		b.finish()
	}
	return n, err
}

// finish stores the times: one an event, or the end of a body of another kind.
func (b *stampedBody) finish() {
	now := time.Since(b.start)
	if !isStream(b.header, string(b.head)) {
		b.header.Set(OffsetsHeader, formatOffsets([]time.Duration{now}))
		return
	}
	err := b.decoder.Close()
	if cut, ok := errors.AsType[*stream.TruncatedError](err); ok {
		if cut.Whole { // Decode takes such an event, so it needs a time
			b.at = append(b.at, now)
		}
	} else if err != nil {
		return
	}
	if len(b.at) > 0 {
		b.header.Set(OffsetsHeader, formatOffsets(b.at))
	}
}
