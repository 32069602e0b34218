package live

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/sim/world/mcpserve"
	"toolbench/toolsys/mcptool"
)

// Failure is a server that could not be listed, and why.
type Failure struct {
	Server string
	Err    error
}

// grace is what a process has to end by itself once its input is closed.
const grace = 2 * time.Second

// maxSaid is how much of a process's standard error is kept for a message.
const maxSaid = 4 << 10

// List connects to the servers, one after the other, and lists their tools. env is
// the environment of the processes, limit what each server has in all; a server
// without a name gets the one it gives itself. What fails is in the failures, in the
// order of specs.
func List(ctx context.Context, specs []Spec, env []string, limit time.Duration) (mcpserve.Catalogue, []Failure) {
	var all mcpserve.Catalogue
	var failures []Failure
	for _, s := range specs {
		listed, err := one(ctx, s, env, limit)
		if err == nil {
			var joined mcpserve.Catalogue
			if joined, err = mcpserve.Join(all, mcpserve.Catalogue{listed}); err == nil {
				all = joined
				continue
			}
		}
		failures = append(failures, Failure{s.label(), err})
	}
	return all, failures
}

func (s Spec) label() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.URL != "":
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

func one(ctx context.Context, s Spec, env []string, limit time.Duration) (mcpserve.Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	var said tail
	client := mcp.NewClient(&mcp.Implementation{Name: "toolbench", Version: "1"}, nil)
	session, err := client.Connect(ctx, s.transport(ctx, env, &said), nil)
	if err != nil {
		return mcpserve.Server{}, explain(ctx, "it cannot be reached", err, &said)
	}
	defer session.Close() // its answer is in hand; what closing says changes nothing
	tools, err := mcptool.List(ctx, session)
	if err != nil {
		return mcpserve.Server{}, explain(ctx, "its tools cannot be listed", err, &said)
	}
	name := s.Name
	if info := session.InitializeResult(); name == "" && info != nil && info.ServerInfo != nil {
		name = info.ServerInfo.Name
	}
	if name == "" {
		name = "server"
	}
	return mcpserve.Server{Name: name, Tools: tools}, nil
}

// explain says what failed, and what the process last said of it.
func explain(ctx context.Context, what string, err error, said *tail) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if text := said.line(); text != "" {
		return fmt.Errorf("%s: %w; it said: %s", what, err, text)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s Spec) transport(ctx context.Context, env []string, said *tail) mcp.Transport {
	client := &http.Client{Transport: headers{s.Headers, host(s.URL), http.DefaultTransport}}
	switch s.Kind {
	case "stdio":
		cmd := exec.CommandContext(ctx, s.Command, s.Args...)
		cmd.Env = append(append([]string{}, env...), s.Env...)
		cmd.Stderr = said
		cmd.WaitDelay = grace
		return &mcp.CommandTransport{Command: cmd, TerminateDuration: grace}
	case "sse":
		return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client}
	}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
}

// host is the host and port of an address; "" where it has none.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// headers adds a configuration's headers to each request to the server's own host: a
// redirect must not carry a key elsewhere.
type headers struct {
	set  map[string]string
	host string
	next http.RoundTripper
}

func (h headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != h.host {
		return h.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	for key, value := range h.set {
		req.Header.Set(key, value)
	}
	return h.next.RoundTrip(req)
}

// tail keeps the end of what a process writes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(p), nil
}

// line is the last line that says something.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}
