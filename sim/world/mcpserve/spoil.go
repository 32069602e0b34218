package mcpserve

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MetaCall is where a request's _meta names the call it is made for.
const MetaCall = "toolbench/call"

// spoiler stands between a server and its line and does there what a faulty server
// does: the library itself cannot be made to.
type spoiler struct {
	mcp.Transport
	h    *Host
	p    *program
	line net.Conn

	mu sync.Mutex
	// due are the faults of requests that are not answered yet, by request.
	due map[any]Fault
}

// Connect opens the line.
func (s *spoiler) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := s.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s.due = map[any]Fault{}
	return &spoiled{conn, s}, nil
}

type spoiled struct {
	mcp.Connection
	s *spoiler
}

func (c *spoiled) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	request, ok := msg.(*jsonrpc.Request)
	if err != nil || !ok || request.Method != "tools/call" {
		return msg, err
	}
	fault := c.s.h.o.faultOf(c.s.p.spec.Name, named(request.Params), callOf(request.Params))
	if fault.Gone {
		c.s.h.takeAway(c.s.p, fault.Back)
		return nil, io.EOF
	}
	c.s.mu.Lock()
	c.s.due[request.ID.Raw()] = fault
	c.s.mu.Unlock()
	return msg, nil
}

func named(params json.RawMessage) string {
	var p struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(params, &p) // what is no object names nothing
	return p.Name
}

// callOf is the call a request is made for, "" where it does not say.
func callOf(params json.RawMessage) string {
	var p struct {
		Meta map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // what is no object names nothing
	id, _ := p.Meta[MetaCall].(string)
	return id
}

func (c *spoiled) Write(ctx context.Context, msg jsonrpc.Message) error {
	answer, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	c.s.mu.Lock()
	fault := c.s.due[answer.ID.Raw()]
	delete(c.s.due, answer.ID.Raw())
	c.s.mu.Unlock()
	switch {
	case fault.Rubbish != "":
		_, err := io.WriteString(c.s.line, fault.Rubbish+"\n")
		return err
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
