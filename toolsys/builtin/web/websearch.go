package web

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

//go:embed websearch.md
var searchPrompt string

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
	// Allowed and Blocked are domains in lower case. An engine may use them for a better
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
		Name:        "WebSearch",
		Hint:        "search the web",
		Description: "Searches the web for pages.",
		Describe:    func(in SearchIn) string { return fmt.Sprintf("Search the web for %q", in.Query) },
		Prompt:      tool.Prompt(searchPrompt),
		Call:        tool.Data(find.call),
		Text:        SearchOut.text,
		Validate:    validateSearch,
		Traits: tool.Traits[SearchIn]{
			Safe:      tool.Always[SearchIn],
			ReadOnly:  tool.Always[SearchIn],
			OpenWorld: tool.Always[SearchIn],
			Interrupt: tool.Cancel,
			Class:     func(SearchIn) tool.Class { return tool.Class{Search: true} },
			Effects:   func(SearchIn, *tool.Context) tool.Effects { return tool.Effects{Reads: []string{"web:search"}} },
		},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[SearchIn]{Classifier: func(in SearchIn) string { return in.Query }},
		Limits:  tool.Limits[SearchIn]{Timeout: func(SearchIn) time.Duration { return SearchTimeout }},
		View: tool.View[SearchIn]{
			Title:    func(SearchIn) string { return "Web search" },
			Summary:  func(in SearchIn) string { return in.Query },
			Activity: func(in SearchIn) string { return "Searching the web for " + in.Query },
		},
		Draw: tool.Drawing[SearchIn, SearchOut]{Result: drawHits},
	})
}

// drawHits draws the pages that were found, each leading to itself.
func drawHits(_ SearchIn, o tool.Outcome[SearchOut]) []render.Node {
	if !o.Known || len(o.Data.Hits) == 0 {
		return nil
	}
	var list render.List
	for _, h := range o.Data.Hits {
		list.Items = append(list.Items, render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: h.Title}, {Text: "  "}, {Text: h.URL, Role: render.Accent, Link: render.Link{URL: h.URL}}}})
	}
	return render.Folded(render.Words("Found "+render.Count(len(list.Items), "page"), render.Dim), list)
}

func validateSearch(in SearchIn, _ *tool.Context) *tool.Refusal {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return &tool.Refusal{Message: "the query is empty; write what to search for", Code: CodeNoQuery}
	case len(in.Allowed) > 0 && len(in.Blocked) > 0:
		return &tool.Refusal{Message: "allowed_domains and blocked_domains exclude each other; give one of them", Code: CodeBothFilters}
	}
	for _, d := range slices.Concat(in.Allowed, in.Blocked) {
		if !bareDomain(d) {
			return &tool.Refusal{Message: fmt.Sprintf("%q is no domain; give its bare name, such as go.dev", d), Code: CodeBadDomain}
		}
	}
	return nil
}

// bareDomain reports whether a text is the name of a domain and nothing else.
func bareDomain(text string) bool {
	u, err := url.Parse("https://" + text + "/")
	return err == nil && text != "" && u.Host == text && u.Hostname() == text && !strings.ContainsAny(text, "* ()\"'")
}

func (find Engine) call(ctx context.Context, in SearchIn, _ *tool.Context) (SearchOut, error) {
	q := Query{Text: strings.TrimSpace(in.Query), Allowed: lower(in.Allowed), Blocked: lower(in.Blocked)}
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
	host := strings.ToLower(u.Hostname())
	return (len(q.Allowed) == 0 || below(host, q.Allowed)) && !below(host, q.Blocked)
}

// below reports whether a host is one of the domains or below one.
func below(host string, domains []string) bool {
	for _, d := range domains {
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	return false
}

func lower(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = strings.ToLower(s)
	}
	return out
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
