package run_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
)

// network answers each request with the next of some responses.
type network struct {
	answers []*http.Response
	asked   int
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	if n.asked == len(n.answers) {
		return nil, errors.New("the line is dead")
	}
	n.asked++
	return n.answers[n.asked-1], nil
}

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

const hello = `data: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

data: {"type":"message_stop"}

`

// captureSession holds one, and gives the waits between tries.
func captureSession(t *testing.T, n *network, file string, mode run.CaptureMode) (run.CaptureReport, []time.Duration, error) {
	t.Helper()
	sc, err := run.PromptScenario{Name: "s", Text: "Hi.", Cassette: filepath.Base(file)}.Scenario()
	require.NoError(t, err)
	var waits []time.Duration
	r, err := run.Capture(t.Context(), run.CaptureConfig{
		Scenario: sc, Cassette: file, Mode: mode, Live: run.LiveConfig{Transport: n, Key: "key-4711-x"}, Known: []secret.Known{{Name: "K", Value: "key-4711-x"}},
		Retries: 2, Now: time.Now, Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	})
	return r, waits, err
}

func TestARefusalThatWasGotOverIsNoPartOfTheRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "c.yaml")
	r, waits, err := captureSession(t, &network{answers: []*http.Response{answer(529, "{}"), answer(429, "{}", "Retry-After", "3"), answer(200, hello)}}, file, run.RecordOnce)
	require.NoError(t, err)
	require.NoError(t, r.Err)
	assert.Equal(t, []time.Duration{time.Second, 3 * time.Second}, waits)
	assert.Equal(t, 1, r.Recorded)
	assert.Equal(t, run.CaptureUsage{Input: 7, Output: 4}, r.Usage)
	assert.Equal(t, []secret.Count{{Kind: "X-Api-Key", Where: "request headers", Times: 1}}, r.Blanked)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	// A duration may hold any digits: only the codes count.
	assert.Equal(t, []string{"code: 200"}, regexp.MustCompile(`code: \d+`).FindAllString(string(text), -1))
	assert.NotContains(t, string(text), "key-4711-x")
}

func TestReplayOnlyNeverUsesTheNetwork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	_, _, err := captureSession(t, &network{}, file, run.ReplayOnly)
	assert.ErrorIs(t, err, run.ErrNoCassette)
	_, _, err = captureSession(t, &network{answers: []*http.Response{answer(200, hello)}}, file, run.RecordAll)
	require.NoError(t, err)
	for _, mode := range []run.CaptureMode{run.ReplayOnly, run.RecordOnce, run.RecordNew} {
		n := &network{}
		r, _, err := captureSession(t, n, file, mode)
		require.NoError(t, err)
		require.NoError(t, r.Err)
		assert.Zero(t, n.asked, mode)
		assert.Equal(t, []int{0, 1}, []int{r.Recorded, r.Replayed}, mode)
	}
}

func TestWhatNeverBeganLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	r, _, err := captureSession(t, &network{}, filepath.Join(dir, "c.yaml"), run.RecordAll)
	require.NoError(t, err)
	assert.ErrorContains(t, r.Err, "the line is dead")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestNamesOfScenariosComeFromFiles(t *testing.T) {
	for file, name := range map[string]string{"a/My Session.yaml": "my-session", "x.yaml": "x", "_é1.yaml": "1"} {
		assert.Equal(t, name, run.ScenarioName(file))
	}
}
