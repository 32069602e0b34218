package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrAnswer says that an answer is scripted for a tool that is not there.
var ErrAnswer = errors.New("an answer for no tool")

// Options are what else the servers of a run are given; the zero value is fine.
type Options struct {
	// Answers are the scripts, under "server::tool", or under a tool's name for all
	// servers that have it; the former wins. A tool without one is [Echo].
	Answers map[string]Answer
	// PageSize is how many tools a server lists at once; 0 is the library's default.
	PageSize int
	// Client is given to every client, for what a server may ask of it; nil is fine.
	Client *mcp.ClientOptions
}

// Session is one connected server.
type Session struct {
	// Name is the server's name in the catalogue.
	Name string
	// Client is the client's end.
	Client *mcp.ClientSession

	server *mcp.ServerSession
	line   net.Conn // the server's end of the line
}

// Drop cuts the line to the server, as if it had crashed: running calls fail at once
// and later ones too. What runs in the server has its context cancelled.
func (s *Session) Drop() {
	_ = s.line.Close() // a pipe in memory closes without an error
}

// close ends both sides, the server's first, or its goroutines stay. The line is cut
// before, since a session that is closed politely waits for its running calls. The
// errors are those of a cut line and say nothing.
func (s *Session) close() {
	s.Drop()
	_ = s.server.Close()
	_ = s.Client.Close()
}

// Connect starts a server for each of the catalogue's and connects a client to it.
// The sessions come sorted by name; the function closes all of them, server before
// client, and must be called before a bubble ends. Errors: ErrAnswer for a script
// without its tool, ErrCatalogue for a tool the library cannot serve, and what a
// handshake says; nothing stays open then.
func Connect(ctx context.Context, c Catalogue, o Options) ([]*Session, func(), error) {
	if err := o.check(c); err != nil {
		return nil, nil, err
	}
	var sessions []*Session
	closeAll := func() {
		for _, s := range sessions {
			s.close()
		}
	}
	for _, s := range c {
		session, err := start(ctx, s, o)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		sessions = append(sessions, session)
	}
	return sessions, closeAll, nil
}

// check finds scripts that no tool will ever follow.
func (o Options) check(c Catalogue) error {
	known := map[string]bool{}
	for _, s := range c {
		for _, t := range s.Tools {
			known[t.Name], known[s.Name+"::"+t.Name] = true, true
		}
	}
	var lost []string
	for key, answer := range o.Answers {
		if !known[key] || answer == nil {
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

func start(ctx context.Context, s Server, o Options) (*Session, error) {
	server, err := serve(s, o)
	if err != nil {
		return nil, err
	}
	// What mcp.NewInMemoryTransports makes, with the line at hand to cut it.
	here, there := net.Pipe()
	serving, err := server.Connect(ctx, &mcp.IOTransport{Reader: there, Writer: there}, nil)
	if err != nil {
		return nil, fmt.Errorf("start server %q: %w", s.Name, err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolbench", Version: "1"}, o.Client)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: here, Writer: here}, nil)
	if err != nil {
		_ = there.Close()
		_ = serving.Close()
		return nil, fmt.Errorf("connect to server %q: %w", s.Name, err)
	}
	return &Session{Name: s.Name, Client: session, server: serving, line: there}, nil
}
