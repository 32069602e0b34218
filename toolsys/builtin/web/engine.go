package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"
)

// duckDuckGo is the page that gives search results without scripts and without an account.
const duckDuckGo = "https://html.duckduckgo.com/html/"

// maxAnswer is how much of a search engine's answer is read.
const maxAnswer = 4 << 20

var errProof = errors.New("the search engine wants to see a person before it answers more; wait a while, or fetch a page you know with WebFetch")

// DuckDuckGo is an engine that needs no account. Its answers are web pages, so a change of their form
// would show as an error here, never as an empty list.
func DuckDuckGo(do func(*http.Request) (*http.Response, error)) Engine {
	return func(ctx context.Context, q Query) ([]Hit, error) {
		raw, err := ask(ctx, do, duckDuckGo, url.Values{"q": {q.worded()}})
		if err != nil {
			return nil, err
		}
		return duckDuckGoHits(raw)
	}
}

// SearXNG is an engine for an instance of SearXNG at base that gives JSON (search.formats in its settings).
func SearXNG(do func(*http.Request) (*http.Response, error), base string) Engine {
	return func(ctx context.Context, q Query) ([]Hit, error) {
		raw, err := ask(ctx, do, strings.TrimSuffix(base, "/")+"/search", url.Values{"q": {q.worded()}, "format": {"json"}})
		if err != nil {
			return nil, err
		}
		var answer struct {
			Results *[]struct{ Title, URL, Content string }
		}
		if err := json.Unmarshal(raw, &answer); err != nil || answer.Results == nil {
			return nil, fmt.Errorf("%s did not answer with search results", base)
		}
		var hits []Hit
		for _, r := range *answer.Results {
			hits = append(hits, Hit{Title: spaced(r.Title), URL: r.URL, Snippet: spaced(r.Content)})
		}
		return hits, nil
	}
}

// worded is the query with its filters, as most engines understand them.
func (q Query) worded() string {
	words := []string{q.Text}
	for i, d := range q.Allowed {
		if i > 0 {
			words = append(words, "OR")
		}
		words = append(words, "site:"+d)
	}
	for _, d := range q.Blocked {
		words = append(words, "-site:"+d)
	}
	return strings.Join(words, " ")
}

// ask sends one question and gives the whole answer.
func ask(ctx context.Context, do func(*http.Request) (*http.Response, error), address string, query url.Values) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; toolbench)")
	resp, err := do(req)
	if err != nil {
		return nil, fmt.Errorf("%s could not be reached: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusAccepted, resp.StatusCode == http.StatusTooManyRequests:
		return nil, errProof
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answered %d %s", req.URL.Host, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of %s broke off: %w", req.URL.Host, err)
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the answer of %s is longer than %d bytes", req.URL.Host, maxAnswer)
	}
	return raw, nil
}

// duckDuckGoHits reads the page of results. Advertisements are no results.
func duckDuckGoHits(raw []byte) ([]Hit, error) {
	page, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the page of results cannot be read: %w", err)
	}
	var hits []Hit
	for _, r := range dom.FindAllNodes(page, classed("result")) {
		link := dom.FindFirstNode(r, classed("result__a"))
		if dom.HasClass(r, "result--ad") || link == nil {
			continue
		}
		h := Hit{Title: spaced(dom.CollectText(link)), URL: leadsTo(dom.GetAttributeOr(link, "href", ""))}
		if s := dom.FindFirstNode(r, classed("result__snippet")); s != nil {
			h.Snippet = spaced(dom.CollectText(s))
		}
		hits = append(hits, h)
	}
	switch {
	case len(hits) > 0, dom.ContainsNode(page, classed("no-results")):
		return hits, nil
	case dom.ContainsNode(page, classed("anomaly-modal__title")):
		return nil, errProof
	}
	return nil, errors.New("the search engine's page has another form than the one that is known; nothing was read from it")
}

func classed(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return dom.HasClass(n, name) }
}

// leadsTo is where a link of the page of results leads: most go through a counter, which has the address
// in its query.
func leadsTo(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" && strings.HasPrefix(u.Path, "/l/") {
		return to
	}
	if u.Scheme == "" && u.Host != "" {
		u.Scheme = "https"
	}
	return u.String()
}

// spaced is a text on one line.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }
