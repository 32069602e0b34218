package serve_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/serve"
)

// A page of anybody's, open in a browser on this machine, can make requests to a server
// on loopback: directly, which Origin shows, or by a name that it has made point here,
// which Host shows.
func TestOnlyOwnHostsAndOriginsAreAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		host, origin, local string
		allowed             []string
		refused             string // what the error names; empty for an answer
	}{
		"loopback":                 {host: "127.0.0.1:8080"},
		"another of loopback":      {host: "127.0.0.2"},
		"loopback of six":          {host: "[::1]:8080"},
		"localhost":                {host: "LocalHost.:8080"},
		"own page":                 {host: "localhost:8080", origin: "http://localhost:3000"},
		"rebound name":             {host: "evil.example:8080", refused: `"evil.example"`},
		"loopback's name with dot": {host: "127.0.0.1.evil.example", refused: `"127.0.0.1.evil.example"`},
		"localhost's subdomain":    {host: "localhost.evil.example", refused: `"localhost.evil.example"`},
		"no host":                  {host: "", refused: `""`},
		"user in host":             {host: "localhost@evil.example", refused: `"localhost@evil.example"`},
		"page of anybody's":        {host: "127.0.0.1:8080", origin: "https://evil.example", refused: `"https://evil.example"`},
		"page without an origin":   {host: "127.0.0.1:8080", origin: "null", refused: `"null"`},
		"origin with a user":       {host: "127.0.0.1:8080", origin: "http://localhost@evil.example", refused: "evil.example"},
		"extension":                {host: "127.0.0.1:8080", origin: "chrome-extension://localhost", refused: "chrome-extension"},
		"another machine's":        {host: "192.168.7.7:8080", refused: `"192.168.7.7"`},
		"own address":              {host: "192.168.7.7:8080", local: "192.168.7.7:8080"},
		"another of the network":   {host: "192.168.7.8:8080", local: "192.168.7.7:8080", refused: `"192.168.7.8"`},
		"mapped address":           {host: "192.168.7.7", local: "[::ffff:192.168.7.7]:80"},
		"allowed name":             {host: "Bench.local:8080", origin: "http://bench.local", allowed: []string{"bench.local"}},
		"allowed name, another":    {host: "bench.example", allowed: []string{"bench.local"}, refused: `"bench.example"`},
		"allowed page":             {host: "localhost", origin: "https://app.example", allowed: []string{"app.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve.New(weather(), serve.Options{Hosts: c.allowed})
			for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/"} {
				r := httptest.NewRequest("POST", path, strings.NewReader(`{"messages":[{"role":"user","content":"Hi"}]}`))
				r.Host = c.host
				if c.origin != "" {
					r.Header.Set("Origin", c.origin)
				}
				if c.local != "" {
					addr, err := net.ResolveTCPAddr("tcp", c.local)
					require.NoError(t, err)
					r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
				}
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if c.refused == "" {
					assert.NotEqual(t, http.StatusForbidden, w.Code, w.Body.String())
					continue
				}
				assert.Equal(t, http.StatusForbidden, w.Code, path)
				assert.Equal(t, "permission_error", gjson.Get(w.Body.String(), "error.type").Str)
				text := gjson.Get(w.Body.String(), "error.message").Str
				assert.Contains(t, text, c.refused)
				assert.Contains(t, text, "--allow-host")
			}
			if c.refused != "" {
				assert.Zero(t, s.State().Requests, "nothing of the recording was used")
				assert.Contains(t, s.State().Forbidden, c.refused)
			}
		})
	}
}
