package mcpserve

import (
	"encoding/json"
	"net"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Received is what reached a server from its clients: what a client promises to send,
// only the other side can show.
type Received struct {
	// Called are the calls of tools, by the ids in their _meta; Cancelled are those of them
	// that a notification called off.
	Called, Cancelled []string
	// Opened counts the connections, Closed those that the client ended itself.
	Opened, Closed int
}

// Received gives what reached each server so far, by its name.
func (h *Host) Received() map[string]Received {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]Received{}
	for name, p := range h.servers {
		all[name] = p.received
	}
	return all
}

// receive notes a message of a client. calls are the ids of the connection's calls, by the
// numbers of their requests.
func (h *Host) receive(p *program, calls map[any]string, msg *jsonrpc.Request) {
	var params struct {
		Meta    map[string]any `json:"_meta"`
		Request int64          `json:"requestId"`
	}
	_ = json.Unmarshal(msg.Params, &params) // what is no object names nothing
	h.mu.Lock()
	defer h.mu.Unlock()
	switch msg.Method {
	case "tools/call":
		call, _ := params.Meta[MetaCall].(string)
		calls[msg.ID.Raw()] = call
		p.received.Called = append(p.received.Called, call)
	case "notifications/cancelled":
		if call, known := calls[params.Request]; known {
			p.received.Cancelled = append(p.received.Cancelled, call)
		}
	}
}

// clientLine is the client's end of a line, where its closing is seen for certain: at the
// other end it may come after the server's own.
type clientLine struct {
	net.Conn
	once   sync.Once
	closed func()
}

// Close notes the first closing.
func (c *clientLine) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// opened gives the client its end of a new line.
func (h *Host) opened(p *program, run *running, end net.Conn) *clientLine {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.runs = append(p.runs, run)
	p.received.Opened++
	return &clientLine{Conn: end, closed: func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !run.cut {
			p.received.Closed++
		}
	}}
}
