package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

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
	u.Fragment, u.RawFragment = "", ""
	return upgraded(u), nil
}

// upgraded is the https form of an http URL, unless its host is this machine or
// its port says that something else is meant.
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
