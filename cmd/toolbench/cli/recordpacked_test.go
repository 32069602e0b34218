package cli_test

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/cmd/toolbench/cli"
)

type flusher interface {
	io.WriteCloser
	Flush() error
}

// packs streams events packed, whether the client asked for it or not.
func packs(encoding string, by func(io.Writer) flusher, events ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", encoding)
		packed := by(w)
		for _, e := range events {
			fmt.Fprintf(packed, "event: %s\ndata: %s\n\n", gjson.Get(e, "type").Str, e)
			if packed.Flush() != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		_ = packed.Close() // a client that is gone hears nothing more
	}
}

// A server that packs its answers is recorded in plain text, without the header and
// with the key blanked that was packed with them, and replayed from the file alone.
func TestPackedAnswersAreRecordedPlain(t *testing.T) {
	for encoding, by := range map[string]func(io.Writer) flusher{
		"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
		"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z },
	} {
		t.Run(encoding, func(t *testing.T) {
			d := newWorkdir(t)
			u := newUpstream(t, packs(encoding, by, calls("toolu_1", "Glob", `{"pattern":"*"}`)...), packs(encoding, by, says("Nothing, ", recordKey, ".")...))
			require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "Look.", "--out", "c.yaml", "--mode", "all", "--base-url", u.URL, "--format", "json"), d.errs)
			assert.EqualValues(t, 1, gjson.Get(d.out, "calls").Int())
			assert.EqualValues(t, 10, gjson.Get(d.out, "usage.output_tokens").Int())
			text := d.read("c.yaml")
			for needle, stands := range map[string]bool{`"type":"tool_use","id":"toolu_1"`: true, "Content-Encoding": false, "[left out": false, recordKey: false} {
				assert.Equal(t, stands, strings.Contains(text, needle), needle)
			}
			require.Equal(t, cli.ExitHeld, d.run(t.Context(), "run", "c.scenario.yaml"), d.out+d.errs)
			require.Equal(t, cli.ExitHeld, d.run(t.Context(), "replay", "c.yaml"), d.out+d.errs)
		})
	}
}
