package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
)

// counting streams numbered events until its client goes away.
func counting(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(w, "data: {\"type\":\"ping\",\"n\":%d}\n\n", i); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// Whenever tap is killed, the file can be read and has the exchange up to a whole event:
// the first ones that the client got, none twice and none left out.
func TestTapLeavesAReadableFileWhenItIsKilled(t *testing.T) {
	at := httptest.NewServer(http.HandlerFunc(counting))
	defer at.Close()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "session.yaml")
			tap := exec.Command("toolbench", "tap", "--out", file, "--listen", "127.0.0.1:0", "--upstream", at.URL)
			out, err := tap.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, tap.Start())
			url, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			resp, err := http.Post(strings.TrimSpace(url)+"/v1/messages", "application/json", strings.NewReader("{}"))
			require.NoError(t, err)
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for begun, least := false, 2*rand.New(rand.NewPCG(seed, 0)).IntN(200); !begun || least > 0; least-- {
				require.True(t, lines.Scan(), lines.Err())
				if info, err := os.Stat(file); err == nil && info.Size() > 0 {
					begun = true
				}
			}
			require.NoError(t, tap.Process.Kill())
			require.Error(t, tap.Wait())

			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			c, err := cassette.Load(file, f, cassette.Limits{})
			require.NoError(t, err)
			require.Len(t, c.Interactions, 1)
			events, err := c.Interactions[0].Events()
			require.NoError(t, err)
			for i, e := range events {
				assert.JSONEq(t, fmt.Sprintf(`{"type":"ping","n":%d}`, i), string(e.Data))
			}
			t.Logf("%d events", len(events))
		})
	}
}
