package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// ErrConfig is wrapped by errors of a configuration; each is what to do.
var ErrConfig = errors.New("invalid configuration of MCP servers")

// ServerConfig is a server to be reached: by a command over stdio, or by an address.
type ServerConfig struct {
	Name    string
	Command string
	Args    []string
	// Env are "KEY=value" pairs on top of the environment.
	Env []string
	// URL is the address; Kind is "stdio", "http" or "sse" (the protocol's older way).
	URL, Kind string
	Headers   map[string]string
	// OAuth is how a server that asks for it lets this client in; Let does it, and is the
	// caller's to make, since a person or a file may be needed.
	OAuth OAuth
	Let   *mcptool.Authorization
}

// OAuth is a client that was registered with a server's authorization server beforehand.
// The zero value is one that registers itself.
type OAuth struct {
	ID     string `json:"clientId"`
	Secret string `json:"clientSecret"`
	// Port is the one on this machine that the authorization server sends a person back to; 0 takes a free one.
	Port int `json:"callbackPort"`
	// Grant is "authorization_code", the default, which needs a person, or
	// "client_credentials", which needs a secret.
	Grant string `json:"grant"`
}

// clientCredentials is the grant of a client that no person stands behind.
const clientCredentials = "client_credentials"

// Unattended reports whether the client is let in for itself.
func (o OAuth) Unattended() bool { return o.Grant == clientCredentials }

func (o OAuth) validate() error {
	switch {
	case o.Grant != "" && o.Grant != "authorization_code" && o.Grant != clientCredentials:
		return fmt.Errorf("unknown oauth grant %q; use authorization_code or %s", o.Grant, clientCredentials)
	case o.Unattended() && (o.ID == "" || o.Secret == ""):
		return errors.New("the oauth grant client_credentials needs clientId and clientSecret")
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("oauth callbackPort %d is no port", o.Port)
	}
	return nil
}

// configEntry is a server as a configuration has it.
type configEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	OAuth   OAuth             `json:"oauth"`
}

// ParseServers reads a .mcp.json: {"mcpServers": {"name": {...}}}. ${VAR} and ${VAR:-default} stand for variables
// that lookup has. The servers come sorted by name; one that is wrong by itself has its error in broken and the
// others are given. An error is one of the whole file, ErrConfig.
func ParseServers(file string, data []byte, lookup func(string) (string, bool)) (specs []ServerConfig, broken []ListFailure, err error) {
	var config struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, nil, fmt.Errorf("%w: %s:%s: %s; write {\"mcpServers\": {\"name\": {\"command\": ...}}}", ErrConfig, file, PlaceOf(data, err), Plain(err))
	}
	if len(config.Servers) == 0 {
		return nil, nil, fmt.Errorf("%w: %s: it names no server; put them under \"mcpServers\"", ErrConfig, file)
	}
	for _, name := range slices.Sorted(maps.Keys(config.Servers)) {
		spec, err := configOf(name, config.Servers[name], lookup)
		if err != nil {
			broken = append(broken, ListFailure{Server: name, Err: fmt.Errorf("%s: %w", file, err)})
			continue
		}
		specs = append(specs, spec)
	}
	return specs, broken, nil
}

// PlaceOf is the line and column of an error of JSON in a text.
func PlaceOf(text []byte, err error) string {
	at := int64(len(text))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(0, syntax.Offset-1) // the offset is behind the byte, if there is one
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = kind.Offset
	}
	before := text[:min(at, int64(len(text)))]
	return fmt.Sprintf("%d:%d", line(text, len(before)), len(before)-bytes.LastIndexByte(before, '\n'))
}

func configOf(name string, raw json.RawMessage, lookup func(string) (string, bool)) (ServerConfig, error) {
	var e configEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return ServerConfig{}, fmt.Errorf("server %q: %s", name, Plain(err))
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
	s.OAuth = e.OAuth
	s.OAuth.ID, s.OAuth.Secret = x.text(e.OAuth.ID), x.text(e.OAuth.Secret)
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
		if !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
			return fmt.Errorf("server %q: its url does not begin with http:// or https://", s.Name) // it may hold a secret
		}
	case s.Kind != "stdio":
		return fmt.Errorf("server %q: unknown type %q; use stdio, http or sse", s.Name, s.Kind)
	case s.Command == "":
		return fmt.Errorf("server %q: it has no command and no url", s.Name)
	}
	if err := s.OAuth.validate(); err != nil {
		return fmt.Errorf("server %q: %w", s.Name, err)
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
		before, rest, _ := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return out.String() + s
		}
		out.WriteString(before + x.variable(name))
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

// ListServers connects to the servers, one after the other, and lists their tools. limit is what each server has in
// all; a server without a name gets the one it gives itself. What fails is in the failures, in the order of specs.
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
		failures = append(failures, ListFailure{cmp.Or(s.Name, s.URL, strings.Join(append([]string{s.Command}, s.Args...), " ")), s.URL, err})
	}
	return all, failures
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
	return Server{Name: cmp.Or(name, "server"), Tools: tools}, nil
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
