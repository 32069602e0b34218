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
	"slices"
	"strings"
	"time"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// Bounds of one search.
const (
	// MaxHits is how many pages a search gives.
	MaxHits = 10
	// SearchTimeout is how long a search may take.
	SearchTimeout = 30 * time.Second
)

// Codes of searches that are refused.
const (
	CodeNoQuery = iota + 1
	CodeBadDomain
	CodeBothFilters
)

// SearchIn is what WebSearch takes.
type SearchIn struct {
	Query   string   `json:"query" minLength:"2" maxLength:"400" jsonschema:"What to search for"`
	Allowed []string `json:"allowed_domains,omitempty" maxItems:"20" jsonschema:"Only pages of these domains"`
	Blocked []string `json:"blocked_domains,omitempty" maxItems:"20" jsonschema:"No pages of these domains"`
}

// SearchOut is what WebSearch answers with.
type SearchOut struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"`
	// Filtered counts what the engine found outside of the domains that were asked for.
	Filtered int `json:"filtered,omitempty"`
}

// Query is one search, as an Engine gets it.
type Query struct {
	Text string
	// Allowed and Blocked are domains in ASCII and lower case. An engine may use them for a better
	// choice; its hits are filtered in any case.
	Allowed, Blocked []string
}

// Hit is one page that was found.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
}

// Engine finds pages, the best first. No hit is no error.
type Engine func(ctx context.Context, q Query) ([]Hit, error)

// WebSearch asks a search engine (SPEC L). What is searched for leaves this machine, so
// the call reaches out, as a fetch does, and needs a rule or a person to allow it.
func WebSearch(find Engine) *tool.Tool {
	return tool.Must(tool.Def[SearchIn, SearchOut]{
		Name:     "WebSearch",
		Describe: func(in SearchIn) string { return fmt.Sprintf("Search the web for %q", in.Query) },
		Texts:    prompts.Of("websearch"),
		Call:     tool.Data(find.call),
		Text:     SearchOut.text,
		Validate: validateSearch,
		Traits:   looksOut(tool.Class{Search: true}, func(SearchIn, *tool.Context) []string { return []string{"web:search"} }),
		Loading:  tool.Loading{Deferrable: true},
		Shaping:  tool.Shaping[SearchIn]{Classifier: func(in SearchIn) string { return in.Query }},
		Limits:   tool.Limits[SearchIn]{Timeout: func(SearchIn) time.Duration { return SearchTimeout }},
		View:     tool.Doing("Web search", "Searching the web for ", func(in SearchIn) string { return in.Query }),
		Draw: tool.Drawing[SearchIn, SearchOut]{Result: func(_ SearchIn, o tool.Outcome[SearchOut]) []render.Node {
			return render.Listed("Found "+render.Count(len(o.Data.Hits), "page"), o.Data.Hits, func(h Hit) render.Item {
				return render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: h.Title}, {Text: "  "}, {Text: h.URL, Role: render.Accent, Link: render.Link{URL: h.URL}}}}
			})
		}},
	})
}

func validateSearch(in SearchIn, _ *tool.Context) *tool.Refusal {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return &tool.Refusal{Message: "the query is empty; write what to search for", Code: CodeNoQuery}
	case len(in.Allowed) > 0 && len(in.Blocked) > 0:
		return &tool.Refusal{Message: "allowed_domains and blocked_domains exclude each other; give one of them", Code: CodeBothFilters}
	}
	for _, d := range slices.Concat(in.Allowed, in.Blocked) {
		u, err := url.Parse("https://" + d + "/")
		if err != nil || d == "" || u.Host != d || u.Hostname() != d || strings.ContainsAny(d, "* ()\"'") {
			return &tool.Refusal{Message: fmt.Sprintf("%q is no domain; give its bare name, such as go.dev", d), Code: CodeBadDomain}
		}
	}
	return nil
}

func (find Engine) call(ctx context.Context, in SearchIn, _ *tool.Context) (SearchOut, error) {
	q := Query{Text: strings.TrimSpace(in.Query)}
	q.Allowed, q.Blocked = tool.Each(in.Allowed, domain), tool.Each(in.Blocked, domain)
	found, err := find(ctx, q)
	if err != nil {
		return SearchOut{}, fmt.Errorf("the search failed: %w", err)
	}
	out := SearchOut{Query: q.Text, Hits: []Hit{}}
	seen := map[string]bool{}
	for _, h := range found {
		switch {
		case seen[h.URL]:
		case !q.takes(h):
			out.Filtered++
		case len(out.Hits) < MaxHits:
			out.Hits = append(out.Hits, h)
		}
		seen[h.URL] = true
	}
	return out, nil
}

// takes reports whether the filters let a hit through.
func (q Query) takes(h Hit) bool {
	u, err := url.Parse(h.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return false
	}
	host := domain(u.Hostname())
	return (len(q.Allowed) == 0 || below(host, q.Allowed)) && !below(host, q.Blocked)
}

// domain is a host's name in the form in which it is compared: as the network knows it, in lower case.
func domain(name string) string {
	plain, _ := plainHost(strings.ToLower(name))
	return strings.TrimSuffix(plain, ".")
}

// below reports whether a host is one of the domains or below one.
func below(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}

func (out SearchOut) text() string {
	var b strings.Builder
	if len(out.Hits) == 0 {
		fmt.Fprintf(&b, "No page was found for %q", out.Query)
		if out.Filtered > 0 {
			fmt.Fprintf(&b, " in the domains asked for; %d of other domains were left out", out.Filtered)
		}
		return b.String() + ". Try other words."
	}
	fmt.Fprintf(&b, "Pages found for %q:\n", out.Query)
	for i, h := range out.Hits {
		fmt.Fprintf(&b, "\n%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

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
		type result struct{ Title, URL, Content string }
		var answer struct{ Results *[]result }
		if err := json.Unmarshal(raw, &answer); err != nil || answer.Results == nil {
			return nil, fmt.Errorf("%s did not answer with search results", base)
		}
		return tool.Each(*answer.Results, func(r result) Hit { return Hit{Title: spaced(r.Title), URL: r.URL, Snippet: spaced(r.Content)} }), nil
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
	words = append(words, tool.Each(q.Blocked, func(d string) string { return "-site:" + d })...)
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
