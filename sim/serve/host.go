package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// forbidden is why a request is not answered, or "". A page in a browser on this machine
// can make requests to a server on loopback: directly, and then its Origin is another's,
// or by a name of its own that it has made point here (DNS rebinding), and then the Host
// is. Both must be a name of loopback, the address the connection came to, or one of the
// names that were allowed.
func (s *Server) forbidden(r *http.Request) string {
	if host := bareHost(r.Host); !s.own(host, r) {
		return refuseName("host", host, host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !s.own(bareHost(u.Host), r) {
		name := origin
		if err == nil && u.Host != "" {
			name = bareHost(u.Host)
		}
		return refuseName("origin", origin, name)
	}
	return ""
}

func refuseName(what, value, name string) string {
	return fmt.Sprintf("the %s %q is not this server's: use 127.0.0.1 or localhost, or start it with --allow-host %s", what, value, name)
}

// own reports whether a name is the server's.
func (s *Server) own(host string, r *http.Request) bool {
	if host == "localhost" || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return host != "" && bareHost(h) == host }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || local != nil && local.AddrPort().Addr().Unmap() == ip.Unmap()
}

// bareHost is a host in small letters, without its port, brackets and last dot.
func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
