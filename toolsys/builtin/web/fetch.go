package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/idna"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
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
		return plain, plain == host || addr.Zone() != ""
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
	if u.Scheme != "http" || loopback(u.Hostname()) || (u.Port() != "" && u.Port() != "80") {
		return u
	}
	secure := *u
	secure.Scheme, secure.Host = "https", strings.TrimSuffix(u.Host, ":80")
	return &secure
}

func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
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
	if !textual(mediaType) {
		return "", mediaType, fmt.Errorf("the content is %s, which is not text", mediaType)
	}
	text = decoded(raw, params["charset"])
	if mediaType != "text/html" && mediaType != "application/xhtml+xml" {
		return text, mediaType, nil
	}
	markdown, err := htmltomarkdown.ConvertString(text, converter.WithDomain(from))
	if err != nil {
		return "", mediaType, fmt.Errorf("the page cannot be turned into Markdown: %w", err)
	}
	return markdown, mediaType, nil
}

func textual(mediaType string) bool {
	if strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml") {
		return true
	}
	switch mediaType {
	case "application/json", "application/xml", "application/javascript", "application/x-ndjson",
		"application/yaml", "application/x-yaml", "application/toml":
		return true
	}
	return false
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
