package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	Err    error
}

// grace is what a process has to end by itself once its input is closed.
const grace = 2 * time.Second

// maxStderr is how much of a process's standard error is kept for a message.
const maxStderr = 4 << 10

// ListServers connects to the servers, one after the other, and lists their tools. env is
// the environment of the processes, limit what each server has in all; a server
// without a name gets the one it gives itself. What fails is in the failures, in the
// order of specs.
func ListServers(ctx context.Context, specs []ServerConfig, env []string, limit time.Duration) (Catalogue, []ListFailure) {
	var all Catalogue
	var failures []ListFailure
	for _, s := range specs {
		listed, err := listServer(ctx, s, env, limit)
		if err == nil {
			var joined Catalogue
			if joined, err = Join(all, Catalogue{listed}); err == nil {
				all = joined
				continue
			}
		}
		failures = append(failures, ListFailure{s.label(), err})
	}
	return all, failures
}

func (s ServerConfig) label() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.URL != "":
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

func listServer(ctx context.Context, s ServerConfig, env []string, limit time.Duration) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	var stderr tail
	client := mcp.NewClient(&mcp.Implementation{Name: "toolbench", Version: "1"}, nil)
	session, err := client.Connect(ctx, s.transport(ctx, env, &stderr), nil)
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
	if name == "" {
		name = "server"
	}
	return Server{Name: name, Tools: tools}, nil
}

// explain words what failed, with the last line of the process's standard error.
func explain(ctx context.Context, what string, err error, stderr *tail) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if text := stderr.line(); text != "" {
		return fmt.Errorf("%s: %w; its last words: %s", what, err, text)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s ServerConfig) transport(ctx context.Context, env []string, stderr *tail) mcp.Transport {
	client := &http.Client{Transport: headerTransport{s.Headers, hostOf(s.URL), http.DefaultTransport}}
	switch s.Kind {
	case "stdio":
		cmd := exec.CommandContext(ctx, s.Command, s.Args...)
		cmd.Env = append(append([]string{}, env...), s.Env...)
		cmd.Stderr = stderr
		cmd.WaitDelay = grace
		return &mcp.CommandTransport{Command: cmd, TerminateDuration: grace}
	case "sse":
		return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client}
	}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
}

// hostOf is the hostOf and port of an address; "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// headerTransport adds a configuration's headerTransport to each request to the server's own host: a
// redirect must not carry a key elsewhere.
type headerTransport struct {
	set  map[string]string
	host string
	next http.RoundTripper
}

func (h headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
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
	t.text = t.text[max(0, len(t.text)-maxStderr):]
	return len(p), nil
}

// line is the last line with text.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}

// ErrConfig is wrapped by errors of a configuration; each is what to do.
var ErrConfig = errors.New("invalid configuration of MCP servers")

// ServerConfig is a server to be reached: by a command over stdio, or by an address.
type ServerConfig struct {
	Name    string
	Command string
	Args    []string
	// Env are "KEY=value" pairs on top of the environment.
	Env []string
	// URL is the address; Kind is "stdio", "http" or "sse" (the protocol's older
	// way).
	URL, Kind string
	Headers   map[string]string
}

// configEntry is a server as a configuration has it.
type configEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// ParseConfig reads a .mcp.json: {"mcpServers": {"name": {...}}}. ${VAR} and
// ${VAR:-default} stand for variables that lookup has. The servers come sorted by
// name; one that is wrong by itself has its error in broken and the others are given.
// An error is one of the whole file, ErrConfig.
func ParseConfig(file string, data []byte, lookup func(string) (string, bool)) (specs []ServerConfig, broken []ListFailure, err error) {
	var config struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, nil, fmt.Errorf("%w: %s:%d: %v; write {\"mcpServers\": {\"name\": {\"command\": ...}}}", ErrConfig, file, lineOf(data, err), err)
	}
	if len(config.Servers) == 0 {
		return nil, nil, fmt.Errorf("%w: %s: it names no server; put them under \"mcpServers\"", ErrConfig, file)
	}
	for _, name := range slices.Sorted(maps.Keys(config.Servers)) {
		spec, err := configOf(name, config.Servers[name], lookup)
		if err != nil {
			broken = append(broken, ListFailure{name, fmt.Errorf("%s: %w", file, err)})
			continue
		}
		specs = append(specs, spec)
	}
	return specs, broken, nil
}

// lineOf is where a file stops being JSON.
func lineOf(data []byte, err error) int {
	var syntax *json.SyntaxError
	at := 0
	if errors.As(err, &syntax) {
		at = min(int(syntax.Offset), len(data))
	}
	return 1 + strings.Count(string(data[:at]), "\n")
}

func configOf(name string, raw json.RawMessage, lookup func(string) (string, bool)) (ServerConfig, error) {
	var e configEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return ServerConfig{}, fmt.Errorf("server %q: %w", name, err)
	}
	x := expander{lookup: lookup}
	s := ServerConfig{Name: name, Command: x.text(e.Command), URL: x.text(e.URL), Kind: e.Type, Headers: map[string]string{}}
	for _, arg := range e.Args {
		s.Args = append(s.Args, x.text(arg))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		s.Env = append(s.Env, key+"="+x.text(e.Env[key]))
	}
	for key, value := range e.Headers {
		s.Headers[key] = x.text(value)
	}
	switch {
	case len(x.missing) > 0:
		slices.Sort(x.missing)
		return ServerConfig{}, fmt.Errorf("server %q: the variable %s is not set; set it, or write ${%s:-default}", name, x.missing[0], x.missing[0])
	case s.Kind == "" && s.URL != "":
		s.Kind = "http"
	case s.Kind == "":
		s.Kind = "stdio"
	}
	return s, s.validate()
}

func (s ServerConfig) validate() error {
	switch {
	case s.Kind == "streamable-http" || s.Kind == "http" || s.Kind == "sse":
		if s.URL == "" {
			return fmt.Errorf("server %q: it has no url", s.Name)
		}
	case s.Kind != "stdio":
		return fmt.Errorf("server %q: unknown type %q; use stdio, http or sse", s.Name, s.Kind)
	case s.Command == "":
		return fmt.Errorf("server %q: it has no command and no url", s.Name)
	}
	return nil
}

// expander replaces variables and remembers those that are not set.
type expander struct {
	lookup  func(string) (string, bool)
	missing []string
}

func (x *expander) text(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		out.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			if found {
				out.WriteString("${" + rest)
			}
			return out.String()
		}
		out.WriteString(x.variable(name))
		s = after
	}
}

func (x *expander) variable(text string) string {
	name, fallback, has := strings.Cut(text, ":-")
	if value, ok := x.lookup(name); ok {
		return value
	}
	if !has {
		x.missing = append(x.missing, name)
	}
	return fallback
}
