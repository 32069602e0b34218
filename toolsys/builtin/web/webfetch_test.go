package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// page is one answer of the network.
type page struct {
	status         int
	contentType    string
	location, body string
}

// net answers from pages by address, and notes what was asked for.
func net(pages map[string]page, asked *[]string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, r.Method+" "+r.URL.String())
		p, ok := pages[r.URL.String()]
		if !ok {
			return nil, errors.New("no such host")
		}
		resp := &http.Response{StatusCode: p.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(p.body)), Request: r}
		if p.contentType != "" {
			resp.Header.Set("Content-Type", p.contentType)
		}
		if p.location != "" {
			resp.Header.Set("Location", p.location)
		}
		return resp, nil
	}
}

func parse(t *testing.T, tl *tool.Tool, url string) tool.Input {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"url": url, "prompt": "What is it?"})
	require.NoError(t, err)
	in, problems := tl.Parse(raw)
	require.Empty(t, problems)
	return in
}

func fetch(t *testing.T, d web.Deps, url string) (tool.Output, error) {
	t.Helper()
	f := web.WebFetch(d)
	in := parse(t, f, url)
	require.Nil(t, f.Validate(in, &tool.Context{}))
	return f.Call(t.Context(), in, &tool.Context{})
}

func TestHTMLComesBackAsMarkdown(t *testing.T) {
	var asked []string
	d := web.Deps{Do: net(map[string]page{
		"https://example.com/a": {status: 200, contentType: "text/html; charset=utf-8", body: "<html><head><script>evil()</script></head><body><h1>Title</h1><p>Some <b>bold</b> <a href='/x?y=1'>link</a></p></body></html>"},
	}, &asked)}
	out, err := fetch(t, d, "http://example.com/a#part")
	require.NoError(t, err)
	assert.Equal(t, []string{"GET https://example.com/a"}, asked, "http became https, the fragment stayed here")
	assert.Equal(t, "The text of https://example.com/a (the prompt was not applied to it):\n# Title\n\nSome **bold** [link](https://example.com/x?y=1)", message.PlainText(out.Blocks))
}

func TestThePromptIsAppliedWhereSomebodyCan(t *testing.T) {
	var asked []string
	d := web.Deps{
		Do: net(map[string]page{"https://example.com/": {status: 200, contentType: "text/plain", body: "forty-two"}}, &asked),
		Summarize: func(_ context.Context, prompt, text string, _ *tool.Context) (string, error) {
			return prompt + " It is " + text + ".", nil
		},
	}
	out, err := fetch(t, d, "https://example.com/")
	require.NoError(t, err)
	assert.Equal(t, "What is it? It is forty-two.", message.PlainText(out.Blocks))

	broken := errors.New("no model")
	d.Summarize = func(context.Context, string, string, *tool.Context) (string, error) { return "", broken }
	_, err = fetch(t, d, "https://example.com/")
	assert.ErrorIs(t, err, broken)
}

func TestTextIsReadAsWhatItIs(t *testing.T) {
	for name, test := range map[string]struct {
		contentType, body, want string
	}{
		"json":             {"application/json", `{"a":"<b>"}`, `{"a":"<b>"}`},
		"a vendor's json":  {"application/problem+json", `{}`, `{}`},
		"latin 1":          {"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		"old and unsaid":   {"text/plain", "\x93caf\xe9\x94 \x80\xea", "“café” €ê"},
		"no type at all":   {"", "plain words", "plain words"},
		"a malformed type": {";;;", "plain words", "plain words"},
		"empty":            {"text/plain", "", "(the page is empty)"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			out, err := fetch(t, web.Deps{Do: net(map[string]page{"https://e.org/": {status: 200, contentType: test.contentType, body: test.body}}, &asked)}, "https://e.org/")
			require.NoError(t, err)
			_, text, _ := strings.Cut(message.PlainText(out.Blocks), "\n")
			assert.Equal(t, test.want, text)
		})
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	var asked []string
	d := web.Deps{Do: net(map[string]page{
		"https://e.org/404":  {status: 404, contentType: "text/html", body: "<p>gone"},
		"https://e.org/400":  {status: 400, contentType: "text/plain", body: "no"},
		"https://e.org/500":  {status: 500},
		"https://e.org/png":  {status: 200, contentType: "image/png", body: "\x89PNG"},
		"https://e.org/to":   {status: 302},
		"https://e.org/ftp":  {status: 302, location: "ftp://e.org/"},
		"https://e.org/loop": {status: 302, location: "/loop"},
	}, &asked)}
	for url, want := range map[string]string{
		"https://e.org/404":       "https://e.org/404 answered 404 Not Found",
		"https://e.org/400":       "answered 400 Bad Request",
		"https://e.org/500":       "500 Internal Server Error",
		"https://e.org/png":       "the content is image/png, which is not text",
		"https://e.org/to":        "without an address",
		"https://e.org/ftp":       "must begin with http:// or https://",
		"https://e.org/loop":      "more than 10 redirects",
		"https://nowhere.invalid": "https://nowhere.invalid could not be fetched: no such host",
	} {
		_, err := fetch(t, d, url)
		assert.ErrorContains(t, err, want, url)
	}
}

// A page of a megabyte kept a call at work for minutes, in which nothing could stop it.
func TestAPageCannotKeepTheConverterAtWork(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"open brackets":     {strings.Repeat("*_`[", 300_000), "too many brackets"},
		"written otherwise": {strings.Repeat("&lbrack;<b>a</b>", 100_000), "too many brackets"},
		"quotations":        {strings.Repeat("<blockquote>", 250) + strings.Repeat("a<br>", 100_000), "nested"},
		"breaks alone":      {strings.Repeat("<blockquote>", 250) + strings.Repeat("<br>", 100_000), "nested"},
		"a script's name":   {strings.Repeat("<blockquote>", 250) + strings.Repeat("script<br>", 100_000), "nested"},
		"numbered lists":    {strings.Repeat("<ol><li>", 120) + strings.Repeat("<p>a\nb", 100_000), "nested"},
		"one long text":     {strings.Repeat("<ul><li>", 120) + "<pre>" + strings.Repeat("a\n", 100_000) + "</pre>", "nested"},
		"lists":             {strings.Repeat("<ul><li>", 120) + strings.Repeat("<p>a\nb", 100_000), "nested"},
		"elements":          {strings.Repeat("<div>", 100_000), "exceeds 512 nodes"},
		"a script":          {"<script>" + strings.Repeat("[", 100_000) + "</script>a", ""},
		"closed brackets":   {strings.Repeat("[a] ", 100_000), ""},
		"a long list":       {"<ul>" + strings.Repeat("<li><ul><li>a</ul>", 20_000), ""},
	} {
		var asked []string
		_, err := fetch(t, web.Deps{Do: net(map[string]page{"https://e.org/": {status: 200, contentType: "text/html", body: test.body}}, &asked)}, "https://e.org/")
		if test.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, test.want, name)
		}
	}
}

func TestRedirectsAreFollowedWithinTheHostOnly(t *testing.T) {
	var asked []string
	d := web.Deps{Do: net(map[string]page{
		"https://e.org/old":      {status: 301, location: "/new"},
		"https://e.org/new":      {status: 308, location: "http://e.org/last"},
		"https://e.org/last":     {status: 302, location: "https://evil.org/x?y=1"},
		"https://evil.org/x?y=1": {status: 200, contentType: "text/plain", body: "never seen"},
	}, &asked)}
	out, err := fetch(t, d, "https://e.org/old")
	require.NoError(t, err)
	assert.Equal(t, []string{"GET https://e.org/old", "GET https://e.org/new", "GET https://e.org/last"}, asked)
	assert.Equal(t, "https://e.org/last redirects (302 Found) to another host, which was not followed. "+
		"To fetch it, call WebFetch again with this URL: https://evil.org/x?y=1", message.PlainText(out.Blocks))
	assert.False(t, out.Data.(web.FetchOut).Answered)
}

func TestATransportThatFollowsRedirectsItselfIsFoundOut(t *testing.T) {
	d := web.Deps{Do: func(*http.Request) (*http.Response, error) {
		other, err := http.NewRequest(http.MethodGet, "https://evil.org/", nil)
		return &http.Response{StatusCode: 200, Request: other, Body: http.NoBody}, err
	}}
	_, err := fetch(t, d, "https://e.org/")
	assert.ErrorContains(t, err, "answered by another host, evil.org")
}

func TestThisMachineIsReachedWithoutEncryption(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8080/x":    "GET http://localhost:8080/x",
		"http://127.0.0.1/":          "GET http://127.0.0.1/",
		"http://[::1]:9/":            "GET http://[::1]:9/",
		"http://e.org:80/":           "GET https://e.org/",
		"http://e.org:8080/":         "GET http://e.org:8080/",
		"http://localhost.evil.org/": "GET https://localhost.evil.org/",
	} {
		var asked []string
		_, err := fetch(t, web.Deps{Do: net(nil, &asked)}, url)
		assert.Error(t, err)
		assert.Equal(t, []string{want}, asked)
	}
}

func TestALongPageIsCutAndSaysSo(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcde\n"), web.MaxBytes/16+1)
	d := web.Deps{Do: func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
	}}
	out, err := fetch(t, d, "https://e.org/")
	require.NoError(t, err)
	assert.True(t, out.Data.(web.FetchOut).Cut)
	assert.Contains(t, message.PlainText(out.Blocks)[:200], "only the first 10485760 bytes were read")
}

func TestAPageOfJustTheLimitIsWhole(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcde\n"), web.MaxBytes/16)
	d := web.Deps{Do: func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
	}}
	out, err := fetch(t, d, "https://e.org/")
	require.NoError(t, err)
	assert.False(t, out.Data.(web.FetchOut).Cut)
	assert.Equal(t, web.MaxBytes, out.Data.(web.FetchOut).Bytes)
}

func TestOnlyWebAddressesAreTaken(t *testing.T) {
	f := web.WebFetch(web.Deps{})
	for _, url := range []string{"file:///etc/passwd", "example.com", "https://", "https://user:pw@e.org/", "ht tp://x", "//host/share",
		"https://ｅ.org/", "https://e。org/", "https://bücher.example/", "https://e.org../", "https://2130706433/", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/",
		"https://0177.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://[0:0:0:0:0:0:0:1]/", "https://a.1./", "https://[::1%25lo]/", "https://[::ffff:127.0.0.1%25lo]/"} {
		assert.Equal(t, permission.Deny, f.Permit(parse(t, f, url), &tool.Context{}).Behaviour, "also for those who only ask whether it may run: %s", url)
		refusal := f.Validate(parse(t, f, url), &tool.Context{})
		if assert.NotNil(t, refusal, url) {
			assert.Equal(t, web.CodeBadURL, refusal.Code)
			assert.NotContains(t, refusal.Message, "pw")
		}
	}
}

// The refusal says how the host is written.
func TestAHostHasOneForm(t *testing.T) {
	f := web.WebFetch(web.Deps{})
	for url, form := range map[string]string{"https://ｅ.org/": "as e.org", "https://bücher.example/": "as xn--bcher-kva.example", "https://[::ffff:127.0.0.1]/": "as 127.0.0.1"} {
		assert.Contains(t, f.Validate(parse(t, f, url), &tool.Context{}).Message, form)
	}
	for _, url := range []string{"https://e.org./", "http://127.0.0.1:80/", "https://[::1]/", "https://xn--bcher-kva.example/", "https://a_b.e.org/", "https://1.e.org/", "https://e.org:8443/", "https://[fe80::1%25eth0]/"} {
		assert.Nil(t, f.Validate(parse(t, f, url), &tool.Context{}), url)
	}
}

func TestRulesSpeakOfTheHost(t *testing.T) {
	f := web.WebFetch(web.Deps{})
	in := parse(t, f, "http://Docs.Example.com:443/x")
	rules, err := permission.Rules{}.Parse(permission.User, permission.Allow, "WebFetch(domain:docs.example.com)")
	require.NoError(t, err)
	query := permission.Query{
		Subject: permission.Subject{Tool: f.Name}, Content: f.Subject(in, &tool.Context{}).Content, ReadOnly: true, OpenWorld: true,
	}
	assert.Equal(t, permission.Allow, permission.Resolve(permission.Inputs{Rules: rules, Query: query}).Behaviour)
	assert.Equal(t, permission.Deny, permission.Resolve(permission.Inputs{Query: query}).Behaviour, "without a rule and a user it does not reach out")
}

func TestWebFetchIsDeferredAndReachesOut(t *testing.T) {
	f := web.WebFetch(web.Deps{})
	in := parse(t, f, "https://e.org/x")
	open := f.Behaviour.OpenWorld(in)
	assert.True(t, open && f.Loading.Deferrable)
	assert.Equal(t, "fetch content from URL", f.Hint)
	assert.Equal(t, web.Timeout, f.Limit.Timeout(in))
	assert.NotEmpty(t, f.Prompt(tool.PromptOptions{}))
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"https://e.org/", "http://[::1]", "http://a@b/", "://", "https://e.org:99999/%zz"} {
		f.Add(seed)
	}
	tl := web.WebFetch(web.Deps{Do: func(r *http.Request) (*http.Response, error) {
		return nil, errors.New("refused " + r.URL.Host)
	}})
	f.Fuzz(func(t *testing.T, url string) {
		raw, err := json.Marshal(map[string]string{"url": url, "prompt": "p"})
		require.NoError(t, err)
		in, problems := tl.Parse(raw)
		if len(problems) > 0 {
			return
		}
		_, err = tl.Call(t.Context(), in, &tool.Context{})
		assert.Error(t, err)
		if tl.Validate(in, &tool.Context{}) == nil {
			assert.NotEqual(t, "domain:", tl.Subject(in, &tool.Context{}).Content, "what passes has a host for rules to match")
		}
	})
}
