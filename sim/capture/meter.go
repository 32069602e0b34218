package capture

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/tidwall/gjson"
)

// Usage adds up what the API says it took, in tokens.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens"`
	CacheWrite int `json:"cache_write_tokens"`
}

// Progress is how far a session has come.
type Progress struct {
	Turns, Calls int
	Bytes        int64 // of answers
}

// meter reads the answers that pass and adds up.
type meter struct {
	next http.RoundTripper
	tell func(Progress)

	mu    sync.Mutex
	at    Progress
	usage Usage
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

// count changes the sums and tells of them.
func (m *meter) count(change func()) {
	m.mu.Lock()
	change()
	now := m.at
	m.mu.Unlock()
	if m.tell != nil {
		m.tell(now)
	}
}

func (m *meter) sums() (Progress, Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.usage
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
