package mcptool_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/mcptool"
)

// endless is a server behind an address whose answer to one method goes on for 512 MB. It
// counts how much of it was taken.
func endless(t *testing.T, method string, answer func(w http.ResponseWriter) io.Writer) (address string, taken *atomic.Int64) {
	t.Helper()
	taken = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked) // a request without a body is of no method
		w.Header().Set("Content-Type", "application/json")
		switch {
		case asked.Method == method:
			to := answer(w)
			for piece := bytes.Repeat([]byte("a"), 1<<20); taken.Load() < 512<<20; taken.Add(1 << 20) {
				if _, err := to.Write(piece); err != nil {
					return
				}
			}
		case asked.Method == "initialize":
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
		case asked.Method == "tools/list":
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":{"tools":[{"name":"live","inputSchema":{"type":"object"}}]}}`)
		case len(asked.ID) == 0 && asked.Method != "":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, taken
}

// A server behind an address cannot fill the memory: not with one answer, which may be
// packed to a thousandth of itself, nor with an event that does not end.
func TestAnAnswerWithoutEndIsGivenUp(t *testing.T) {
	plain := func(w http.ResponseWriter) io.Writer { return w }
	for name, c := range map[string]struct {
		method string
		answer func(w http.ResponseWriter) io.Writer
		report string
	}{
		"an answer": {"tools/call", plain, ""},
		"a list":    {"tools/list", plain, "the answer has more than 16 MB"},
		"a refusal": {"initialize", func(w http.ResponseWriter) io.Writer { w.WriteHeader(http.StatusTeapot); return w }, "I'm a teapot"},
		"a packed answer": {"initialize", func(w http.ResponseWriter) io.Writer {
			w.Header().Set("Content-Encoding", "gzip")
			return gzip.NewWriter(w)
		}, "the answer has more than 16 MB"},
		"an event": {"tools/call", func(w http.ResponseWriter) io.Writer {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			return w
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address, taken := endless(t, c.method, c.answer)
			reports := make(chan mcptool.Report, 100)
			f, err := mcptool.Connect(mcptool.FleetConfig{
				Clock: toolsys.RealClock(), Backoff: func(int) time.Duration { return time.Hour }, Report: func(r mcptool.Report) { reports <- r },
			}, mcptool.Endpoint{Name: "m", Dial: mcptool.HTTP(address, nil, nil)})
			require.NoError(t, err)
			defer f.Close()
			f.Ready(time.Minute)
			if c.report == "" {
				require.ErrorIs(t, ringUp(t, f, "mcp__m__live"), mcptool.ErrGone)
			} else {
				assert.Contains(t, (<-reports).What, c.report)
			}
			assert.LessOrEqual(t, taken.Load(), int64(128<<20), "and it read on")
		})
	}
}
