package run

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"

	"toolbench/sim/scenario"
	"toolbench/toolsys/builtin/web"
)

// browser is the scenario's, or nil where it has none.
func (r *runner) browser() web.Browser {
	if r.sc.World.Browser == nil {
		return nil
	}
	return &browser{Browser: *r.sc.World.Browser, fetch: r.fetch}
}

// browser opens the pages of the scenario's web.
type browser struct {
	scenario.Browser
	fetch    func(*http.Request) (*http.Response, error)
	location string
	page     *html.Node
}

// Navigate implements web.Browser. Redirects are followed.
func (b *browser) Navigate(ctx context.Context, address string) error {
	for range 10 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		resp, err := b.fetch(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if to := resp.Header.Get("Location"); to != "" {
			next, err := req.URL.Parse(to)
			if err != nil {
				return err
			}
			address = next.String()
			continue
		}
		b.location = address
		b.page, err = html.Parse(resp.Body)
		return err
	}
	return fmt.Errorf("%s redirects without end", address)
}

// Page implements web.Browser.
func (b *browser) Page(context.Context) (web.OpenPage, error) {
	var text bytes.Buffer
	if err := html.Render(&text, b.page); err != nil {
		return web.OpenPage{}, err
	}
	p := web.OpenPage{URL: b.location, HTML: text.String()}
	if t := dom.FindFirstNode(b.page, func(n *html.Node) bool { return n.Data == "title" }); t != nil {
		p.Title = dom.CollectText(t)
	}
	return p, nil
}

func (b *browser) find(selector string) (*html.Node, error) {
	n := dom.FindFirstNode(b.page, func(n *html.Node) bool { return dom.HasID(n, strings.TrimPrefix(selector, "#")) })
	if n == nil {
		return nil, fmt.Errorf("nothing that can be seen matches %q", selector)
	}
	return n, nil
}

// Click implements web.Browser.
func (b *browser) Click(ctx context.Context, selector string) error {
	n, err := b.find(selector)
	if err != nil {
		return err
	}
	to := dom.GetAttributeOr(n, "href", "")
	if to == "" {
		return nil
	}
	here, err := url.Parse(b.location)
	if err != nil {
		return err
	}
	next, err := here.Parse(to)
	if err != nil {
		return err
	}
	return b.Navigate(ctx, next.String())
}

// Type implements web.Browser.
func (b *browser) Type(_ context.Context, selector, text string, _ bool) error {
	n, err := b.find(selector)
	if err == nil {
		n.Attr = append(n.Attr, html.Attribute{Key: "value", Val: text})
	}
	return err
}

// Evaluate implements web.Browser.
func (b *browser) Evaluate(_ context.Context, script string) (string, error) {
	value, ok := b.Values[script]
	if !ok {
		return "", fmt.Errorf("the scenario has no value of %s", script)
	}
	return value, nil
}

// pixel is a picture of one point, as PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// Screenshot implements web.Browser.
func (b *browser) Screenshot(context.Context, bool) ([]byte, error) {
	return base64.StdEncoding.DecodeString(pixel)
}

// Location implements web.Browser.
func (b *browser) Location() string { return b.location }
