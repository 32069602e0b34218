package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
)

// retrying sends a request again that a server had no time for. It stands beneath the
// recorder: a refusal that was got over is no part of the recording.
type retrying struct {
	next   http.RoundTripper
	tries  int
	wait   func(ctx context.Context, d time.Duration) error
	notice func(text string)
}

// RoundTrip implements http.RoundTripper.
func (p retrying) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := take(req)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		req.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := p.next.RoundTrip(req)
		if err != nil || try >= p.tries || !slices.Contains(overloaded, resp.StatusCode) {
			return resp, err
		}
		d := retryPause(resp, try)
		p.notice(fmt.Sprintf("the API answered %d; trying again in %s (%d of %d)", resp.StatusCode, d, try+1, p.tries))
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		if err := p.wait(req.Context(), d); err != nil {
			return nil, err
		}
	}
}

// overloaded are the statuses of a server without time; 529 is the API's own for too many requests of all users.
var overloaded = []int{http.StatusTooManyRequests, 529, 500, 501, 502, 503, 504}

// longestPause bounds what a server may ask one to wait.
const longestPause = time.Minute

// retryPause is what the server asks for, else longer each time.
func retryPause(resp *http.Response, try int) time.Duration {
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		return min(time.Duration(s)*time.Second, longestPause)
	}
	return min(time.Second<<try, longestPause)
}

// CaptureUsage adds up what the API counted, in tokens.
type CaptureUsage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens"`
	CacheWrite int `json:"cache_write_tokens"`
}

// CaptureProgress is how far a session has come.
type CaptureProgress struct {
	Turns, Calls int
	Bytes        int64 // of answers
}

// meter reads the answers that pass and adds up.
type meter struct {
	next     http.RoundTripper
	progress func(CaptureProgress)

	mu    sync.Mutex
	at    CaptureProgress
	usage CaptureUsage
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	m.count(func() { m.at.Turns++ })
	resp.Body = &metered{ReadCloser: resp.Body, meter: m}
	return resp, nil
}

// count changes the sums and reports them.
func (m *meter) count(change func()) {
	m.mu.Lock()
	change()
	now := m.at
	m.mu.Unlock()
	if m.progress != nil {
		m.progress(now)
	}
}

type metered struct {
	io.ReadCloser
	meter  *meter
	line   []byte
	output int // of this answer: the API counts up
}

// Read implements io.Reader.
func (b *metered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.line = append(b.line, p[:n]...)
	b.meter.count(func() {
		b.meter.at.Bytes += int64(n)
		for {
			line, rest, whole := bytes.Cut(b.line, []byte("\n"))
			if !whole {
				break
			}
			b.event(line)
			b.line = rest
		}
	})
	return n, err
}

// event reads one line of a stream.
func (b *metered) event(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return
	}
	u := &b.meter.usage
	switch gjson.GetBytes(data, "type").Str {
	case "message_start":
		m := gjson.GetBytes(data, "message.usage")
		u.Input += int(m.Get("input_tokens").Int())
		u.CacheRead += int(m.Get("cache_read_input_tokens").Int())
		u.CacheWrite += int(m.Get("cache_creation_input_tokens").Int())
		b.spent(m.Get("output_tokens").Int())
	case "message_delta":
		b.spent(gjson.GetBytes(data, "usage.output_tokens").Int())
	case "content_block_start":
		if gjson.GetBytes(data, "content_block.type").Str == "tool_use" {
			b.meter.at.Calls++
		}
	}
}

func (b *metered) spent(output int64) {
	b.meter.usage.Output += int(output) - b.output
	b.output = int(output)
}

// fallbackTransport answers from a cassette, and from elsewhere what is not in it.
type fallbackTransport struct{ first, then http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fallbackTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := take(req)
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
