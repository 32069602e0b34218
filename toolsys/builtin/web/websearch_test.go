package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func search(t *testing.T, find web.Engine, input string) (tool.Output, error) {
	t.Helper()
	s := web.WebSearch(find)
	in, problems := s.Parse(json.RawMessage(input))
	require.Empty(t, problems)
	require.Nil(t, s.Validate(in, &tool.Context{}))
	return s.Call(t.Context(), in, &tool.Context{})
}

func found(hits ...web.Hit) web.Engine {
	return func(context.Context, web.Query) ([]web.Hit, error) { return hits, nil }
}

const ddg = "https://html.duckduckgo.com/html/?q="

// A page of the engine as it is served, less what nobody reads.
const results = `<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Shop</a></h2></div>
<div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgo.dev%2Fref%2Fspec%3Fa%3D1%26b%3D2&amp;rut=ab">The <b>Go</b> Spec</a></h2>
<a class="result__url" href="//x">go.dev</a><a class="result__snippet" href="//x">All of
  the <b>language</b> &lt;now&gt;.</a></div></div>
<div class="result web-result"><h2><a class="result__a" href="https://other.example/go">Other</a></h2></div>
<div class="result web-result"><h2><a class="result__a" href="//third.example/l/">Third</a></h2></div>
</div></body></html>`

func TestTheEnginesPageIsRead(t *testing.T) {
	var asked []string
	find := web.DuckDuckGo(net(map[string]page{ddg + "go+spec": {status: 200, contentType: "text/html", body: results}}, &asked))
	out, err := search(t, find, `{"query":" go spec "}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"GET " + ddg + "go+spec"}, asked)
	assert.Equal(t, []web.Hit{
		{Title: "The Go Spec", URL: "https://go.dev/ref/spec?a=1&b=2", Snippet: "All of the language <now>."},
		{Title: "Other", URL: "https://other.example/go"},
		{Title: "Third", URL: "https://third.example/l/"},
	}, out.Data.(web.SearchOut).Hits)
	assert.Equal(t, "Pages found for \"go spec\":\n\n1. The Go Spec\n   https://go.dev/ref/spec?a=1&b=2\n   All of the language <now>.\n\n2. Other\n   https://other.example/go\n\n3. Third\n   https://third.example/l/",
		message.PlainText(out.Blocks))
}

func TestAnotherInstanceIsAskedForJSON(t *testing.T) {
	var asked []string
	const address = "https://search.example/search?format=json&q=go+-site%3Ax.org"
	find := web.SearXNG(net(map[string]page{address: {status: 200, body: `{"query":"go","results":[{"title":"Go","url":"https://go.dev/","content":"The\nlanguage."}]}`}}, &asked), "https://search.example/")
	out, err := search(t, find, `{"query":"go","blocked_domains":["X.org"]}`)
	require.NoError(t, err)
	assert.Equal(t, []web.Hit{{Title: "Go", URL: "https://go.dev/", Snippet: "The language."}}, out.Data.(web.SearchOut).Hits)
}

// Whatever an engine gives, only what was asked for comes back.
func TestTheFiltersHoldWhateverTheEngineGives(t *testing.T) {
	all := found(web.Hit{URL: "https://go.dev/a"}, web.Hit{URL: "https://Pkg.Go.dev/b"}, web.Hit{URL: "https://notgo.dev/c"},
		web.Hit{URL: "javascript:alert(1)"}, web.Hit{URL: "https://go.dev/a"}, web.Hit{URL: "https://go.dev.evil.example/"})
	for name, test := range map[string]struct {
		input string
		want  []string
	}{
		"none":    {`{"query":"go"}`, []string{"https://go.dev/a", "https://Pkg.Go.dev/b", "https://notgo.dev/c", "https://go.dev.evil.example/"}},
		"allowed": {`{"query":"go","allowed_domains":["GO.dev"]}`, []string{"https://go.dev/a", "https://Pkg.Go.dev/b"}},
		"blocked": {`{"query":"go","blocked_domains":["go.dev"]}`, []string{"https://notgo.dev/c", "https://go.dev.evil.example/"}},
	} {
		out, err := search(t, all, test.input)
		require.NoError(t, err)
		var got []string
		for _, h := range out.Data.(web.SearchOut).Hits {
			got = append(got, h.URL)
		}
		assert.Equal(t, test.want, got, name)
	}
	out, err := search(t, all, `{"query":"go","allowed_domains":["nowhere.org"]}`)
	require.NoError(t, err)
	assert.Equal(t, `No page was found for "go" in the domains asked for; 5 of other domains were left out. Try other words.`, message.PlainText(out.Blocks))
}

// A name has one meaning, however the engine or the model writes it.
func TestTheFiltersKnowADomainInEveryForm(t *testing.T) {
	hits := found(web.Hit{URL: "https://Bücher.example/"}, web.Hit{URL: "https://xn--bcher-kva.example./"}, web.Hit{URL: "https://www.BÜCHER.example:8443/"},
		web.Hit{URL: "ftp://bücher.example/"}, web.Hit{URL: "https:///bücher.example"}, web.Hit{URL: "//bücher.example/"})
	for _, name := range []string{"bücher.example", "xn--bcher-kva.example", "BÜCHER.Example", "bücher.example."} {
		out, err := search(t, hits, `{"query":"go","blocked_domains":["`+name+`"]}`)
		require.NoError(t, err)
		assert.Empty(t, out.Data.(web.SearchOut).Hits, name)
		out, err = search(t, hits, `{"query":"go","allowed_domains":["`+name+`"]}`)
		require.NoError(t, err)
		assert.Len(t, out.Data.(web.SearchOut).Hits, 3, name)
	}
}

func TestASearchGivesTenPagesAtMost(t *testing.T) {
	var many []web.Hit
	for i := range 30 {
		many = append(many, web.Hit{URL: "https://e.org/" + strings.Repeat("x", i)})
	}
	out, err := search(t, found(many...), `{"query":"go"}`)
	require.NoError(t, err)
	assert.Equal(t, many[:web.MaxHits], out.Data.(web.SearchOut).Hits)
}

func TestASearchThatFailsSaysWhatToDo(t *testing.T) {
	for name, test := range map[string]struct {
		answer page
		want   string
	}{
		"too many":     {page{status: 202, body: "<html></html>"}, "wants to see a person"},
		"a challenge":  {page{status: 200, body: `<div class="anomaly-modal__title">Unfortunately, bots</div>`}, "wants to see a person"},
		"another form": {page{status: 200, body: `<html><div class="hits"></div></html>`}, "another form"},
		"broken":       {page{status: 503}, "answered 503"},
		"moved":        {page{status: 302, location: "https://elsewhere.example/"}, "answered 302"},
		"too long":     {page{status: 200, body: strings.Repeat("x", 5<<20)}, "longer than"},
	} {
		var asked []string
		_, err := search(t, web.DuckDuckGo(net(map[string]page{ddg + "go": test.answer}, &asked)), `{"query":"go"}`)
		assert.ErrorContains(t, err, test.want, name)
	}
	var asked []string
	_, err := search(t, web.DuckDuckGo(net(nil, &asked)), `{"query":"go"}`)
	assert.ErrorContains(t, err, "could not be reached: no such host")
	_, err = search(t, web.SearXNG(net(map[string]page{"http://s/search?format=json&q=go": {status: 200, body: `{"error":"x"}`}}, &asked), "http://s"), `{"query":"go"}`)
	assert.ErrorContains(t, err, "did not answer with search results")
	broken := errors.New("down")
	_, err = search(t, func(context.Context, web.Query) ([]web.Hit, error) { return nil, broken }, `{"query":"go"}`)
	assert.ErrorIs(t, err, broken)
}

func TestASearchNobodyCanMakeIsRefused(t *testing.T) {
	s := web.WebSearch(found())
	for input, code := range map[string]int{
		`{"query":"   "}`: web.CodeNoQuery,
		`{"query":"go","allowed_domains":["a.org"],"blocked_domains":["b.org"]}`: web.CodeBothFilters,
		`{"query":"go","allowed_domains":["https://a.org"]}`:                     web.CodeBadDomain,
		`{"query":"go","blocked_domains":["a.org/x"]}`:                           web.CodeBadDomain,
		`{"query":"go","blocked_domains":[""]}`:                                  web.CodeBadDomain,
		`{"query":"go","allowed_domains":["*.org"]}`:                             web.CodeBadDomain,
		`{"query":"go","allowed_domains":["a.org OR b"]}`:                        web.CodeBadDomain,
		`{"query":"go","allowed_domains":["u@a.org"]}`:                           web.CodeBadDomain,
	} {
		in, problems := s.Parse(json.RawMessage(input))
		require.Empty(t, problems, input)
		if refusal := s.Validate(in, &tool.Context{}); assert.NotNil(t, refusal, input) {
			assert.Equal(t, code, refusal.Code, input)
		}
	}
	_, problems := s.Parse(json.RawMessage(`{"query":"x"}`))
	assert.NotEmpty(t, problems)
}

func TestASearchReachesOut(t *testing.T) {
	s := web.WebSearch(found())
	in, _ := s.Parse(json.RawMessage(`{"query":"go"}`))
	query := permission.Query{Subject: permission.Subject{Tool: s.Name}, ReadOnly: s.Behaviour.ReadOnly(in), OpenWorld: s.Behaviour.OpenWorld(in)}
	assert.Equal(t, permission.Deny, permission.Resolve(permission.Inputs{Query: query}).Behaviour)
	assert.True(t, s.Loading.Deferrable)
}
