package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/cmd/toolbench/cli"
)

const driftKey = "k-Zk39dLqPw82mXv71RtYb"

// driftOf runs the command; the report is JSON.
func driftOf(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = cli.Main(ctx, cli.Process{Args: append([]string{"drift", "--format", "json"}, args...), Stdout: &stdout, Stderr: &stderr,
		Env: []string{"ANTHROPIC_API_KEY=" + driftKey, "OPENAI_API_KEY=" + driftKey}}, cli.Scenarios())
	return code, stdout.String(), stderr.String()
}

const driftCassettes = "../../../fixtures/cassettes/"

// The same recording served again has not changed; another's answers have.
func TestDriftComparesWithWhatIsServed(t *testing.T) {
	for served, same := range map[string]bool{"streaming-queue-headline": true, "tool-bash": false} {
		s := serveBeside(t, driftCassettes+served+".yaml", "--speed", "0", "--again")
		code, out, errs := driftOf(t.Context(), driftCassettes+"streaming-queue-headline.yaml", "--base-url", s.url)
		s.cancel()
		_, _ = s.end(t)
		fits(t, output(t, "drift", "--schema"), []byte(out))
		assert.Equal(t, same, gjson.Get(out, "same").Bool(), errs)
		assert.Equal(t, same, code == cli.ExitHeld, errs)
		assert.Equal(t, same, len(gjson.Get(out, "changes").Array()) == 0)
		assert.EqualValues(t, 2, gjson.Get(out, "sent").Int())
	}
}

const chatExchange = `{"request":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","headers":{"Authorization":["Bearer OLD"]},"body":"{\"model\":\"g\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"},"response":{"status":200,"headers":{},"body":"{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}"}}
`

// The key goes to the address that was named, in its API's header, and is never printed.
func TestDriftOfAnotherProvider(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(chatExchange), 0o600))
	status, answer := 200, gjson.Get(chatExchange, "response.body").Str
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer "+driftKey, r.Header.Get("Authorization"))
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "h", gjson.GetBytes(body, "model").Str)
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	for _, c := range []struct {
		status, code int
		answer, says string
	}{
		{200, cli.ExitHeld, answer, `"same": true`},
		{200, cli.ExitFailed, strings.Replace(answer, `"role"`, `"`+driftKey+`":1,"role"`, 1), `"member"`},
		{307, cli.ExitFailed, "", `"now": "307"`},
		{401, cli.ExitUsage, "", "check the key in OPENAI_API_KEY"},
		{529, cli.ExitHarness, "", "try again later"},
	} {
		status, answer = c.status, c.answer
		code, out, errs := driftOf(t.Context(), file, "--base-url", server.URL+"/v1", "--model", "h", "--retries", "0")
		assert.Equal(t, c.code, code, errs)
		assert.Contains(t, out+errs, c.says)
		assert.NotContains(t, out+errs, driftKey)
	}
}

// An Ollama on one's own machine is asked without a key.
func TestDriftOfOllamaNeedsNoKey(t *testing.T) {
	answer := `{"model":"g","message":{"role":"assistant","content":"Hello"},"done":true,"done_reason":"stop"}`
	exchange, err := json.Marshal(map[string]any{"request": map[string]any{"method": "POST", "url": "http://127.0.0.1:11434/api/chat", "body": `{"model":"g","stream":false,"messages":[{"role":"user","content":"Hi"}]}`},
		"response": map[string]any{"status": 200, "body": answer}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "chat.jsonl")
	require.NoError(t, os.WriteFile(file, append(exchange, '\n'), 0o600))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/api/chat", r.URL.Path)
		assert.Empty(t, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	code, out, errs := driftOf(t.Context(), file, "--base-url", server.URL)
	assert.Equal(t, cli.ExitHeld, code, errs)
	assert.EqualValues(t, 1, gjson.Get(out, "sent").Int())
}

func TestDriftIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	code, _, errs := driftOf(ctx, driftCassettes+"tool-bash.yaml", "--base-url", server.URL)
	assert.Equal(t, cli.ExitInterrupted, code)
	assert.Contains(t, errs, "interrupted after 0 of")
}
