package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve makes the library's server of a program, as it is at this moment.
func (h *Host) serve(p *program, fault Fault) (*mcp.Server, error) {
	h.mu.Lock()
	tools := slices.Clone(p.spec.Tools)
	h.mu.Unlock()
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}
	if len(h.o.Resources) > 0 {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: p.spec.Name, Version: "1"}, &mcp.ServerOptions{
		PageSize: h.o.PageSize, Capabilities: capabilities,
	})
	for _, t := range tools {
		if err := h.add(p, server, t); err != nil {
			return nil, fmt.Errorf("%w: server %q: %w", ErrCatalogue, p.spec.Name, err)
		}
	}
	h.addResources(server)
	server.AddReceivingMiddleware(h.listing(p, fault))
	return server, nil
}

// servable says whether the library takes the tool's schema: it insists on an
// object, as the protocol does and not all servers do.
func servable(t *mcp.Tool) bool {
	raw, ok := t.InputSchema.(json.RawMessage)
	if !ok {
		return false
	}
	var root struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(raw, &root) == nil && root.Type == "object"
}

// add registers the tool, with a stand-in for a schema the library refuses. What
// else it refuses it says by a panic.
func (h *Host) add(p *program, server *mcp.Server, t *mcp.Tool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v; correct the tool or take it out", v)
		}
	}()
	given := *t
	if !servable(t) {
		given.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	server.AddTool(&given, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return h.answer(ctx, p, req)
	})
	return nil
}

// answer is one call at the server: it takes its time, asks what it has to ask and
// gives what the script says.
func (h *Host) answer(ctx context.Context, p *program, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call, _ := req.Params.Meta[MetaCall].(string)
	name := req.Params.Name
	fault := h.o.faultOf(p.spec.Name, name, call)
	if fault.Slow > 0 {
		if err := h.clock.Sleep(ctx, "server/"+p.spec.Name+"/"+call, fault.Slow); err != nil {
			return nil, err
		}
	}
	if ask, asks := h.o.ask(p.spec.Name, name); asks {
		if held, err := h.asked(p, ask, call, req.Params); held != nil || err != nil {
			return held, err
		}
	}
	return guarded(ctx, h.o.answer(p.spec.Name, name), req.Params.Arguments)
}

// guarded keeps a script's panic from ending the whole run.
func guarded(ctx context.Context, answer Answer, args json.RawMessage) (r *mcp.CallToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the server's script panicked: %v", p)
		}
	}()
	return answer(ctx, args)
}

var errList = errors.New("the list is not to be had")

// listing puts the catalogue's own words where stand-ins were registered, and spoils
// the list where a fault says so.
func (h *Host) listing(p *program, fault Fault) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			h.mu.Lock()
			fails, hangs := fault.ListFails || p.unlisted.ListFails, fault.ListHangs || p.unlisted.ListHangs
			h.mu.Unlock()
			if method == "tools/list" && hangs {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			result, err := next(ctx, method, req)
			list, ok := result.(*mcp.ListToolsResult)
			switch {
			case err != nil || !ok:
				return result, err
			case fails:
				return nil, errList
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			for i, t := range list.Tools {
				if at := slices.IndexFunc(p.spec.Tools, func(own *mcp.Tool) bool { return own.Name == t.Name }); at >= 0 && !servable(p.spec.Tools[at]) {
					list.Tools[i] = p.spec.Tools[at]
				}
			}
			return result, nil
		}
	}
}
