package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrAnswer says that an answer, a question or a fault is scripted for what is not there.
var ErrAnswer = errors.New("a script for what is not there")

// Options are what else the servers of a run are given; the zero value is fine.
type Options struct {
	// Answers are the scripts, under "server::tool", or under a tool's name for all
	// servers that have it; the former wins. A tool without one is [Echo].
	Answers map[string]Answer
	// PageSize is how many tools a server lists at once; 0 is the library's default.
	PageSize int
	// Asks are questions that tools put before they work, by the same names.
	Asks map[string]Ask
	// Resources are texts that every server offers to be read, by address (N8).
	Resources map[string]string
	// Faults are what goes wrong, and when.
	Faults []Fault
	// Client is given to every client of Connect, for what a server may ask of it; nil is fine.
	Client *mcp.ClientOptions
}

// Session is one connected server.
type Session struct {
	// Name is the server's name in the catalogue.
	Name string
	// Client is the client's end.
	Client *mcp.ClientSession

	drop func()
}

// Drop cuts the line to the server, as if it had crashed: running calls fail at once
// and later ones too. What runs in the server has its context cancelled.
func (s *Session) Drop() { s.drop() }

// Connect starts a server for each of the catalogue's and connects a client to it: a
// [Host] whose servers are there from the beginning and never come back. The sessions
// come sorted by name; the function closes all of them, server before client, and must
// be called before a bubble ends. Errors: those of NewHost, and what a handshake says;
// nothing stays open then.
func Connect(ctx context.Context, c Catalogue, o Options) ([]*Session, func(), error) {
	host, err := NewHost(c, o, Clock{Now: func() time.Time { return time.Time{} }})
	if err != nil {
		return nil, nil, err
	}
	var sessions []*Session
	closeAll := func() {
		host.Close()
		for _, s := range sessions {
			_ = s.Client.Close() // its line is cut; it has nothing to say
		}
	}
	for _, s := range c {
		session, err := host.connect(ctx, s.Name)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("connect to server %q: %w", s.Name, err)
		}
		sessions = append(sessions, session)
	}
	return sessions, closeAll, nil
}

func (h *Host) connect(ctx context.Context, server string) (*Session, error) {
	line, err := h.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolbench", Version: "1"}, h.o.Client)
	session, err := client.Connect(ctx, line, nil)
	if err != nil {
		return nil, err
	}
	return &Session{server, session, func() { h.takeAway(h.servers[server], 0) }}, nil
}

// check finds scripts that no tool will ever follow, and faults that befall nobody.
func (o Options) check(c Catalogue) error {
	known, servers := map[string]bool{}, map[string]bool{"": true}
	for _, s := range c {
		servers[s.Name] = true
		for _, t := range s.Tools {
			known[t.Name], known[s.Name+"::"+t.Name] = true, true
		}
	}
	for _, f := range o.Faults {
		if !servers[f.Server] {
			return fmt.Errorf("%w: a fault names the server %q; write one of the catalogue's", ErrAnswer, f.Server)
		}
	}
	var lost []string
	for key, answer := range o.Answers {
		if !known[key] || answer == nil {
			lost = append(lost, fmt.Sprintf("%q", key))
		}
	}
	for key := range o.Asks {
		if !known[key] {
			lost = append(lost, fmt.Sprintf("%q", key))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return fmt.Errorf("%w: %s; write server::tool or tool as in the catalogue", ErrAnswer, strings.Join(lost, ", "))
}

func (o Options) answer(server, tool string) Answer {
	for _, key := range []string{server + "::" + tool, tool} {
		if a, ok := o.Answers[key]; ok {
			return a
		}
	}
	return Echo
}
