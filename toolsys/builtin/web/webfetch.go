package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
	"golang.org/x/net/idna"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

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
		Name:     "WebFetch",
		Describe: func(in FetchIn) string { return "Fetch " + in.URL },
		Texts:    prompts.Of("webfetch"),
		Call:     tool.Data(d.call),
		Text:     FetchOut.text,
		Validate: validate,
		Permit:   func(in FetchIn, _ *tool.Context) permission.Opinion { return reachable(in) },
		Subject:  func(in FetchIn, _ *tool.Context) tool.Subject { return ofHost(host(in), "WebBrowser") },
		Traits:   looksOut(tool.Class{}, func(in FetchIn, _ *tool.Context) []string { return []string{"web:" + host(in)} }),
		Loading:  tool.Loading{Deferrable: true},
		Shaping:  tool.Shaping[FetchIn]{Classifier: func(in FetchIn) string { return in.URL }},
		Limits:   tool.Limits[FetchIn]{Timeout: func(FetchIn) time.Duration { return Timeout }},
		View: tool.View[FetchIn]{
			Title:    func(FetchIn) string { return "Fetch" },
			Summary:  func(in FetchIn) string { return in.URL },
			Activity: func(in FetchIn) string { return "Fetching " + host(in) },
		},
		Draw: tool.Drawing[FetchIn, FetchOut]{Result: drawFetched},
	})
}

// looksOut are the traits of a tool that only looks, at what lies outside of this machine.
func looksOut[In any](class tool.Class, reads func(In, *tool.Context) []string) tool.Traits[In] {
	traits := tool.Looks(class, reads)
	traits.OpenWorld = tool.Always[In]
	return traits
}

// ofHost is what rules match in a call that goes to a host; those of the other tool forbid it there, too.
func ofHost(host, other string) tool.Subject {
	return tool.Subject{Content: "domain:" + host, Bound: []string{other}}
}

func validate(in FetchIn, _ *tool.Context) *tool.Refusal {
	if _, err := address(in.URL); err != nil {
		return &tool.Refusal{Message: err.Error(), Code: CodeBadURL}
	}
	return nil
}

// reachable denies an address that no rule finds its host in, for those who ask for a decision alone.
func reachable(in FetchIn) permission.Opinion {
	if refusal := validate(in, nil); refusal != nil {
		return permission.Opinion{Behaviour: permission.Deny, Text: refusal.Message}
	}
	return permission.Opinion{}
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
	what := map[bool]string{true: "Answered from ", false: "Text of "}[o.Data.Answered]
	head := []render.Span{{Text: what, Role: render.Dim}, {Text: o.Data.URL, Role: render.Accent, Link: render.Link{URL: o.Data.URL}}, {Text: ", " + render.Count(o.Data.Bytes, "byte"), Role: render.Dim}}
	if o.Data.Cut {
		head = append(head, render.Span{Text: ", cut", Role: render.Warn})
	}
	return append([]render.Node{render.Line{Spans: head}}, render.Brief(o.Data.Result, 6, render.Plainly(render.Plain))...)
}

// elsewhere reports whether a redirect leaves the host that was asked for.
func elsewhere(from, to *url.URL) bool { return !strings.EqualFold(from.Host, to.Host) }

// fetch gets u, going along with redirects inside its host.
func (d Deps) fetch(ctx context.Context, u *url.URL) (FetchOut, error) {
	for range MaxRedirects + 1 {
		out, next, err := d.step(ctx, u)
		if err != nil || next == nil {
			return out, err
		}
		if elsewhere(u, next) {
			out.Redirect = next.String()
			return out, nil
		}
		u = next
	}
	return FetchOut{}, fmt.Errorf("%s: more than %d redirects", u, MaxRedirects)
}

// step makes one request. A redirect gives the address it leads to.
func (d Deps) step(ctx context.Context, u *url.URL) (FetchOut, *url.URL, error) {
	resp, err := d.send(ctx, u)
	if err != nil {
		return FetchOut{}, nil, fmt.Errorf("%s could not be fetched: %w", u, err)
	}
	defer resp.Body.Close()
	out := FetchOut{URL: u.String(), Status: resp.StatusCode}
	switch {
	case resp.Request != nil && resp.Request.URL != nil && elsewhere(u, resp.Request.URL):
		return out, nil, fmt.Errorf("%s was answered by another host, %s", u, resp.Request.URL.Host)
	case resp.StatusCode >= 400:
		return out, nil, fmt.Errorf("%s answered %d %s", u, resp.StatusCode, http.StatusText(resp.StatusCode))
	case slices.Contains(redirects, resp.StatusCode):
		next, err := target(u, resp.Header.Get("Location"))
		return out, next, err
	}
	err = out.read(resp)
	return out, nil, err
}

// redirects are the statuses that lead elsewhere.
var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
	http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

func (d Deps) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	return d.Do(req)
}

// target is where a redirect leads, under the same rules as a model's URL.
func target(from *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, fmt.Errorf("%s redirects without an address", from)
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s redirects to what is no URL", from)
	}
	next, err := address(to.String())
	if err != nil {
		return nil, fmt.Errorf("%s redirects: %w", from, err)
	}
	return next, nil
}

// read takes the body in, up to the limit, as text.
func (out *FetchOut) read(resp *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxBytes+1))
	if err != nil {
		return fmt.Errorf("%s broke off: %w", out.URL, err)
	}
	if len(raw) > MaxBytes {
		raw, out.Cut = raw[:MaxBytes], true
	}
	out.Bytes = len(raw)
	var text string
	if text, out.Type, err = readable(raw, resp.Header.Get("Content-Type"), out.URL); err != nil {
		return fmt.Errorf("%s: %w", out.URL, err)
	}
	out.Result = strings.TrimSpace(text)
	return nil
}

// address reads a URL and upgrades it. Credentials in it are refused: a model
// should not have them, and a trace would keep them.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no URL", text)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q: the URL must begin with http:// or https://", text)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q: the URL has no host", text)
	case u.User != nil:
		return nil, errors.New("the URL holds a user name; leave it out")
	}
	if plain, ok := plainHost(u.Hostname()); !ok {
		return nil, fmt.Errorf("%q: the host is written in a way of its own, and rules are about hosts; write it as %s", text, plain)
	}
	u.Fragment, u.RawFragment = "", ""
	return upgraded(u), nil
}

// plainHost reports whether a host is written as the network knows it, so that a rule finds it, and gives
// that form: a name in ASCII, and an address in its usual notation. Names beyond ASCII may look like
// others or stand for them, and a name whose last part is a number is an address too.
func plainHost(host string) (plain string, ok bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		plain = addr.Unmap().WithZone("").String()
		return plain, plain == host || addr.IsLinkLocalUnicast() && plain+"%"+addr.Zone() == host
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		name, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "the name that the network knows", false
		}
		return name, false
	}
	last := strings.TrimRight(host, ".")
	last = strings.ToLower(last[strings.LastIndexByte(last, '.')+1:])
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" || strings.Contains(host, "..") {
		return "a name, or four numbers with dots between them", false
	}
	return host, true
}

// upgraded is the https form of an http URL, unless its host is this machine or
// its port is another service's.
func upgraded(u *url.URL) *url.URL {
	if u.Scheme != "http" || permission.ThisMachine(u.Hostname()) || (u.Port() != "" && u.Port() != "80") {
		return u
	}
	secure := *u
	secure.Scheme, secure.Host = "https", strings.TrimSuffix(u.Host, ":80")
	return &secure
}

// readable turns a body into text for a model: HTML into Markdown, other text as
// it is. What is no text is an error. Where the server names no type, the
// beginning of the body decides. Links are made absolute against the page's address,
// so that the next call can follow them.
func readable(raw []byte, contentType, from string) (text, mediaType string, err error) {
	mediaType, params, err := mime.ParseMediaType(cmp.Or(contentType, http.DetectContentType(raw)))
	if err != nil {
		mediaType, params, _ = mime.ParseMediaType(http.DetectContentType(raw))
	}
	textual := strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml")
	if !textual && !slices.Contains(texts, mediaType) {
		return "", mediaType, fmt.Errorf("the content is %s, which is not text", mediaType)
	}
	text = decoded(raw, params["charset"])
	if mediaType != "text/html" && mediaType != "application/xhtml+xml" {
		return text, mediaType, nil
	}
	markdown, err := toMarkdown(text, from)
	if err != nil {
		return "", mediaType, fmt.Errorf("the page cannot be turned into Markdown: %w", err)
	}
	return markdown, mediaType, nil
}

func toMarkdown(page, from string) (string, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	var w markdownWork
	w.add(doc, 0)
	w.closed()
	if w.indents > mostIndents || w.looks > mostLooks {
		return "", errors.New("too much is nested in it, or too many brackets are open")
	}
	markdown, err := htmltomarkdown.ConvertNode(doc, converter.WithDomain(from))
	return string(markdown), err
}

// The bounds of the converter's work on one page, each about a second's.
const (
	mostIndents = 250_000
	mostLooks   = 1_000_000_000
)

// markdownWork is what takes the converter longer than the page is long: it writes each line anew for
// every list and quotation around it, and looks from each bracket on for the one that closes it.
type markdownWork struct {
	indents, looks int64
	at             int64 // bytes of text, about
	open, opened   int64 // brackets since the last one that closes, and the sum of their places
}

func (w *markdownWork) add(n *html.Node, depth int) {
	switch {
	case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style"):
		return // they are left out
	case n.Type == html.ElementNode && (n.Data == "blockquote" || n.Data == "ul" || n.Data == "ol"):
		depth++
	case n.Type == html.TextNode:
		for i := range int64(len(n.Data)) {
			switch n.Data[i] {
			case '[':
				w.open, w.opened = w.open+1, w.opened+w.at+i
			case ']':
				w.at += i
				w.closed()
				w.at -= i
			}
		}
		w.at += int64(len(n.Data))
	}
	if w.at += 8; n.FirstChild == nil { // a text, or what may be a line without one, as <br> and <hr> are
		w.indents += int64(depth * (1 + strings.Count(n.Data, "\n")))
	}
	for inner := range n.ChildNodes() {
		w.add(inner, depth)
	}
}

// closed counts what was looked at for the brackets that are open here.
func (w *markdownWork) closed() {
	w.looks += w.open*w.at - w.opened
	w.open, w.opened = 0, 0
}

// texts are types of text that do not say so in their names.
var texts = []string{
	"application/json", "application/xml", "application/javascript", "application/x-ndjson",
	"application/yaml", "application/x-yaml", "application/toml",
}

// decoded reads the bytes in their charset. Without a supported one they are UTF-8,
// or, where they cannot be, what old pages are written in.
func decoded(raw []byte, charset string) string {
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		if utf8.Valid(raw) {
			return string(raw)
		}
		encoding = charmap.Windows1252
	}
	text, err := encoding.NewDecoder().Bytes(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
