package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/jsonscan"
)

// serve makes the library's server of a program, as it is at this moment.
func (h *Host) serve(p *program, fault ServerFault) (*mcp.Server, error) {
	h.mu.Lock()
	tools := slices.Clone(p.spec.Tools)
	h.mu.Unlock()
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: h.o.TTL == 0}}
	if len(h.o.Resources) > 0 {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	if len(h.o.Prompts) > 0 {
		capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: p.spec.Name, Version: "1"}, &mcp.ServerOptions{
		Capabilities: capabilities,
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			if _, list := req.GetParams().(*mcp.ListToolsParams); list {
				c.TTLMs = int(h.o.TTL.Milliseconds())
			}
		},
	})
	for _, t := range tools {
		if err := h.add(p, server, t); err != nil {
			return nil, fmt.Errorf("%w: server %q: %w", ErrCatalogue, p.spec.Name, err)
		}
	}
	h.addResources(server)
	h.addPrompts(server)
	server.AddReceivingMiddleware(h.listing(p, fault))
	return server, nil
}

// servable reports whether the library takes the tool's schema: it insists on an
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

// add registers the tool, with a stand-in for a schema that the library refuses. The
// library refuses other things by a panic, which add recovers.
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

// answer is one call at the server: it takes its time, asks what it has to ask and gives the script's answer.
func (h *Host) answer(ctx context.Context, p *program, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call, _ := req.Params.Meta[MetaCall].(string)
	name := req.Params.Name
	fault := h.o.faultOf(p.spec.Name, name, call)
	if err := h.takeTime(ctx, "server/"+p.spec.Name+"/"+call, fault, req); err != nil {
		return nil, err
	}
	if ask, asks := named(h.o.Asks, p.spec.Name, name); asks {
		if held, err := h.asked(p, ask, call, req.Params); held != nil || err != nil {
			return held, err
		}
	}
	return h.Answer(p.spec.Name, name, req.Params.Arguments)
}

// takeTime waits for as long as the fault delays the answer. Meanwhile it reports progress,
// if the fault asks for that and the client wants it.
func (h *Host) takeTime(ctx context.Context, actor string, fault ServerFault, req *mcp.CallToolRequest) error {
	token := req.Params.GetProgressToken()
	for left, n := fault.Slow, 1; left > 0; n++ {
		step := left
		if fault.Progress > 0 && token != nil {
			step = min(left, fault.Progress)
		}
		if err := h.clock.Sleep(ctx, actor, step); err != nil {
			return err
		}
		if left -= step; left > 0 {
			done := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Total: math.Ceil(float64(fault.Slow) / float64(fault.Progress))}
			if err := req.Session.NotifyProgress(ctx, done); err != nil {
				return err
			}
		}
	}
	return nil
}

var errList = errors.New("the list is not to be had")

// listing puts the catalogue's own words where stand-ins were registered, and breaks
// the list where a fault demands it.
func (h *Host) listing(p *program, fault ServerFault) mcp.Middleware {
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
			if fault.ListCareless || p.unlisted.ListCareless {
				list.Tools = careless(list.Tools)
			}
			return result, nil
		}
	}
}

// careless is a list in which each tool stands twice, and one has no name.
func careless(tools []*mcp.Tool) []*mcp.Tool {
	out := append(slices.Clone(tools), &mcp.Tool{InputSchema: json.RawMessage(`{"type":"object"}`)})
	for _, t := range tools {
		again := *t
		again.Description += "; again"
		out = append(out, &again)
	}
	return out
}

// ErrAnswer is returned where an answer, a question or a fault is scripted for a tool or server that does not exist.
var ErrAnswer = errors.New("a script for what is not there")

// HostOptions are what else the servers of a run are given; the zero value is fine.
type HostOptions struct {
	// Answers are the texts that tools answer, under "server::tool", or under a tool's name
	// for all servers that have it; the former wins. A tool without one gives its arguments
	// back: compact, members sorted, numbers as they came.
	Answers map[string]string
	// Results are whole results as the protocol has them, by the same names; they come before Answers.
	Results map[string]json.RawMessage
	// Asks are questions that tools put before they work, by the same names.
	Asks map[string]ServerAsk
	// Resources are texts that every server offers to be read, by address (N8).
	Resources map[string]string
	// Prompts are texts that every server fills in, by name; a {word} in one is an argument that it needs.
	Prompts map[string]string
	// TTL is for how long a list of tools stands; a server with one announces no change.
	TTL time.Duration
	// Faults are what goes wrong, and when.
	Faults []ServerFault
}

// check finds scripts that no tool will ever follow, and faults that never happen.
func (o HostOptions) check(c Catalogue) error {
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
	for _, key := range slices.Sorted(maps.Keys(o.Results)) {
		if _, err := wholeResult(o.Results[key]); err != nil {
			return fmt.Errorf("%w: the result of %q: %w", ErrAnswer, key, err)
		}
	}
	var lost []string
	for _, key := range slices.Concat(slices.Sorted(maps.Keys(o.Answers)), slices.Sorted(maps.Keys(o.Results)), slices.Sorted(maps.Keys(o.Asks))) {
		if !known[key] {
			lost = append(lost, fmt.Sprintf("%q", key))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; write server::tool or tool as in the catalogue", ErrAnswer, strings.Join(lost, ", "))
}

// named is what is scripted for a server's tool.
func named[V any](scripts map[string]V, server, tool string) (V, bool) {
	v, ok := scripts[server+"::"+tool]
	if !ok {
		v, ok = scripts[tool]
	}
	return v, ok
}

// wholeResult is a result that a script writes out.
func wholeResult(raw json.RawMessage) (*mcp.CallToolResult, error) {
	var result mcp.CallToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("it is no result of MCP: %w", err)
	}
	return &result, nil
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// echo answers with the arguments, so that equal arguments give equal bytes.
func echo(args json.RawMessage) (*mcp.CallToolResult, error) {
	if len(args) == 0 {
		return textResult("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	out, err := jsonscan.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return textResult(string(out)), nil
}
