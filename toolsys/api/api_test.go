package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/api"
	"toolbench/toolsys/message"
)

// transport answers each request with the next answer and keeps what was asked.
type transport struct {
	answers []answer
	asked   []*http.Request
	bodies  []string
}

type answer struct {
	status int
	body   string
	err    error
	header http.Header // beside, or in place of, the usual one
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	tr.asked, tr.bodies = append(tr.asked, r), append(tr.bodies, string(raw))
	a := tr.answers[min(len(tr.asked), len(tr.answers))-1]
	if a.err != nil {
		return nil, a.err
	}
	header := http.Header{"Content-Type": {"text/event-stream"}}
	if a.status >= 400 {
		header.Set("Content-Type", "application/json")
	}
	maps.Copy(header, a.header)
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func stream(events ...string) answer {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "event: x\ndata: %s\n\n", e)
	}
	return answer{status: 200, body: b.String()}
}

func send(tr *transport, cfg api.Config) (got []string, err error) {
	cfg.Transport = tr
	err = api.New(cfg)(context.Background(), message.Request{Model: "m", MaxTokens: 7, Messages: []message.Message{message.UserText("a < b")}, Betas: []string{"one", "two"}},
		func(data []byte) error { got = append(got, string(data)); return nil })
	return got, err
}

func TestTheBytesAreOursAndTheHeadersTheSDKs(t *testing.T) {
	tr := &transport{answers: []answer{stream(`{"type":"message_start"}`, `{"type":"message_stop"}`)}}
	got, err := send(tr, api.Config{Key: "sk-test"})
	require.NoError(t, err)
	assert.Equal(t, []string{`{"type":"message_start"}`, `{"type":"message_stop"}`}, got)
	r := tr.asked[0]
	assert.Equal(t, "https://api.anthropic.com/v1/messages", r.URL.String())
	assert.Equal(t, "sk-test", r.Header.Get("X-Api-Key"))
	assert.Equal(t, "one,two", r.Header.Get("Anthropic-Beta"))
	assert.NotEmpty(t, r.Header.Get("Anthropic-Version"))
	assert.Equal(t, "text/event-stream", r.Header.Get("Accept"))
	assert.Equal(t, `{"model":"m","max_tokens":7,"messages":[{"role":"user","content":[{"type":"text","text":"a < b"}]}],"stream":true}`, tr.bodies[0])
}

func TestASingleBetaIsNamedAndNoneIsNot(t *testing.T) {
	for _, betas := range [][]string{nil, {"one"}} {
		tr := &transport{answers: []answer{stream(`{"type":"message_stop"}`)}}
		req := message.Request{Model: "m", MaxTokens: 7, Messages: []message.Message{message.UserText("a")}, Betas: betas}
		require.NoError(t, api.New(api.Config{Transport: tr})(t.Context(), req, func([]byte) error { return nil }))
		assert.Equal(t, betas, tr.asked[0].Header["Anthropic-Beta"])
	}
}

// A key or an address that stands in the environment is the user's own: it goes
// nowhere unless whoever wires the system gives it.
func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-users-own", "ANTHROPIC_AUTH_TOKEN": "users-own-token",
		"ANTHROPIC_BASE_URL": "https://elsewhere.example", "ANTHROPIC_CUSTOM_HEADERS": "X-Own: users-own", "ANTHROPIC_PROFILE": "own",
	} {
		t.Setenv(name, value)
	}
	tr := &transport{answers: []answer{stream(`{"type":"message_stop"}`)}}
	_, err := send(tr, api.Config{Key: "given"})
	require.NoError(t, err)
	assert.Equal(t, "api.anthropic.com", tr.asked[0].URL.Host)
	for name, values := range tr.asked[0].Header {
		for _, v := range values {
			assert.NotContains(t, v, "own", name)
		}
	}
	_, err = send(tr, api.Config{BaseURL: "http://localhost:9/proxy/"})
	require.NoError(t, err)
	assert.Equal(t, "http://localhost:9/proxy/v1/messages", tr.asked[1].URL.String())
}

func TestErrorsKeepTheAPIsText(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   api.Error
	}{
		"an error of the API":       {answer{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, api.Error{Status: 529, Kind: "overloaded_error", Text: "Overloaded"}},
		"written over many lines":   {answer{status: 400, body: "{\n \"type\": \"error\",\n \"error\": {\"type\": \"invalid_request_error\", \"message\": \"max_tokens: too large\"}\n}"}, api.Error{Status: 400, Kind: "invalid_request_error", Text: "max_tokens: too large"}},
		"something else in between": {answer{status: 502, body: "{\"proxy\":\n\"is   sad" + strings.Repeat("!", 500) + "\"}"}, api.Error{Status: 502, Text: `{"proxy": "is sad` + strings.Repeat("!", 183) + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := send(&transport{answers: []answer{c.answer}}, api.Config{})
			var got *api.Error
			require.ErrorAs(t, err, &got)
			assert.Equal(t, c.want, *got)
			assert.Contains(t, err.Error(), fmt.Sprint(c.want.Status))
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// An address that is no API's answers with a page, or sends on to where the key has no business.
func TestWhatIsNoStreamIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   string
	}{
		"a page":        {answer{status: 200, body: "<html>Welcome\n</html>", header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}, "the API answered 200: <html>Welcome </html>; is the address an API's?"},
		"JSON":          {answer{status: 200, body: `{"ok":true}`, header: http.Header{"Content-Type": {"application/json"}}}, `the API answered 200: {"ok":true}; is the address an API's?`},
		"a redirection": {answer{status: 307, header: http.Header{"Location": {"http://elsewhere.example/v1/messages"}}}, "the API answered 307: it sends on to http://elsewhere.example/v1/messages; give that address"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &transport{answers: []answer{c.answer}}
			_, err := send(tr, api.Config{Key: "sk-test", Retries: 1})
			require.EqualError(t, err, c.want)
			assert.Len(t, tr.asked, 1)
		})
	}
}

// A key that the API repeats goes no further: into no transcript and onto no screen.
func TestAnErrorHasNoKey(t *testing.T) {
	body := `{"type":"error","error":{"type":"authentication_error","message":"sk-secret-key is no key, nor is none"}}`
	for key, want := range map[string]string{"sk-secret-key": "[redacted] is no key, nor is none", "none": "sk-secret-key is no key, nor is none"} {
		_, err := send(&transport{answers: []answer{{status: 401, body: body}}}, api.Config{Key: key})
		assert.EqualError(t, err, "the API answered 401 authentication_error: "+want)
	}
}

func TestRetriesAreAsManyAsAskedFor(t *testing.T) {
	overloaded := answer{status: 500, body: `{"type":"error","error":{"type":"api_error","message":"oops"}}`}
	tr := &transport{answers: []answer{overloaded}}
	_, err := send(tr, api.Config{})
	require.Error(t, err)
	assert.Len(t, tr.asked, 1, "none by default: in virtual time the SDK's waits would be random")
}

func TestWhatBreaksTheStreamIsReturned(t *testing.T) {
	gone := errors.New("the line is dead")
	_, err := send(&transport{answers: []answer{{err: gone}}}, api.Config{})
	require.ErrorIs(t, err, gone)

	tr := &transport{answers: []answer{stream(`{"n":1}`, `{"n":2}`)}}
	enough, seen := errors.New("enough"), 0
	err = api.New(api.Config{Transport: tr})(context.Background(), message.Request{}, func([]byte) error { seen++; return enough })
	require.ErrorIs(t, err, enough)
	assert.Equal(t, 1, seen, "an error of the listener ends the stream")
}

// What other servers put into their streams does no harm.
func TestOddStreams(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"no event lines":          {"data: {\"n\":1}\n\ndata: {\"n\":2}\n\n", []string{`{"n":1}`, `{"n":2}`}},
		"a closing word":          {"data: {\"n\":1}\n\ndata: [DONE]\n\n", []string{`{"n":1}`}},
		"spaces and CRLF":         {"event: x\r\ndata: {\"n\":1}  \r\n\r\n", []string{`{"n":1}`}},
		"comments and empty data": {": keep-alive\n\ndata:\n\ndata: {\"n\":1}\n\n", []string{`{"n":1}`}},
		"nothing":                 {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := send(&transport{answers: []answer{{status: 200, body: c.body}}}, api.Config{})
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}
