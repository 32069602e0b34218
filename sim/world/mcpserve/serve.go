package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve makes the library's server of s.
func serve(s Server, o Options) (*mcp.Server, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: s.Name, Version: "1"}, &mcp.ServerOptions{
		PageSize:     o.PageSize,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	verbatim := map[string]*mcp.Tool{}
	for _, t := range s.Tools {
		if !servable(t) {
			verbatim[t.Name] = t
		}
		if err := add(server, t, o.answer(s.Name, t.Name)); err != nil {
			return nil, fmt.Errorf("%w: server %q: %w", ErrCatalogue, s.Name, err)
		}
	}
	if len(verbatim) > 0 {
		server.AddReceivingMiddleware(listing(verbatim))
	}
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
func add(server *mcp.Server, t *mcp.Tool, answer Answer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v; correct the tool or take it out", p)
		}
	}()
	given := *t
	if !servable(t) {
		given.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	server.AddTool(&given, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return guarded(ctx, answer, req.Params.Arguments)
	})
	return nil
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

// listing puts the catalogue's own words where stand-ins were registered.
func listing(verbatim map[string]*mcp.Tool) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			list, ok := result.(*mcp.ListToolsResult)
			if err != nil || !ok {
				return result, err
			}
			for i, t := range list.Tools {
				if own, ok := verbatim[t.Name]; ok {
					list.Tools[i] = own
				}
			}
			return result, nil
		}
	}
}
