package web

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// BrowserTimeout is how long one action may take.
const BrowserTimeout = 60 * time.Second

// Codes of actions that are refused, beside CodeBadURL.
const (
	CodeNoBrowser = iota + 10
	CodeIncomplete
	CodeNoPage
)

// Browser is a browser with one page. toolsys/host/browser has one for this machine; whoever makes it
// closes it.
type Browser interface {
	// Navigate opens an address and waits until the page is there.
	Navigate(ctx context.Context, address string) error
	// Page gives the page that is open, as it is now.
	Page(ctx context.Context) (OpenPage, error)
	// Click clicks on the first element that a CSS selector matches, Type replaces the text of one. An error
	// says so where there is none.
	Click(ctx context.Context, selector string) error
	Type(ctx context.Context, selector, text string, submit bool) error
	// Evaluate gives the value of a script as JSON.
	Evaluate(ctx context.Context, script string) (string, error)
	// Screenshot is a picture, as PNG, of what can be seen or of all of the page.
	Screenshot(ctx context.Context, full bool) ([]byte, error)
	// Location is the address of the page after the last action, "" before the first.
	Location() string
}

// OpenPage is a page in a browser.
type OpenPage struct{ URL, Title, HTML string }

// BrowserIn is what WebBrowser takes.
type BrowserIn struct {
	Action   string `json:"action" enum:"navigate,read,click,type,screenshot,evaluate" jsonschema:"What to do"`
	URL      string `json:"url,omitempty" maxLength:"2000" jsonschema:"For navigate: the whole address"`
	Selector string `json:"selector,omitempty" jsonschema:"For click and type: a CSS selector"`
	Text     string `json:"text,omitempty" jsonschema:"For type: what to type"`
	Submit   bool   `json:"submit,omitempty" jsonschema:"For type: press Enter afterwards"`
	Script   string `json:"script,omitempty" jsonschema:"For evaluate: a JavaScript expression"`
	Format   string `json:"format,omitempty" enum:"markdown,html" default:"markdown" jsonschema:"For read: how the page is given"`
	FullPage bool   `json:"full_page,omitempty" jsonschema:"For screenshot: all of the page"`
}

// BrowserOut is what WebBrowser answers with.
type BrowserOut struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	// Content is the page, or the value of a script.
	Content string `json:"content,omitempty"`
	// Moved is true where the page led to another host, whose content is then left out.
	Moved bool `json:"moved,omitempty"`
	// PNG is a picture.
	PNG []byte `json:"png,omitempty"`
}

// WebBrowser drives a browser (SPEC L). Rules are about the host of the page that is opened or open, as with
// WebFetch; a script is asked about whatever the rules are. nil refuses every call.
func WebBrowser(b Browser) *tool.Tool {
	d := browsing{b}
	looks := func(in BrowserIn) bool { return in.Action == "read" || in.Action == "screenshot" }
	return tool.Must(tool.Def[BrowserIn, BrowserOut]{
		Name:     "WebBrowser",
		Describe: func(in BrowserIn) string { return d.words(in) },
		Texts:    prompts.Of("webbrowser"),
		Call:     tool.Data(d.call),
		Block:    BrowserOut.blocks,
		Validate: d.validate,
		Permit:   d.permit,
		Subject: func(in BrowserIn, _ *tool.Context) tool.Subject {
			s := ofHost(d.host(in), "WebFetch")
			s.OthersUnknown = in.Action == "evaluate" // a script may reach any host
			return s
		},
		Traits: tool.Traits[BrowserIn]{
			Safe:      looks,
			ReadOnly:  func(in BrowserIn) bool { return looks(in) || in.Action == "navigate" },
			OpenWorld: tool.Always[BrowserIn],
			Interrupt: tool.Cancel,
			Effects: func(in BrowserIn, _ *tool.Context) tool.Effects {
				if looks(in) {
					return tool.Effects{Reads: []string{"browser"}}
				}
				return tool.Effects{Reads: []string{"browser"}, Writes: []string{"browser"}}
			},
		},
		Shaping: tool.Shaping[BrowserIn]{Classifier: func(in BrowserIn) string { return d.words(in) + " " + in.Text + in.Script }},
		Limits:  tool.Limits[BrowserIn]{Timeout: func(BrowserIn) time.Duration { return BrowserTimeout }, Asks: true},
		View: tool.View[BrowserIn]{
			Title:    func(BrowserIn) string { return "Browser" },
			Summary:  BrowserIn.words,
			Activity: BrowserIn.activity,
		},
	})
}

// browsing is what the tool works with.
type browsing struct{ Browser }

var needs = map[string]func(BrowserIn) string{
	"navigate": func(in BrowserIn) string { return in.URL }, "click": func(in BrowserIn) string { return in.Selector },
	"type": func(in BrowserIn) string { return in.Selector }, "evaluate": func(in BrowserIn) string { return in.Script },
}

// needed words what an action cannot do without.
var needed = map[string]string{"navigate": "url", "click": "selector", "type": "selector", "evaluate": "script"}

func (in BrowserIn) words() string {
	switch {
	case in.Action == "evaluate":
		return "run a script"
	case needs[in.Action] != nil:
		return in.Action + " " + needs[in.Action](in)
	}
	return in.Action
}

// activity names the page that is opened. That which is open is not named: a call is drawn again
// when another one is.
func (in BrowserIn) activity() string {
	if in.Action != "navigate" {
		return "Browsing"
	}
	return strings.TrimSpace("Browsing " + host(FetchIn{URL: in.URL}))
}

// words are those of the call with the host that it is about now.
func (d browsing) words(in BrowserIn) string {
	switch {
	case in.Action == "evaluate":
		return in.words() + " on " + d.host(in)
	case needs[in.Action] != nil:
		return in.words()
	}
	return in.words() + " " + d.host(in)
}

// host is that of the page which the action is about.
func (d browsing) host(in BrowserIn) string {
	if in.Action == "navigate" {
		return host(FetchIn{URL: in.URL})
	}
	if d.Browser == nil {
		return ""
	}
	u, err := url.Parse(d.Location())
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

func (d browsing) validate(in BrowserIn, _ *tool.Context) *tool.Refusal {
	switch {
	case d.Browser == nil:
		return &tool.Refusal{Message: "there is no browser here; read pages with WebFetch", Code: CodeNoBrowser}
	case needs[in.Action] != nil && strings.TrimSpace(needs[in.Action](in)) == "":
		return &tool.Refusal{Message: in.Action + " needs " + needed[in.Action], Code: CodeIncomplete}
	case in.Action != "navigate" && d.Location() == "":
		return &tool.Refusal{Message: "no page is open yet; navigate to one first", Code: CodeNoPage}
	case in.Action == "navigate":
		return validate(FetchIn{URL: in.URL}, nil)
	}
	return nil
}

func (d browsing) permit(in BrowserIn, c *tool.Context) permission.Opinion {
	switch {
	case in.Action == "navigate":
		return reachable(FetchIn{URL: in.URL})
	case in.Action != "evaluate" || c.Mode == permission.Plan:
		return permission.Opinion{}
	}
	return permission.Opinion{Behaviour: permission.Ask, Text: fmt.Sprintf("run this script in the page of %s?", d.host(in))}
}

func (d browsing) call(ctx context.Context, in BrowserIn, c *tool.Context) (BrowserOut, error) {
	if refusal := d.validate(in, c); refusal != nil {
		return BrowserOut{}, errors.New(refusal.Message) // the page may have changed while a person was asked
	}
	asked := d.host(in)
	var out BrowserOut
	if err := d.act(ctx, in, &out); err != nil {
		return out, fmt.Errorf("the browser could not %s: %w", d.words(in), err)
	}
	page, err := d.Page(ctx)
	if err != nil {
		return out, fmt.Errorf("the page cannot be read: %w", err)
	}
	out.URL, out.Title = page.URL, page.Title
	if u, err := url.Parse(page.URL); (err != nil || !strings.EqualFold(u.Hostname(), asked)) && !seen(ctx, c) {
		return BrowserOut{URL: page.URL, Moved: true}, nil // nobody allowed this host to be seen
	}
	switch {
	case in.Action == "read" && in.Format == "html":
		out.Content = page.HTML
	case in.Action == "read", in.Action == "navigate":
		out.Content, _, err = readable([]byte(page.HTML), "text/html; charset=utf-8", page.URL)
	}
	return out, err
}

// seen reports whether the page that another led to may be seen: that is a reading of its own,
// of which rules and people decide by its host.
func seen(ctx context.Context, c *tool.Context) bool {
	if c.Running == nil {
		return false
	}
	allowed, _ := c.Running.MayAlso(ctx, "WebBrowser", map[string]string{"action": "read"})
	return allowed
}

// act does what changes the page or takes something from it.
func (d browsing) act(ctx context.Context, in BrowserIn, out *BrowserOut) (err error) {
	switch in.Action {
	case "navigate":
		u, err := address(in.URL)
		if err != nil {
			return err
		}
		return d.Navigate(ctx, u.String())
	case "click":
		return d.Click(ctx, in.Selector)
	case "type":
		return d.Type(ctx, in.Selector, in.Text, in.Submit)
	case "evaluate":
		out.Content, err = d.Evaluate(ctx, in.Script)
	case "screenshot":
		out.PNG, err = d.Screenshot(ctx, in.FullPage)
	}
	return err
}

func (out BrowserOut) blocks() []message.Block {
	head := out.URL
	if out.Title != "" {
		head += " (" + out.Title + ")"
	}
	switch {
	case out.Moved:
		return []message.Block{message.Text("The page led to another host, which is not shown: " + out.URL + ". Call read to see it.")}
	case out.PNG != nil:
		return []message.Block{message.Image("image/png", base64.StdEncoding.EncodeToString(out.PNG)), message.Text(head)}
	case out.Content != "":
		return []message.Block{message.Text(head + "\n\n" + out.Content)}
	}
	return []message.Block{message.Text("Now at " + head + ".")}
}
