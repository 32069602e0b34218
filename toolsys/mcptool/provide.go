package mcptool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// Provide makes an MCP server of tools, so that any other client can use them (N10). The
// library lists them by name, whatever their order here. call runs one and gives its
// result as a tool_result block; its error is one of the protocol, for a call that had
// no result. Schemas, hints and always-load go out in the words in which this package
// reads those of other servers.
func Provide(name, version string, tools []*tool.Tool, call func(ctx context.Context, tool string, input json.RawMessage) (message.Block, error)) (*mcp.Server, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range tools {
		given, err := provided(t)
		if err != nil {
			return nil, err
		}
		s.AddTool(given, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			input := req.Params.Arguments
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			if client, ok := ctx.Value(clientOf{}).(context.Context); ok {
				asked, end := context.WithCancelCause(ctx)
				defer end(nil)
				defer context.AfterFunc(client, func() { end(context.Cause(client)) })()
				ctx = asked
			}
			result, err := call(ctx, given.Name, input)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: contents(result.Content), IsError: result.IsError}, nil
		})
	}
	return s, nil
}

// Handler serves over streamable HTTP, without sessions: the server asks nothing of its
// clients, and the newest revision has none. Pages of other origins, which a browser on
// the same machine may show, are refused. A call ends with the request that brought it: its
// client has no other way to give it up, nor to its result.
func Handler(s *mcp.Server) http.Handler {
	serve := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientOf{}, r.Context())))
	}))
}

// clientOf is where the context of a call over HTTP has that of its request: the library keeps
// the values of it, and not its end.
type clientOf struct{}

// provided is a tool as it is listed. Its traits are those of an input without members. What
// it does not declare is left out: to the protocol it then destroys and reaches the world.
func provided(t *tool.Tool) (*mcp.Tool, error) {
	raw, err := t.Input.Raw()
	if err != nil {
		return nil, err
	}
	in, _ := t.Decode(json.RawMessage("{}")) // the schema would ask for members
	out := &mcp.Tool{
		Name: t.Name, Description: t.Prompt(tool.PromptOptions{}), InputSchema: raw,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.Behaviour.ReadOnly(in)}, Meta: mcp.Meta{},
	}
	if t.Hint != "" {
		out.Meta[metaHint] = t.Hint
	}
	if t.Loading.Always {
		out.Meta[metaAlways] = true
	}
	return out, nil
}

// contents are a result's blocks in the protocol's words.
func contents(blocks []message.Block) []mcp.Content {
	var out []mcp.Content
	for _, b := range blocks {
		data, err := base64.StdEncoding.DecodeString(b.Data)
		switch {
		case b.Type == message.TypeText:
			out = append(out, &mcp.TextContent{Text: b.Text})
		case b.Type == message.TypeImage && err == nil:
			out = append(out, &mcp.ImageContent{MIMEType: b.MediaType, Data: data})
		case b.Type == message.TypeDocument && err == nil:
			out = append(out, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "document:result", MIMEType: b.MediaType, Blob: data}})
		default:
			raw, _ := json.Marshal(b) // blocks are always written
			out = append(out, &mcp.TextContent{Text: string(raw)})
		}
	}
	return out
}
