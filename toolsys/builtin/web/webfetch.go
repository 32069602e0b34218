package web

import (
	"context"
	_ "embed" // the prompt beside this file
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

//go:embed webfetch.md
var fetchPrompt string

// Bounds of one fetch.
const (
	// MaxBytes is how much of a body is read.
	MaxBytes = 10 << 20
	// MaxRedirects is how many redirects within a host are followed.
	MaxRedirects = 10
	// Timeout is how long a call may take.
	Timeout = 60 * time.Second
)

// CodeBadURL refuses a URL that cannot be fetched.
const CodeBadURL = 1

// Deps is what the web tools need from outside.
type Deps struct {
	// Do sends one request and must not follow redirects: one that leads to
	// another host is for the model, and for its permission, to follow. Required.
	Do func(*http.Request) (*http.Response, error)
	// Tasks and Inbox are the session's, for what watches the web from the background.
	Tasks *tool.Tasks
	Inbox *tool.Inbox
	// Summarize answers prompt from a page's text; nil gives the text itself.
	Summarize func(ctx context.Context, prompt, text string, c *tool.Context) (string, error)
}

// FetchIn is what WebFetch takes.
type FetchIn struct {
	URL    string `json:"url" minLength:"1" maxLength:"2000" jsonschema:"The whole address, with http:// or https://"`
	Prompt string `json:"prompt" minLength:"1" jsonschema:"What to find out from the page"`
}

// FetchOut is what WebFetch answers with.
type FetchOut struct {
	// URL is where the content came from, after redirects.
	URL    string `json:"url"`
	Status int    `json:"status"`
	// Type is the media type; Bytes the size of the body as it was read.
	Type  string `json:"type,omitempty"`
	Bytes int    `json:"bytes"`
	// Cut is true where the body was longer than what is read of one.
	Cut bool `json:"cut,omitempty"`
	// Redirect is the address on another host that the page has moved to.
	Redirect string `json:"redirect,omitempty"`
	// Result is the answer to the prompt, or the page's text.
	Result string `json:"result"`
	// Answered is true where Result answers the prompt.
	Answered bool `json:"answered"`
}

// WebFetch gets a page and answers a question from it (SPEC L): HTML as Markdown,
// other text as it is. An http address is fetched over https, unless its host is
// this very machine, where certificates are seldom found. Redirects are followed
// within the host and reported otherwise, since rules are about hosts.
func WebFetch(d Deps) *tool.Tool {
	return tool.Must(tool.Def[FetchIn, FetchOut]{
		Name:        "WebFetch",
		Hint:        "fetch content from URL",
		Description: "Fetches a web page and answers a question from its content.",
		Describe:    func(in FetchIn) string { return "Fetch " + in.URL },
		Prompt:      tool.Prompt(fetchPrompt),
		Call:        tool.Data(d.call),
		Text:        FetchOut.text,
		Validate:    validate,
		Subject:     func(in FetchIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: "domain:" + host(in)} },
		Traits: tool.Traits[FetchIn]{
			Safe:      tool.Always[FetchIn],
			ReadOnly:  tool.Always[FetchIn],
			OpenWorld: tool.Always[FetchIn],
			Interrupt: tool.Cancel,
			Effects: func(in FetchIn, _ *tool.Context) tool.Effects {
				return tool.Effects{Reads: []string{"web:" + host(in)}}
			},
		},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[FetchIn]{Classifier: func(in FetchIn) string { return in.URL }},
		Limits:  tool.Limits[FetchIn]{Timeout: func(FetchIn) time.Duration { return Timeout }},
		View: tool.View[FetchIn]{
			Title:    func(FetchIn) string { return "Fetch" },
			Summary:  func(in FetchIn) string { return in.URL },
			Activity: func(in FetchIn) string { return "Fetching " + host(in) },
		},
		Draw: tool.Drawing[FetchIn, FetchOut]{Result: drawFetched},
	})
}

func validate(in FetchIn, _ *tool.Context) *tool.Refusal {
	if _, err := address(in.URL); err != nil {
		return &tool.Refusal{Message: err.Error(), Code: CodeBadURL}
	}
	return nil
}

func host(in FetchIn) string {
	u, err := address(in.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

func (d Deps) call(ctx context.Context, in FetchIn, c *tool.Context) (FetchOut, error) {
	u, err := address(in.URL)
	if err != nil {
		return FetchOut{}, err
	}
	out, err := d.fetch(ctx, u)
	if err != nil {
		return FetchOut{}, err
	}
	if out.Redirect == "" && d.Summarize != nil {
		if out.Result, err = d.Summarize(ctx, in.Prompt, out.Result, c); err != nil {
			return FetchOut{}, fmt.Errorf("the page was fetched, but not read: %w", err)
		}
		out.Answered = true
	}
	return out, nil
}

func (out FetchOut) text() string {
	if out.Redirect != "" {
		return fmt.Sprintf("%s redirects (%d %s) to another host, which was not followed. To fetch it, call WebFetch again with this URL: %s",
			out.URL, out.Status, http.StatusText(out.Status), out.Redirect)
	}
	var b strings.Builder
	if !out.Answered {
		fmt.Fprintf(&b, "The text of %s (the prompt was not applied to it):\n", out.URL)
	}
	if out.Cut {
		fmt.Fprintf(&b, "[only the first %d bytes were read]\n", out.Bytes)
	}
	if out.Result == "" {
		return b.String() + "(the page is empty)"
	}
	return b.String() + out.Result
}

// drawFetched draws what a page came to, behind where it came from.
func drawFetched(_ FetchIn, o tool.Outcome[FetchOut]) []render.Node {
	if !o.Known || o.Data.Redirect != "" || o.Data.Result == "" {
		return nil
	}
	what := "Text of "
	if o.Data.Answered {
		what = "Answered from "
	}
	head := []render.Span{{Text: what, Role: render.Dim}, {Text: o.Data.URL, Role: render.Accent, Link: render.Link{URL: o.Data.URL}}, {Text: ", " + render.Count(o.Data.Bytes, "byte"), Role: render.Dim}}
	if o.Data.Cut {
		head = append(head, render.Span{Text: ", cut", Role: render.Warn})
	}
	return append([]render.Node{render.Line{Spans: head}}, render.Brief(o.Data.Result, 6, render.Plainly(render.Plain))...)
}

// elsewhere reports whether a redirect leaves the host that was asked for.
func elsewhere(from, to *url.URL) bool { return !strings.EqualFold(from.Host, to.Host) }
