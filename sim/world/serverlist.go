package world

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/mcptool"
)

// ListFailure is a server that could not be listed, and why.
type ListFailure struct {
	Server string
	// Address is its URL, "" for a program.
	Address string
	Err     error
}

// maxStderr is how much of a process's standard error is kept for a message.
const maxStderr = 4 << 10

// Processes is how servers that are programs are run.
type Processes struct {
	// Env is their environment.
	Env []string
	// Group makes a command the leader of a group of processes, before it starts, and gives what
	// ends those that it leaves behind: what a server was started with, as npx, may have a child
	// that outlives it. nil ends the program alone.
	Group func(*exec.Cmd) (kill func())
}

// ListServers connects to the servers, one after the other, and lists their tools. limit is what
// each server has in all; a server without a name gets the one it gives itself. What fails
// is in the failures, in the order of specs.
func ListServers(ctx context.Context, specs []ServerConfig, run Processes, limit time.Duration) (Catalogue, []ListFailure) {
	var all Catalogue
	var failures []ListFailure
	for _, s := range specs {
		listed, err := listServer(ctx, s, run, limit)
		if err == nil {
			var joined Catalogue
			if joined, err = JoinCatalogues(all, Catalogue{listed}); err == nil {
				all = joined
				continue
			}
		}
		failures = append(failures, ListFailure{s.label(), s.URL, err})
	}
	return all, failures
}

func (s ServerConfig) label() string {
	return cmp.Or(s.Name, s.URL, strings.Join(append([]string{s.Command}, s.Args...), " "))
}

func listServer(ctx context.Context, s ServerConfig, run Processes, limit time.Duration) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	stderr := Tail{Most: maxStderr}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolbench", Version: "1"}, nil)
	transport, err := s.Dial(run, &stderr)(ctx)
	if err != nil {
		return Server{}, err
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return Server{}, explain(ctx, "it cannot be reached", err, &stderr)
	}
	defer session.Close() // its answer is in hand; an error of closing changes nothing
	tools, err := mcptool.List(ctx, session)
	if err != nil {
		return Server{}, explain(ctx, "its tools cannot be listed", err, &stderr)
	}
	name := s.Name
	if info := session.InitializeResult(); name == "" && info != nil && info.ServerInfo != nil {
		name = info.ServerInfo.Name
	}
	name = cmp.Or(name, "server")
	return Server{Name: name, Tools: tools}, nil
}

// explain words what failed, with the last line of the process's standard error.
func explain(ctx context.Context, what string, err error, stderr *Tail) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	words := strings.TrimSpace(stderr.String())
	if last := strings.TrimSpace(words[strings.LastIndexByte(words, '\n')+1:]); last != "" {
		return fmt.Errorf("%s: %w; its last words: %s", what, err, last)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Dial gives the way to the server, for a fleet. The standard error of its process goes to stderr.
func (s ServerConfig) Dial(run Processes, stderr io.Writer) func(context.Context) (mcp.Transport, error) {
	client := &http.Client{Transport: headerTransport{s.Headers, siteOf(s.URL), http.DefaultTransport}}
	switch s.Kind {
	case "stdio":
		return mcptool.Stdio(func(ctx context.Context) (*exec.Cmd, func()) {
			cmd := exec.CommandContext(ctx, s.Command, s.Args...)
			cmd.Env = slices.Concat(run.Env, s.Env)
			cmd.Stderr = stderr
			if run.Group == nil {
				return cmd, nil
			}
			return cmd, run.Group(cmd)
		})
	case "sse":
		return func(context.Context) (mcp.Transport, error) {
			return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client}, nil
		}
	}
	return mcptool.HTTP(s.URL, client, s.Let)
}

// siteOf is the scheme, host and port of an address; the zero site where it has none.
func siteOf(address string) site {
	u, err := url.Parse(address)
	if err != nil {
		return site{}
	}
	return site{u.Scheme, u.Host}
}

// site is where a request goes, and whether it is read on the way.
type site struct{ scheme, host string }

// headerTransport adds a configuration's headers to each request to the server's own site: a
// redirect must not carry a key elsewhere, nor in the clear where the address is https.
type headerTransport struct {
	set  map[string]string
	to   site
	next http.RoundTripper
}

func (h headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if (site{req.URL.Scheme, req.URL.Host}) != h.to {
		return h.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	for key, value := range h.set {
		req.Header.Set(key, value)
	}
	return h.next.RoundTrip(req)
}

// Tail keeps the end of what a process writes.
type Tail struct {
	// Most is how many bytes are kept.
	Most int
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-t.Most):]
	return len(p), nil
}

// String is what is kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
