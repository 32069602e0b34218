package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
	case redirects(resp.StatusCode):
		next, err := target(u, resp.Header.Get("Location"))
		return out, next, err
	}
	err = out.read(resp)
	return out, nil, err
}

func (d Deps) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	return d.Do(req)
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target is where a redirect leads, under the same rules as a model's URL.
func target(from *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, fmt.Errorf("%s redirects without saying where to", from)
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
