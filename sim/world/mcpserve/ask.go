package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is the name under which a tool's only question goes.
const question = "question"

// asked puts a tool's question and, when it is answered, judges the answer: nil lets
// the call go on.
func (h *Host) asked(p *program, ask Ask, call string, params *mcp.CallToolParamsRaw) (*mcp.CallToolResult, error) {
	if ask.URL != "" {
		return nil, h.visit(p, ask, call)
	}
	given, answered := params.InputResponses[question].(*mcp.ElicitResult)
	if !answered {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: &mcp.ElicitParams{
			Mode: "form", Message: ask.Message, RequestedSchema: json.RawMessage(ask.Schema),
		}}}, nil
	}
	if given.Action != "accept" {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{
			Text: fmt.Sprintf("Nothing was done: the answer to %q was %s.", ask.Message, given.Action),
		}}}, nil
	}
	raw, err := json.Marshal(given.Content)
	if err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Done with " + string(raw)}}}, nil
}

// visit asks for a page to be visited, the first time a call comes.
func (h *Host) visit(p *program, ask Ask, call string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.visited[call] {
		return nil
	}
	p.visited[call] = true
	return mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{
		Mode: "url", Message: ask.Message, URL: ask.URL, ElicitationID: "visit/" + call,
	}})
}

func (o Options) ask(server, tool string) (Ask, bool) {
	for _, key := range []string{server + "::" + tool, tool} {
		if a, ok := o.Asks[key]; ok {
			return a, true
		}
	}
	return Ask{}, false
}

// addResources offers the scripted texts to be read, by address.
func (h *Host) addResources(server *mcp.Server) {
	for _, uri := range slices.Sorted(maps.Keys(h.o.Resources)) {
		text := h.o.Resources[uri]
		server.AddResource(&mcp.Resource{URI: uri, Name: uri, MIMEType: "text/plain"},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
			})
	}
}
