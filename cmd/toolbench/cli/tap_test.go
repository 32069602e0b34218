package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/sim/scenario"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

const tappedScenario = `name: tapped
about: Two calls beside each other, then a third.
stream:
  pace: {tokens_per_second: 100}
  turns:
    - text: I look at both files.
      calls:
        - {id: one, tool: read_file, input: {path: /a}}
        - {id: two, tool: read_file, input: {path: /b}}
    - calls: [{id: three, tool: read_file, input: {path: /missing}}]
    - text: Both are there, and the third is not.
`

// drive has the official SDK's tool runner hold the conversation against an address.
func drive(t *testing.T, url string) {
	t.Helper()
	tool, err := toolrunner.NewBetaToolFromBytes("read_file", "Reads.", []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		func(_ context.Context, input json.RawMessage) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: string(input)}}, nil
		})
	require.NoError(t, err)
	client := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(url), option.WithAPIKey("sk-ant-api03-Zk39dLqPw82mXv71RtYb"), option.WithMaxRetries(0))
	runner := client.Beta.Messages.NewToolRunnerStreaming([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: "served", MaxTokens: 1024,
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Look."))},
	}})
	for events, err := range runner.AllStreaming(t.Context()) {
		require.NoError(t, err)
		for _, err := range events {
			require.NoError(t, err)
		}
	}
}

// answers are what a client of a script gets, event by event.
func answers(script *serve.Script) (out [][]stream.Event) {
	for _, a := range script.Conversations[0].Answers {
		out = append(out, a.Events)
	}
	return out
}

// What goes through tap between an SDK and a model is recorded as it was: the same events,
// calls and results, at their times; and what was recorded is served again alike.
func TestTapRecordsWhatGoesThrough(t *testing.T) {
	sc, err := scenario.Parse("tapped.yaml", []byte(tappedScenario))
	require.NoError(t, err)
	script, err := serve.FromScenario(sc, stream.Pace{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "first.yaml")
	for range 2 {
		server := serve.New(script, serve.Options{Speed: 1})
		at := httptest.NewServer(server)
		s := beside(t, "tap", "--out", file, "--listen", "127.0.0.1:0", "--upstream", at.URL)
		drive(t, s.url)
		s.cancel()
		code, _ := s.end(t)
		at.Close()
		require.Equal(t, cli.ExitHeld, code, s.errs.String())
		report := server.Report()
		require.True(t, report.Held(), report)

		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "Zk39dLqPw82mXv71RtYb")
		f, err := os.Open(file)
		require.NoError(t, err)
		again, err := serve.FromRecording(file, f, recording.Limits{}, stream.Pace{})
		f.Close()
		require.NoError(t, err)
		alike(t, answers(script), answers(again))
		assert.Len(t, again.Conversations[0].Answers[0].Results, 2)
		script, file = again, filepath.Join(filepath.Dir(file), "again.yaml")
	}
}

// alike compares events and, within what a slow machine may add, their times.
func alike(t *testing.T, want, got [][]stream.Event) {
	t.Helper()
	require.Len(t, got, len(want))
	worst := time.Duration(0)
	for i := range want {
		require.Len(t, got[i], len(want[i]))
		for k, e := range want[i] {
			assert.JSONEq(t, string(e.Data), string(got[i][k].Data))
			off := (got[i][k].At - e.At).Abs()
			worst = max(worst, off)
			assert.Less(t, off, 5*time.Second)
		}
	}
	t.Logf("times differ by %s at most", worst)
}

// What goes wrong on the way is what the agent gets, and what is recorded.
// An API may begin to answer before it has the whole request: neither side waits for the
// other, and nothing of either is lost.
func TestTapPassesAnAnswerOnThatBeginsBeforeTheRequestIsOver(t *testing.T) {
	first, second := strings.Repeat("a", 10_000), strings.Repeat("b", 300_000)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		assert.NoError(t, c.EnableFullDuplex())
		_, _ = io.WriteString(w, "begun\n")
		assert.NoError(t, c.Flush())
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, first+second, string(body))
		_, _ = io.WriteString(w, "over\n")
	}))
	defer api.Close()
	s := beside(t, "tap", "--out", filepath.Join(t.TempDir(), "out.yaml"), "--listen", "127.0.0.1:0", "--upstream", api.URL)
	body, rest := io.Pipe()
	begun := make(chan struct{})
	go func() {
		_, _ = io.WriteString(rest, first)
		<-begun
		_, _ = io.WriteString(rest, second)
		_ = rest.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/chat/completions", body)
	require.NoError(t, err)
	req.ContentLength = int64(len(first) + len(second))
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "begun\n", line)
	close(begun)
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "over\n", line)
	s.cancel()
	code, _ := s.end(t)
	assert.Equal(t, cli.ExitHeld, code, s.errs.String())
}

func TestTapInjectsFaults(t *testing.T) {
	sc, err := scenario.Parse("tapped.yaml", []byte(tappedScenario))
	require.NoError(t, err)
	script, err := serve.FromScenario(sc, stream.Pace{})
	require.NoError(t, err)
	at := httptest.NewServer(serve.New(script, serve.Options{}))
	defer at.Close()
	file := filepath.Join(t.TempDir(), "faults.yaml")
	s := beside(t, "tap", "--out", file, "--listen", "127.0.0.1:0", "--upstream", at.URL, "--fault", "status 529 @ request=1", "--fault", "malformed @ request=2 event=1")
	assert.Contains(t, ask(t, s.url, hello), "overloaded_error")
	ask(t, s.url, hello)
	s.cancel()
	code, _ := s.end(t)
	assert.Equal(t, cli.ExitHeld, code, s.errs.String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "code: 529")
}

// An error that is put on the way has the form of the API that was asked.
func TestTapWordsFaultsAsTheAPIDoes(t *testing.T) {
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := io.WriteString(w, "data: {}\n\ndata: {}\n\n")
		assert.NoError(t, err)
	}))
	defer at.Close()
	for path, want := range map[string][]string{
		"/v1/messages":         {"529", `"type":"overloaded_error"`, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\""},
		"/v1/chat/completions": {"503", `"code":"server_error"`, `data: {"error":{"message":"injected","type":"requests"`},
		"/v1/responses":        {"503", `"code":"server_error"`, "event: error\n"},
		"/v1beta/models/m:streamGenerateContent?alt=sse":                {"503", `"status":"UNAVAILABLE"`, `data: {"error":{"code":429`},
		"/model/m/converse-stream":                                      {"503", `{"message":"Overloaded"}`, "throttlingException"},
		"/model/anthropic.m/invoke-with-response-stream":                {"503", `{"message":"Overloaded"}`, "throttlingException"},
		"/v1/projects/p/publishers/anthropic/models/m:streamRawPredict": {"529", `"type":"overloaded_error"`, "event: error\n"},
	} {
		s := beside(t, "tap", "--out", filepath.Join(t.TempDir(), "c.yaml"), "--listen", "127.0.0.1:0", "--upstream", at.URL,
			"--fault", "status 529 @ request=1", "--fault", "say rate_limit_error @ request=2 event=1")
		for i := range 2 {
			resp, err := http.Post(s.url+path, "application/json", strings.NewReader("{}"))
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Contains(t, string(text), want[i+1], path)
			if i == 0 {
				assert.Equal(t, want[0], fmt.Sprint(resp.StatusCode), path)
			}
		}
		s.cancel()
		code, _ := s.end(t)
		assert.Equal(t, cli.ExitHeld, code, s.errs.String())
	}
}

// A flood goes through whole: each request has its own answer, and each exchange is in the
// file once.
func TestTapLosesNothingOfAFlood(t *testing.T) {
	const clients, each = 20, 25
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			fmt.Fprintf(w, "data: %s\n\n", body)
			w.(http.Flusher).Flush()
		}
	}))
	defer at.Close()
	file := filepath.Join(t.TempDir(), "flood.yaml")
	s := beside(t, "tap", "--out", file, "--listen", "127.0.0.1:0", "--upstream", at.URL)
	var asked sync.WaitGroup
	for c := range clients {
		asked.Go(func() {
			for n := range each {
				body := fmt.Sprintf(`{"n":%d}`, c*each+n)
				assert.Equal(t, strings.Repeat("data: "+body+"\n\n", 3), ask(t, s.url, body))
			}
		})
	}
	asked.Wait()
	s.cancel()
	code, _ := s.end(t)
	require.Equal(t, cli.ExitHeld, code, s.errs.String())
	assert.Contains(t, s.errs.String(), fmt.Sprintf("%d exchanges recorded", clients*each))
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	c, err := cassette.Load(file, f, cassette.Limits{})
	require.NoError(t, err)
	found := map[string]int{}
	for _, i := range c.Interactions {
		events, err := i.Events()
		require.NoError(t, err)
		require.Len(t, events, 3)
		assert.JSONEq(t, i.Request.Body, string(events[2].Data))
		found[i.Request.Body]++
	}
	assert.Len(t, found, clients*each)
	assert.Len(t, c.Interactions, clients*each)
}

// Gemini's clients have the key in the address, and some gateways in the path: neither is printed when
// a request is noted, nor when its API cannot be reached, nor in the answer that says so.
func TestTapPrintsNoKeyOfAnAddress(t *testing.T) {
	const long, short = "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "Shrt-4-k"
	s := beside(t, "tap", "--out", filepath.Join(t.TempDir(), "out.yaml"), "--listen", "127.0.0.1:0", "--log", "--upstream", "http://127.0.0.1:1")
	var answers strings.Builder
	for _, path := range []string{
		"/v1beta/models/m:generateContent?key=" + long, "/v1beta/models/m:generateContent?key=" + short,
		"/" + long + "/v1/messages", "/" + long + "/other",
	} {
		resp, err := http.Post(s.url+path, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		answers.Write(body)
	}
	s.cancel()
	s.end(t)
	for _, printed := range []string{answers.String(), s.errs.String()} {
		assert.Contains(t, printed, "POST http://127.0.0.1:1/v1beta/models/m:generateContent?key=[redacted]: the API cannot be reached: ")
		assert.NotContains(t, printed, long)
		assert.NotContains(t, printed, short)
	}
	assert.Contains(t, s.errs.String(), "passed on, of no API that is known: POST /[redacted]/other (1)")
}
