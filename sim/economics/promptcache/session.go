package promptcache

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Event is something that happens to the tools before a turn is sent.
type Event struct {
	// Turn counts from 1; 0 is before the program has registered its built-in tools.
	Turn int
	// About says what happens, for a person.
	About string
	// Server has Tools from now on; none means that it is gone.
	Server string
	Tools  []*mcp.Tool
	// Found are tools that ToolSearch loads, by their whole names; it matters only
	// where tools are deferred.
	Found []string
}

// Session is a conversation with churn.
type Session struct {
	Turns  int
	Events []Event
}

// at gives what happens before a turn.
func (s Session) at(turn int) []Event {
	var out []Event
	for _, e := range s.Events {
		if e.Turn == turn || turn == 1 && e.Turn < 1 {
			out = append(out, e)
		}
	}
	return out
}

// world is the tools of one moment.
type world struct {
	// servers are those that are connected, in the order in which they came.
	servers []server
	found   []string
}

// server is a connected one; an early one came before the built-in tools.
type server struct {
	name  string
	early bool
	tools []*mcp.Tool
}

func (w *world) apply(e Event) {
	w.found = append(w.found, e.Found...)
	if e.Server == "" {
		return
	}
	i := slices.IndexFunc(w.servers, func(s server) bool { return s.name == e.Server })
	switch {
	case i < 0 && len(e.Tools) > 0:
		w.servers = append(w.servers, server{e.Server, e.Turn < 1, e.Tools})
	case i >= 0 && len(e.Tools) == 0:
		w.servers = slices.Delete(w.servers, i, i+1)
	case i >= 0:
		w.servers[i].tools = e.Tools
	}
}
