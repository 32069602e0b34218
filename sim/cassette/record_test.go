package cassette_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
	"toolbench/sim/stream"
)

// transport makes a function an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer is a transport that gives one response to everything.
func answer(header http.Header, body string) transport {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
}

// recorded runs f through a recorder over rt and returns the file's text.
func recorded(t need, path string, rt http.RoundTripper, f func(http.RoundTripper), secrets ...string) string {
	rec, err := cassette.Record(path, rt, secrets...)
	require.NoError(t, err)
	f(rec)
	require.NoError(t, rec.Stop())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// converse has a conversation through the official client.
func converse(t *testing.T, rt http.RoundTripper, words ...string) {
	client := anthropic.NewMessageService(option.WithBaseURL("https://api.example.com"), option.WithAPIKey("sk-ant-secret-0123456789"),
		option.WithHTTPClient(&http.Client{Transport: rt}), option.WithMaxRetries(0))
	for _, w := range words {
		s := client.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 9,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(w))}})
		for s.Next() {
		}
		require.NoError(t, s.Err())
		require.NoError(t, s.Close())
	}
}

func TestTheSameRunGivesTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"one.yaml", "two.yaml"} {
		synctest.Test(t, func(t *testing.T) {
			p := player(t, cassette.Scripted("s", turn("a"), turn("b")), cassette.Options{Lenient: true})
			files = append(files, recorded(t, filepath.Join(dir, name), p, func(rt http.RoundTripper) { converse(t, rt, "hello", "bye") }))
		})
	}
	assert.Equal(t, files[0], files[1])
	assert.Contains(t, files[0], "X-Toolbench-Event-Offsets:\n                - 200000,0,0,")
	for _, noise := range []string{"Stainless", "User-Agent", "sk-ant"} {
		assert.NotContains(t, files[0], noise)
	}
	assert.Contains(t, files[0], "X-Api-Key:\n                - '[redacted]'")

	synctest.Test(t, func(t *testing.T) {
		c, err := cassette.LoadFile(os.DirFS(dir), "one.yaml", cassette.Limits{})
		require.NoError(t, err)
		p := player(t, c, cassette.Options{})
		again := recorded(t, filepath.Join(dir, "again.yaml"), p, func(rt http.RoundTripper) { converse(t, rt, "hello", "bye") })
		assert.Equal(t, files[0], again, "a replay recorded is the recording")
		assert.Empty(t, p.Leftover())
	})
}

func TestRecordLoadReplayKeepsEventsAndTimes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		answers := rapid.SliceOfN(rapid.Custom(anyAnswer), 1, 3).Draw(rt, "answers")
		synctest.Test(t, func(t *testing.T) {
			p := player(t, cassette.Scripted("s", answers...), cassette.Options{Lenient: true})
			recorded(t, filepath.Join(dir, "r.yaml"), p, func(rt http.RoundTripper) {
				for range answers {
					play(t, rt, hello)
				}
			})
			c, err := cassette.LoadFile(os.DirFS(dir), "r.yaml", cassette.Limits{})
			require.NoError(t, err)
			strict := player(t, c, cassette.Options{})
			for i, want := range answers {
				events, err := c.Interactions[i].Events()
				require.NoError(t, err)
				assert.Equal(t, want, events, "in the file")
				assert.Equal(t, want, play(t, strict, hello), "in the replay")
			}
		})
	})
}

// anyAnswer draws scripted answers, complete, cut, failing.
func anyAnswer(t *rapid.T) []stream.Event {
	at := rapid.Map(rapid.IntRange(0, 9_000_000), func(n int) time.Duration { return time.Duration(n) * time.Microsecond })
	block := rapid.Custom(func(t *rapid.T) stream.Block {
		return stream.Block{Kind: rapid.SampledFrom([]stream.Kind{stream.Text, stream.Thinking}).Draw(t, "kind"), Text: rapid.String().Draw(t, "text"), At: at.Draw(t, "at")}
	})
	turn := stream.Turn{Seed: rapid.Uint64().Draw(t, "seed"), FirstByte: at.Draw(t, "first"), End: at.Draw(t, "end"),
		Blocks: rapid.SliceOfN(block, 0, 3).Draw(t, "blocks"), CutAfter: rapid.IntRange(0, 9).Draw(t, "cut")}
	if rapid.Bool().Draw(t, "fails") {
		turn.Error = &stream.Error{Type: "overloaded_error", Message: "Overloaded"}
	}
	return stream.Script(turn)
}

func TestARecordingReplacesTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "c.yaml")
	rt := answer(http.Header{"Content-Type": {"text/plain"}}, "x")
	first := recorded(t, path, rt, func(rt http.RoundTripper) { mustAsk(t, rt, hello) })
	require.NoError(t, os.WriteFile(strings.TrimSuffix(path, ".yaml")+".recording.yaml", []byte("stale: [\n"), 0o600))
	second := recorded(t, path, rt, func(rt http.RoundTripper) { mustAsk(t, rt, bye) })
	assert.Equal(t, 1, strings.Count(first, "request:"))
	assert.Equal(t, 1, strings.Count(second, "request:"), "nothing is appended")
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside it")
}

func TestNothingRecordedIsAnErrorAndKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	failing := transport(func(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe })
	rec, err := cassette.Record(path, failing)
	require.NoError(t, err)
	_, err = ask(t, rec, hello)
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	assert.ErrorIs(t, rec.Stop(), cassette.ErrNothingRecorded)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(b))
}

// A body that fails is recorded as far as it came, and its reader gets the error.
func TestABodyThatFailsIsNotLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	failing := transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2"), broken{})), Request: req}, nil
	})
	rec, err := cassette.Record(path, failing)
	require.NoError(t, err)
	body, err := io.ReadAll(mustAsk(t, rec, hello).Body)
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	assert.Equal(t, "data: 1\n\ndata: 2", string(body))
	partial, err := rec.Partial("the line\nis dead, key sk-ant-api03-abcdefgh")
	require.NoError(t, err)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(b), "an earlier cassette stays")
	b, err = os.ReadFile(partial)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(b), "# This recording is partial: the line is dead, key [redacted]\n---\n"))
	c, err := load(string(b))
	require.NoError(t, err)
	assert.Equal(t, "data: 1\n\ndata: 2", c.Interactions[0].Response.Body)
}

func TestAnEarlierCassetteStandsBeforeWhatIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	earlier, err := load(formatTwo)
	require.NoError(t, err)
	rec, err := cassette.RecordAfter(path, answer(nil, "x"), secret.New(), earlier)
	require.NoError(t, err)
	mustAsk(t, rec, hello)
	require.NoError(t, rec.Stop())
	c, err := cassette.LoadFile(os.DirFS(filepath.Dir(path)), "c.yaml", cassette.Limits{})
	require.NoError(t, err)
	require.Len(t, c.Interactions, 2)
	assert.Equal(t, 1, c.Version, "in the form this program writes")
	assert.Equal(t, earlier.Interactions[0].Response.Body, c.Interactions[0].Response.Body)
	assert.Equal(t, "1500000", c.Interactions[0].Response.Headers.Get(cassette.OffsetsHeader))
	assert.Equal(t, "x", c.Interactions[1].Response.Body)
}

func TestRecordRefusesWhatCannotBeRecorded(t *testing.T) {
	_, err := cassette.Record("c.yml", answer(nil, ""))
	assert.ErrorContains(t, err, "ends in .yaml")
	_, err = cassette.Record("c.yaml", nil)
	assert.ErrorContains(t, err, "no transport")
}

func TestTheTimeOfAPlainBodyIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := transport(func(req *http.Request) (*http.Response, error) {
			time.Sleep(80 * ms)
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader("he"), sleeper{}, strings.NewReader("llo"))), Request: req}, nil
		})
		path := filepath.Join(t.TempDir(), "c.yaml")
		begin := time.Now()
		text := recorded(t, path, slow, func(rt http.RoundTripper) { mustAsk(t, rt, hello) })
		assert.Equal(t, 100*ms, time.Since(begin), "recording takes no time of its own")
		assert.Contains(t, text, "duration: 80ms")
		c, err := load(text)
		require.NoError(t, err)
		start := time.Now()
		resp := mustAsk(t, player(t, c, cassette.Options{}), hello)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "hello", string(body))
		assert.Equal(t, 100*ms, time.Since(start))
	})
}

// sleeper is a reader that takes 20 ms to give nothing.
type sleeper struct{}

func (sleeper) Read([]byte) (int, error) {
	time.Sleep(20 * ms)
	return 0, io.EOF
}

func TestSecretsAreNeverWritten(t *testing.T) {
	pem := `-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----`
	secrets := []string{
		"sk-ant-api03-abcdefgh", "sk-proj-abcdefghijklmnop", "AKIAABCDEFGHIJKLMNOP", "ghp_abcdefghijklmnopqrst", "github_pat_abcdefghijklmnopqrst",
		"glpat-abcdefghijklmnop", "xoxb-1234567890-abc", "AIza" + strings.Repeat("a", 35), "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln", "MIIE",
		"hunter2-literal", "tab\\there", "org-4711", "cookie-value", "bearer-token-abcdef", "header-key", "user-pass", "query-token",
	}
	var sent strings.Builder
	for _, s := range secrets[:9] {
		sent.WriteString(s + " ")
	}
	body := `{"model":"m","messages":[{"role":"user","content":"` + sent.String() + pem + ` hunter2-literal tab\there Bearer bearer-token-abcdef"}],"organization_id": "org-4711"}`
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := recorded(t, path, answer(http.Header{"Set-Cookie": {"cookie-value"}, "Anthropic-Organization-Id": {"org-4711"}, "Content-Type": {"application/json"}, "Date": {"today"}}, body),
		func(rt http.RoundTripper) {
			req, err := http.NewRequest(http.MethodPost, "https://me:user-pass@api.example.com/v1/messages?access_token=query-token&x=1", strings.NewReader(body))
			require.NoError(t, err)
			for name, v := range map[string]string{"X-Api-Key": "header-key", "Authorization": "Bearer bearer-token-abcdef", "Cookie": "cookie-value", "X-Stainless-Os": "Linux", "X-Odd": "header-key"} {
				req.Header.Set(name, v)
			}
			resp, err := rt.RoundTrip(req)
			require.NoError(t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, body, string(b), "the caller still gets what was sent")
			assert.Equal(t, "header-key", req.Header.Get("X-Api-Key"), "and its request is untouched")
		}, "hunter2-literal", "tab\there", " ")
	for _, s := range secrets {
		assert.NotContains(t, text, s)
	}
	for _, noise := range []string{"Stainless", "Date", "today", "X-Odd"} {
		assert.NotContains(t, text, noise)
	}
	c, err := load(text)
	require.NoError(t, err)
	assert.Contains(t, c.Interactions[0].Request.Body, `"content":"[redacted] [redacted]`)
	assert.Contains(t, c.Interactions[0].Request.Body, `"organization_id": "[redacted]"`)
	assert.Equal(t, "https://api.example.com/v1/messages?access_token=[redacted]&x=1", c.Interactions[0].Request.URL)

	p := player(t, c, cassette.Options{Wait: instantly, Secrets: []string{"hunter2-literal", "tab\there"}})
	_, err = ask(t, p, body)
	assert.NoError(t, err, "the request with its secrets still finds its answer")
}

func TestOrdinaryProseIsNotRedacted(t *testing.T) {
	prose := `{"text":"the task-force asked; a bearer of bad news; organization_id is a column; sk-learn; eyJ is base64; monkey: key=1"}`
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := recorded(t, path, answer(nil, prose), func(rt http.RoundTripper) { mustAsk(t, rt, hello) })
	c, err := load(text)
	require.NoError(t, err)
	assert.Equal(t, prose, c.Interactions[0].Response.Body)
}

func TestTimesOfAnEarlierRecordingAreNotPassedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	rt := answer(http.Header{"Content-Type": {"text/event-stream"}, cassette.OffsetsHeader: {"7"}}, "")
	assert.NotContains(t, recorded(t, path, rt, func(rt http.RoundTripper) { mustAsk(t, rt, hello) }), cassette.OffsetsHeader)
}

func TestALastEventWithoutItsBlankLineHasATimeToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		rt := answer(http.Header{"Content-Type": {"text/event-stream"}}, "data: 1\n\ndata: 2")
		c, err := load(recorded(t, path, rt, func(rt http.RoundTripper) { mustAsk(t, rt, hello) }))
		require.NoError(t, err)
		assert.Equal(t, "0,0", c.Interactions[0].Response.Headers.Get(cassette.OffsetsHeader))
		body, err := io.ReadAll(mustAsk(t, player(t, c, cassette.Options{}), hello).Body)
		require.NoError(t, err)
		assert.Equal(t, "data: 1\n\ndata: 2", string(body))
	})
}

func TestATransportsErrorPassesThroughTheRecorder(t *testing.T) {
	lost := errors.New("connection lost")
	rec, err := cassette.Record(filepath.Join(t.TempDir(), "c.yaml"), transport(func(*http.Request) (*http.Response, error) { return nil, lost }))
	require.NoError(t, err)
	_, err = ask(t, rec, hello)
	assert.ErrorIs(t, err, lost)
}
