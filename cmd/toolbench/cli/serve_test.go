package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/cmd/toolbench/cli"
)

const greeting = `event: message_start
data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`

// served is a `toolbench serve` that runs beside the test.
type served struct {
	url    string
	out    *bufio.Reader
	errs   bytes.Buffer
	code   chan int
	cancel context.CancelFunc
}

func serveBeside(t *testing.T, args ...string) *served {
	t.Helper()
	return beside(t, append([]string{"serve"}, args...)...)
}

// beside runs a command that prints its address first.
func beside(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	s := &served{out: bufio.NewReader(r), code: make(chan int, 1), cancel: cancel}
	go func() {
		code := cli.Main(ctx, cli.Process{Args: args, Stdout: w, Stderr: &s.errs}, cli.Scenarios())
		w.Close()
		s.code <- code
	}()
	line, err := s.out.ReadString('\n')
	require.NoError(t, err, s.errs.String())
	s.url = strings.TrimSpace(line)
	return s
}

func (s *served) end(t *testing.T) (code int, rest []byte) {
	t.Helper()
	rest, err := io.ReadAll(s.out)
	require.NoError(t, err)
	return <-s.code, rest
}

func ask(t *testing.T, url, body string) string {
	t.Helper()
	resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

func recordingFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "greeting.sse")
	require.NoError(t, os.WriteFile(file, []byte(greeting), 0o600))
	return file
}

const hello = `{"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`

// The address is the first line, the report follows when all was served, and the code
// is that of the checks.
func TestServeEndsWithItsReport(t *testing.T) {
	s := serveBeside(t, recordingFile(t), "--speed", "0", "--exit-when-done", "--format", "json")
	assert.Equal(t, "Hello.", gjson.Get(ask(t, s.url, hello), "content.0.text").Str)
	code, report := s.end(t)
	assert.Equal(t, cli.ExitHeld, code, s.errs.String())
	fits(t, output(t, "serve", "--schema"), report)
	assert.True(t, gjson.GetBytes(report, "held").Bool())
}

// Clients that begin with HTTP/2, as AWS's do, are answered.
func TestServeAnswersInHTTP2(t *testing.T) {
	s := serveBeside(t, recordingFile(t), "--speed", "0", "--exit-when-done", "--format", "json")
	way := &http.Transport{Protocols: new(http.Protocols)}
	way.Protocols.SetUnencryptedHTTP2(true)
	defer way.CloseIdleConnections()
	resp, err := (&http.Client{Transport: way}).Post(s.url+"/v1/messages", "application/json", strings.NewReader(hello))
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "Hello.", gjson.GetBytes(text, "content.0.text").Str)
	code, _ := s.end(t)
	assert.Equal(t, cli.ExitHeld, code, s.errs.String())
}

// A request under a name that is not the server's is refused, with the flag that allows
// it, and said again when nothing else was asked.
func TestServeAnswersUnderItsOwnNamesOnly(t *testing.T) {
	as := func(s *served, host string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.url+"/v1/messages", strings.NewReader(hello))
		require.NoError(t, err)
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	s := serveBeside(t, recordingFile(t), "--speed", "0")
	code, text := as(s, "evil.example")
	assert.Equal(t, http.StatusForbidden, code)
	assert.Contains(t, text, "--allow-host evil.example")
	s.cancel()
	code, _ = s.end(t)
	assert.Equal(t, cli.ExitInterrupted, code)
	assert.Contains(t, s.errs.String(), "--allow-host evil.example")

	s = serveBeside(t, recordingFile(t), "--speed", "0", "--exit-when-done", "--allow-host", "bench.local")
	code, text = as(s, "bench.local:80")
	assert.Equal(t, http.StatusOK, code, text)
	code, _ = s.end(t)
	assert.Equal(t, cli.ExitHeld, code)
}

// Ctrl-C ends it in good order: by the checks once something was asked, else with 130.
func TestServeInterrupted(t *testing.T) {
	s := serveBeside(t, recordingFile(t), "--speed", "0")
	ask(t, s.url, hello)
	ask(t, s.url, `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"More"}]}`)
	s.cancel()
	code, report := s.end(t)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, string(report), "no answer left")

	s = serveBeside(t, recordingFile(t))
	s.cancel()
	code, _ = s.end(t)
	assert.Equal(t, cli.ExitInterrupted, code)
}

func TestInitsReportFitsItsPublishedSchema(t *testing.T) {
	schema := output(t, "init", "--schema")
	fits(t, schema, output(t, "init", "--from", recordingFile(t), "--out", t.TempDir(), "--format", "json"))
	fits(t, schema, output(t, "init", "--out", t.TempDir(), "--format", "json"))
}
