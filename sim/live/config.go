package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrConfig is wrapped by errors of a configuration; each says what to do.
var ErrConfig = errors.New("invalid configuration of MCP servers")

// Spec is a server to be reached: by a command over stdio, or by an address.
type Spec struct {
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

// entry is a server as a configuration has it.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// Parse reads a .mcp.json: {"mcpServers": {"name": {...}}}. ${VAR} and
// ${VAR:-default} stand for variables that lookup has. The servers come sorted by
// name; one that is wrong by itself has its error in broken and the others are given.
// An error is one of the whole file, ErrConfig.
func Parse(file string, data []byte, lookup func(string) (string, bool)) (specs []Spec, broken []Failure, err error) {
	var config struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, nil, fmt.Errorf("%w: %s:%d: %v; write {\"mcpServers\": {\"name\": {\"command\": ...}}}", ErrConfig, file, line(data, err), err)
	}
	if len(config.Servers) == 0 {
		return nil, nil, fmt.Errorf("%w: %s: it names no server; put them under \"mcpServers\"", ErrConfig, file)
	}
	for _, name := range slices.Sorted(maps.Keys(config.Servers)) {
		spec, err := specOf(name, config.Servers[name], lookup)
		if err != nil {
			broken = append(broken, Failure{name, fmt.Errorf("%s: %w", file, err)})
			continue
		}
		specs = append(specs, spec)
	}
	return specs, broken, nil
}

// line is where a file stops being JSON.
func line(data []byte, err error) int {
	var syntax *json.SyntaxError
	at := 0
	if errors.As(err, &syntax) {
		at = min(int(syntax.Offset), len(data))
	}
	return 1 + strings.Count(string(data[:at]), "\n")
}

func specOf(name string, raw json.RawMessage, lookup func(string) (string, bool)) (Spec, error) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return Spec{}, fmt.Errorf("server %q: %w", name, err)
	}
	x := expander{lookup: lookup}
	s := Spec{Name: name, Command: x.text(e.Command), URL: x.text(e.URL), Kind: e.Type, Headers: map[string]string{}}
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
		return Spec{}, fmt.Errorf("server %q: the variable %s is not set; set it, or write ${%s:-default}", name, x.missing[0], x.missing[0])
	case s.Kind == "" && s.URL != "":
		s.Kind = "http"
	case s.Kind == "":
		s.Kind = "stdio"
	}
	return s, s.check()
}

func (s Spec) check() error {
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
