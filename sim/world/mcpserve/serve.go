package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// add registers the tool, with a stand-in for a schema the library refuses. What
// else it refuses it does by a panic.
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
// gives the script's answer.
func (h *Host) answer(ctx context.Context, p *program, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call, _ := req.Params.Meta[MetaCall].(string)
	name := req.Params.Name
	fault := h.o.faultOf(p.spec.Name, name, call)
	if err := h.takeTime(ctx, "server/"+p.spec.Name+"/"+call, fault, req); err != nil {
		return nil, err
	}
	if ask, asks := h.o.ask(p.spec.Name, name); asks {
		if held, err := h.asked(p, ask, call, req.Params); held != nil || err != nil {
			return held, err
		}
	}
	return guarded(ctx, h.o.answer(p.spec.Name, name), req.Params.Arguments)
}

// takeTime waits as long as the fault has the answer take, and reports progress meanwhile
// if it says so and the client wants to be told.
func (h *Host) takeTime(ctx context.Context, actor string, fault Fault, req *mcp.CallToolRequest) error {
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
			done := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n)}
			if err := req.Session.NotifyProgress(ctx, done); err != nil {
				return err
			}
		}
	}
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

var errList = errors.New("the list is not to be had")

// listing puts the catalogue's own words where stand-ins were registered, and breaks
// the list where a fault demands it.
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

// ErrAnswer is an answer, a question or a fault that is scripted for what is not there.
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
// be called before a bubble ends. Errors: those of NewHost, and those of a handshake;
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
			_ = s.Client.Close() // its line is cut; there is nothing to report
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

// check finds scripts that no tool will ever follow, and faults that never happen.
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

// Answer is what a tool does with a call's arguments, a JSON object. An error is a
// protocol error, as a broken server gives; a tool that fails gives [Fail].
type Answer func(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error)

// Text always answers text.
func Text(text string) Answer {
	return func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// Fail always answers that the tool failed, and how.
func Fail(text string) Answer {
	return func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// Echo answers with the arguments: compact, members sorted, numbers as they came, so
// that equal arguments give equal bytes. It is the answer of a tool without another.
func Echo(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) {
	text, err := canonical(args)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

func canonical(args json.RawMessage) (string, error) {
	if len(args) == 0 {
		return "{}", nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}
