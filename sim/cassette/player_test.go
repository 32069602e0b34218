package cassette_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
)

// instantly is a clock in which nothing takes time.
func instantly(ctx context.Context, _ string, _ time.Duration) error { return ctx.Err() }

// again is the request of a recorded interaction, sent to another host.
func again(t *testing.T, i cassette.Interaction) *http.Request {
	url := i.Request.URL
	if strings.HasPrefix(i.Request.Body, "{") {
		url = strings.Replace(url, "://", "://other.", 1)
	}
	req, err := http.NewRequest(i.Request.Method, url, strings.NewReader(i.Request.Body))
	require.NoError(t, err)
	return req
}

// recording makes a cassette that answers the given bodies with the given turns.
func recording(bodies []string, answers ...[]stream.Event) *cassette.Cassette {
	c := cassette.Scripted("test.yaml", answers...)
	for i, b := range bodies {
		c.Interactions[i].Request = vcr.Request{Method: "POST", URL: "https://recorded.example.com/v1/messages?beta=true", Body: b}
	}
	return c
}

const hello = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`
const bye = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"bye"}]}`

func TestEventsArriveAtTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{})
		assert.Equal(t, turn("a"), play(t, p, hello))
		assert.Empty(t, p.Leftover())
	})
}

func TestASlowReaderWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{})
		start := time.Now()
		resp := mustAsk(t, p, hello)
		time.Sleep(450 * ms)
		events, err := listen(resp.Body, start)
		require.NoError(t, err)
		assert.Equal(t, 450*ms, events[0].At)
		assert.Equal(t, 700*ms, events[len(events)-1].At, "the end is not late")
	})
}

func TestTheClockIsGivenOnceAnEvent(t *testing.T) {
	var actors []string
	var waited time.Duration
	now := time.Unix(0, 0)
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{
		Now: func() time.Time { return now },
		Wait: func(_ context.Context, actor string, d time.Duration) error {
			actors = append(actors, actor)
			now, waited = now.Add(d), waited+d
			return nil
		},
	})
	resp := mustAsk(t, p, hello)
	_, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	assert.Len(t, actors, len(turn("a")))
	assert.Equal(t, "stream/1", actors[0])
	assert.Equal(t, 700*ms, waited)
}

func TestTheOfficialClientStreamsThroughThePlayer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, cassette.Scripted("s", turn("a")), cassette.Options{Lenient: true})
		client := anthropic.NewMessageService(option.WithBaseURL("https://api.example.com"), option.WithAPIKey("test"),
			option.WithHTTPClient(&http.Client{Transport: p}), option.WithMaxRetries(0))
		start := time.Now()
		s := client.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 9,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))}})
		defer s.Close()
		var seen, want []string
		for s.Next() {
			seen = append(seen, s.Current().Type+" "+time.Since(start).String())
		}
		require.NoError(t, s.Err())
		for _, e := range turn("a") {
			if e.Type != "ping" { // the client swallows these
				want = append(want, e.Type+" "+e.At.String())
			}
		}
		assert.Equal(t, want, seen)
	})
}

func TestTheOfficialClientSeesAMiss(t *testing.T) {
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{})
	client := anthropic.NewMessageService(option.WithBaseURL("https://api.example.com"), option.WithAPIKey("test"),
		option.WithHTTPClient(&http.Client{Transport: p}), option.WithMaxRetries(0))
	s := client.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "other", MaxTokens: 9})
	defer s.Close()
	assert.False(t, s.Next())
	_, ok := errors.AsType[*cassette.MissError](s.Err())
	assert.True(t, ok, "got %v", s.Err())
}

func TestRequestsMatchByWhatTheyMean(t *testing.T) {
	recorded := `{"model":"m","max_tokens":1024,"system":"be terse","messages":[{"role":"user","content":[{"type":"text","text":"a<b"}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}],"metadata":{"user_id":"u1"},"temperature":1.0}`
	for name, live := range map[string]string{
		"the same":          recorded,
		"members reordered": `{"messages":[{"content":[{"text":"a<b","type":"text"}],"role":"user"},{"content":[{"content":"ok","tool_use_id":"t","type":"tool_result"}],"role":"user"}],"temperature":1.0,"system":"be terse","max_tokens":1024,"model":"m"}`,
		"shorthands":        `{"model":"m","max_tokens":1024,"system":[{"type":"text","text":"be terse"}],"messages":[{"role":"user","content":"a\u003cb"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"ok"}]}]}],"temperature":1}`,
		"another user, 1e0": strings.NewReplacer("u1", "u2", "1.0", "1e0").Replace(recorded),
		"spaces":            " " + strings.ReplaceAll(recorded, `":`, `" : `) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := player(t, recording([]string{recorded}, turn("a")), cassette.Options{Wait: instantly})
			resp, err := ask(t, p, live)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		})
	}
	for _, change := range [][2]string{{`"m"`, `"n"`}, {"terse", "brief"}, {"a<b", "a<c"}, {"1024", "1025"}, {`"t"`, `"u"`}, {"1.0", "0.5"}} {
		p := player(t, recording([]string{recorded}, turn("a")), cassette.Options{Wait: instantly})
		_, err := ask(t, p, strings.Replace(recorded, change[0], change[1], 1))
		assert.Error(t, err, "a changed %s must not match", change[0])
	}
}

func TestEqualRequestsAreAnsweredInOrder(t *testing.T) {
	p := player(t, recording([]string{hello, bye, hello}, turn("a"), turn("b"), turn("c")), cassette.Options{Wait: instantly})
	var got []string
	for _, body := range []string{hello, hello, bye} {
		events := play(t, p, body)
		got = append(got, string(events[0].Data[45:53]))
	}
	assert.Equal(t, []string{string(turn("a")[0].Data[45:53]), string(turn("c")[0].Data[45:53]), string(turn("b")[0].Data[45:53])}, got)
	assert.Len(t, map[string]bool{got[0]: true, got[1]: true, got[2]: true}, 3, "the answers can be told apart")
	assert.Empty(t, p.Leftover())
}

func missOf(t *testing.T, p *cassette.Player, body string) *cassette.MissError {
	_, err := ask(t, p, body)
	miss, ok := errors.AsType[*cassette.MissError](err)
	require.True(t, ok, "got %v", err)
	return miss
}

func TestAMissReportsAnAnswerThatIsUsedUp(t *testing.T) {
	p := player(t, recording([]string{hello, bye}, turn("a"), turn("b")), cassette.Options{Wait: instantly})
	play(t, p, hello)
	miss := missOf(t, p, hello)
	assert.Equal(t, cassette.UsedUp, miss.Kind)
	assert.Equal(t, 1, miss.Nearest)
	assert.ErrorContains(t, miss, "cassette test.yaml has no answer for POST /v1/messages: interaction 1 answered it already")
}

func TestAMissShowsTheNearestRequestAndTheDifference(t *testing.T) {
	prompt := `{"model":"m","system":"You help.\nYou are terse.\nYou are kind.","messages":[{"role":"user","content":"fix the bug"}],"metadata":{"user_id":"a"}}`
	p := player(t, recording([]string{hello, prompt}, turn("a"), turn("b")), cassette.Options{Wait: instantly})
	miss := missOf(t, p, strings.NewReplacer("terse", "verbose", `"a"`, `"z"`).Replace(prompt))
	assert.Equal(t, cassette.Differs, miss.Kind)
	assert.Equal(t, 2, miss.Nearest)
	assert.Greater(t, miss.Similarity, 0.8)
	assert.Equal(t, `--- recorded as interaction 2
+++ this request
@@ -16,7 +16,7 @@
     {
       "text": """
         You help.
-        You are terse.
+        You are verbose.
         You are kind.
       """,
       "type": "text"
`, miss.Diff)
	assert.ErrorContains(t, miss, "interaction 2 is nearest")
	assert.ErrorContains(t, miss, "+        You are verbose.")
}

func TestAMissPrefersARequestThatIsNotYetAnswered(t *testing.T) {
	say := func(what string) string {
		return `{"model":"m","a":1,"b":2,"c":3,"d":4,"e":5,"messages":[` + what + `]}`
	}
	near, far := say(`{"role":"user","content":"one"}`), say(`{"role":"user","content":"two"},{"role":"assistant","content":"three"}`)
	p := player(t, recording([]string{near, far}, turn("a"), turn("b")), cassette.Options{Wait: instantly})
	live := say(`{"role":"user","content":"four"}`)
	assert.Equal(t, 1, missOf(t, p, live).Nearest, "the most similar")
	play(t, p, near)
	assert.Equal(t, 2, missOf(t, p, live).Nearest, "the most similar that is left")
}

func TestAMissReportsThatNothingIsLikeIt(t *testing.T) {
	p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Wait: instantly})
	req, err := http.NewRequest(http.MethodGet, "https://example.com/page?token=abc", nil)
	require.NoError(t, err)
	_, err = p.RoundTrip(req)
	miss, ok := errors.AsType[*cassette.MissError](err)
	require.True(t, ok)
	assert.Equal(t, cassette.NothingLike, miss.Kind)
	assert.EqualError(t, err, "cassette test.yaml has no answer for GET https://example.com/page?token=[redacted]: nothing recorded is like it; unused: 1 POST /v1/messages")
}

func TestADiffIsShortAndHarmless(t *testing.T) {
	long := func(word string) string {
		return `{"model":"m","messages":[{"role":"user","content":"\u001b[31m\n` + strings.Repeat(word+`\n`, 500) + `"}],"tools":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}],"a":1,"b":2,"c":3,"d":4}`
	}
	c := recording([]string{long("one")}, turn("a"))
	p := player(t, c, cassette.Options{Wait: instantly})
	miss := missOf(t, p, strings.Replace(long("one"), "one", "two", 200))
	assert.Equal(t, cassette.Differs, miss.Kind)
	assert.LessOrEqual(t, strings.Count(miss.Diff, "\n"), 82)
	assert.Contains(t, miss.Diff, "more lines")
	assert.NotContains(t, miss.Diff, "\x1b")
}

func TestPlainExchangesReplayByMethodAndURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cassette.Cassette{Name: "web", Version: 1, Interactions: []cassette.Interaction{
			{Number: 1, Request: vcr.Request{Method: "GET", URL: "https://a.example.com/x?b=2&a=1"},
				Response: vcr.Response{Code: 200, Status: "200 OK", Body: "page", Duration: 300 * ms, Headers: http.Header{"Content-Type": {"text/html"}, "Content-Length": {"99"}}}},
			{Number: 2, Request: vcr.Request{Method: "GET", URL: "https://b.example.com/x?b=2&a=1"}, Response: vcr.Response{Code: 404, Body: "gone"}},
		}}
		p := player(t, c, cassette.Options{Lenient: true})
		get := func(url string) (*http.Response, string) {
			resp, err := (&http.Client{Transport: p}).Get(url)
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return resp, string(b)
		}
		start := time.Now()
		resp, body := get("https://b.example.com/x?a=1&b=2")
		assert.Equal(t, "404 Not Found|gone", resp.Status+"|"+body)
		resp, body = get("https://a.example.com/x?a=1&b=2")
		assert.Equal(t, "200 OK|page", resp.Status+"|"+body)
		assert.Equal(t, "text/html", resp.Header.Get("Content-Type"))
		assert.Empty(t, resp.Header.Get("Content-Length"))
		assert.Equal(t, 300*ms, time.Since(start))
	})
}

func TestLenientAnswersByOrderAndKeepsTheDifferences(t *testing.T) {
	p := player(t, recording([]string{hello, bye}, turn("a"), turn("b")), cassette.Options{Wait: instantly, Lenient: true})
	assert.Equal(t, turn("a")[0].Data, play(t, p, hello)[0].Data)
	assert.Equal(t, turn("b")[0].Data, play(t, p, strings.Replace(bye, "bye", "ciao", 1))[0].Data)
	diffs := p.Diffs()
	require.Len(t, diffs, 1)
	assert.Equal(t, 2, diffs[0].Interaction)
	assert.Contains(t, diffs[0].Text, "-          \"text\": \"bye\",\n+          \"text\": \"ciao\",\n")
	miss := missOf(t, p, hello)
	assert.Equal(t, cassette.Exhausted, miss.Kind)
	assert.ErrorContains(t, miss, "interaction 2 was the last recorded answer")
}

func TestLeftoversAreListed(t *testing.T) {
	c, err := load(formatOne)
	require.NoError(t, err)
	p := player(t, c, cassette.Options{})
	assert.Equal(t, []cassette.Leftover{{Interaction: 1, Line: 4, Method: "POST", URL: "/v1/messages"}}, p.Leftover())
}

func TestCancellingTheRequestEndsTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 350*ms)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://x/v1/messages", strings.NewReader(hello))
		require.NoError(t, err)
		start := time.Now()
		resp, err := p.RoundTrip(req)
		require.NoError(t, err)
		events, err := listen(resp.Body, start)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 350*ms, time.Since(start))
		assert.NotEmpty(t, events)
		assert.LessOrEqual(t, events[len(events)-1].At, 350*ms)

		_, err = p.RoundTrip(req.WithContext(ctx))
		assert.ErrorIs(t, err, context.DeadlineExceeded, "a dead request gets no answer")
	})
}

func TestClosingTheBodyWakesItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{})
		resp := mustAsk(t, p, hello)
		time.AfterFunc(100*ms, func() { assert.NoError(t, resp.Body.Close()) })
		start := time.Now()
		n, err := resp.Body.Read(make([]byte, 10))
		assert.Zero(t, n)
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
		assert.Equal(t, 100*ms, time.Since(start))
	})
}

func TestConcurrentRequestsEachGetTheirOwnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, recording([]string{hello, bye}, turn("a"), turn("b")), cassette.Options{})
		got := make([][]stream.Event, 2)
		for i, body := range []string{hello, bye} {
			go func() { got[i] = play(t, p, body) }()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, [][]stream.Event{turn("a"), turn("b")}, got)
	})
}

func TestPaceOverridesTheRecordedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := stream.Pace{FirstByte: 50 * ms, TokensPerSecond: 40}
		p := player(t, recording([]string{hello}, turn("a")), cassette.Options{Pace: &pace})
		assert.Equal(t, pace.Apply(turn("a")), play(t, p, hello))
	})
}

func TestPiecesEndWithTheirLineEnds(t *testing.T) {
	c := recording([]string{hello}, nil)
	c.Interactions[0].Response.Body = "\ufeffdata: {\"type\":\"a\"}\r\n\r\n: odd\r\ndata: 2\r\n\r\ndata: [DONE]\r\n\r\n"
	p := player(t, c, cassette.Options{Wait: instantly})
	body := mustAsk(t, p, hello).Body
	defer body.Close()
	var pieces []string
	for buf := make([]byte, 100); ; {
		n, err := body.Read(buf)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		pieces = append(pieces, string(buf[:n]))
	}
	assert.Equal(t, []string{"\ufeffdata: {\"type\":\"a\"}\r\n\r\n", ": odd\r\ndata: 2\r\n\r\n", "data: [DONE]\r\n\r\n"}, pieces)
}

func TestARecordingWithoutTimesArrivesWithItsHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := load(strings.NewReplacer("      X-Toolbench-Event-Offsets:\n      - \"1500\"\n", "", `duration: ""`, "duration: 1.5s").Replace(formatOne))
		require.NoError(t, err)
		p := player(t, c, cassette.Options{})
		events := play(t, p, c.Interactions[0].Request.Body)
		assert.Equal(t, 1500*ms, events[0].At)
	})
}
