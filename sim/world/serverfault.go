package world

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServerFault is one thing that goes wrong with a server (O7). Call or Tool names the calls it
// happens to, Connect the connection, counted from 1. Server narrows it; "" is any.
type ServerFault struct {
	Server, Call, Tool string
	Connect            int

	// Gone takes the server away when the call reaches it, before it answers; it can be
	// connected again after Back, never when that is 0.
	Gone bool
	Back time.Duration
	// Twice answers the call twice. Stray first answers a request that nobody made.
	Twice, Stray bool
	// Rubbish is sent in place of the answer, as it stands.
	Rubbish string
	// Slow is how long the server takes for its answer; Progress is how often it reports
	// progress meanwhile, 0 for never.
	Slow, Progress time.Duration

	// Unsubscribed ends, before the answer, the stream on which the server announces changes. Nothing
	// is announced on this connection after that.
	Unsubscribed bool

	// ListCareless lists each tool twice, described otherwise the second time, and one that has no name.
	ListCareless bool
	// Refused turns the connection down; ListFails and ListHangs let the list of tools
	// end in an error, or never come.
	Refused, ListFails, ListHangs bool
}

// ServerAsk is a question a tool puts to the person before it does its work (N5): a form, or
// with URL a page to visit, asked for by an error as the protocol has it.
type ServerAsk struct {
	Message string
	// Schema is the form's: a JSON Schema.
	Schema []byte
	URL    string
	// Forgets has the server refuse the state that it gave with the question.
	Forgets bool
}

// faultOf is the first fault that happens to a call.
func (o HostOptions) faultOf(server, tool, call string) ServerFault {
	return o.first(server, 0, func(f ServerFault) bool { return f.Call != "" && f.Call == call || f.Tool != "" && f.Tool == tool })
}

// first is the first fault of a server at its n-th connection, or at none, that happens.
func (o HostOptions) first(server string, n int, happens func(ServerFault) bool) ServerFault {
	for _, f := range o.Faults {
		if (f.Server == "" || f.Server == server) && f.Connect == n && happens(f) {
			return f
		}
	}
	return ServerFault{}
}

// MetaCall is where a request's _meta names the call it is made for.
const MetaCall = "toolbench/call"

// faultTransport stands between a server and its line and does there what a faulty server
// does: the library itself cannot be made to.
type faultTransport struct {
	mcp.Transport
	h    *Host
	p    *program
	line *lineEnd

	mu sync.Mutex
	// due are the faults of requests that are not answered yet, by request.
	due map[any]ServerFault
	// calls are the ids of its calls, by request; the host's lock guards them.
	calls map[any]string
	// listen is the request for the stream of announcements; unsubscribed reports whether that stream was ended.
	listen       jsonrpc.ID
	unsubscribed bool
}

// Connect opens the line.
func (s *faultTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := s.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s.due, s.calls = map[any]ServerFault{}, map[any]string{}
	return &faultConnection{conn, s}, nil
}

type faultConnection struct {
	mcp.Connection
	s *faultTransport
}

func (c *faultConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	request, ok := msg.(*jsonrpc.Request)
	if err != nil || !ok {
		return msg, err
	}
	fault, _ := c.s.h.receive(c.s.p, c.s.calls, request)
	if fault.Gone {
		return nil, io.EOF
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	switch request.Method {
	case "subscriptions/listen":
		c.s.listen = request.ID
	case "tools/call":
		c.s.due[request.ID.Raw()] = fault
	}
	return msg, nil
}

func (c *faultConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	answer, ok := msg.(*jsonrpc.Response)
	if !ok {
		if request, is := msg.(*jsonrpc.Request); is && c.s.silent(request) {
			return nil
		}
		return c.Connection.Write(ctx, msg)
	}
	c.s.mu.Lock()
	fault := c.s.due[answer.ID.Raw()]
	delete(c.s.due, answer.ID.Raw())
	listen := c.s.listen
	c.s.unsubscribed = c.s.unsubscribed || fault.Unsubscribed
	c.s.mu.Unlock()
	if fault.Unsubscribed && listen.IsValid() {
		if err := c.Connection.Write(ctx, &jsonrpc.Response{ID: listen, Result: json.RawMessage("{}")}); err != nil {
			return err
		}
	}
	switch {
	case fault.Rubbish != "":
		return c.s.line.send(ctx, sent{raw: []byte(fault.Rubbish)})
	case fault.Stray:
		if err := c.Connection.Write(ctx, stray(answer)); err != nil {
			return err
		}
	case fault.Twice:
		if err := c.Connection.Write(ctx, msg); err != nil {
			return err
		}
	}
	return c.Connection.Write(ctx, msg)
}

// silent reports whether what the server sends goes on the stream that was ended.
func (s *faultTransport) silent(sent *jsonrpc.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsubscribed && sent.Method == "notifications/tools/list_changed"
}

// strayID is a request's number that no client comes to.
const strayID = 999_999_999

// stray is the answer as if it were to another request.
func stray(answer *jsonrpc.Response) *jsonrpc.Response {
	other := *answer
	if id, err := jsonrpc.MakeID(float64(strayID)); err == nil {
		other.ID = id
	}
	return &other
}
