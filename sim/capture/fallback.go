package capture

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"toolbench/sim/cassette"
)

// fallback answers from a cassette, and from elsewhere what is not in it.
type fallback struct{ first, then http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fallback) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := f.first.RoundTrip(req)
	if _, miss := errors.AsType[*cassette.MissError](err); !miss {
		return resp, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return f.then.RoundTrip(req)
}
