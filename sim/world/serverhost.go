package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrDown is that a server cannot be connected at this moment.
var ErrDown = errors.New("connection refused")

// HostClock is the world's time, as the tool system has it.
type HostClock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, actor string, d time.Duration) error
}

// Host is the servers of a run as programs that can be started any number of times:
// they may die in the middle of a call, come back later, and list other tools then.
type Host struct {
	o     HostOptions
	clock HostClock

	mu      sync.Mutex
	servers map[string]*program
}

// program is one server, whether it runs or not. The host's lock guards it.
type program struct {
	spec  Server
	dials int
	// back is when it may be connected again; never reports that it may not be at all.
	back  time.Time
	never bool
	runs  []*running
	// unlisted is what becomes of its list from now on, in every session.
	unlisted ServerFault
	// ready is the library's server that nobody is connected to yet, nil where the next connection needs another.
	ready *mcp.Server
	// visited are the calls whose page was asked for already.
	visited  map[string]bool
	received ServerReceived
	// web is the server behind an address, nil for one at a pipe.
	web *ServerWeb
}

// running is one session of a program.
type running struct {
	server  *mcp.Server
	session *mcp.ServerSession
	line    *lineEnd
	// cut: the server ended the line itself.
	cut bool
}

// NewHost makes the servers of a catalogue. Errors: ErrAnswer for a script without its
// tool, ErrCatalogue for a tool the library cannot serve.
func NewHost(c Catalogue, o HostOptions, clock HostClock) (*Host, error) {
	if err := o.check(c); err != nil {
		return nil, err
	}
	h := &Host{o: o, clock: clock, servers: map[string]*program{}}
	for _, s := range c {
		p := &program{spec: s, visited: map[string]bool{}}
		var err error
		if p.ready, err = h.serve(p, ServerFault{}); err != nil {
			return nil, err
		}
		h.servers[s.Name] = p
	}
	return h, nil
}

// Dial starts the server and gives the way to it. Errors: ErrDown.
func (h *Host) Dial(ctx context.Context, server string) (mcp.Transport, error) {
	h.mu.Lock()
	p, known := h.servers[server]
	if !known {
		h.mu.Unlock()
		return nil, fmt.Errorf("%w: there is no server %q", ErrDown, server)
	}
	p.dials++
	fault := h.o.first(server, p.dials, func(ServerFault) bool { return true })
	away := p.never || h.clock.Now().Before(p.back)
	made := p.ready
	p.ready = nil
	h.mu.Unlock()
	if away || fault.Refused {
		return nil, ErrDown
	}
	if made == nil || fault != (ServerFault{}) {
		var err error
		if made, err = h.serve(p, fault); err != nil {
			return nil, err
		}
	}
	up, down := make(chan sent), make(chan sent)
	line, end := context.WithCancel(context.Background())
	here, there := &lineEnd{in: down, out: up, line: line, end: end}, &lineEnd{in: up, out: down, line: line, end: end}
	run := &running{server: made, line: there}
	var err error
	if run.session, err = made.Connect(ctx, &faultTransport{Transport: there, h: h, p: p, line: there}, nil); err != nil {
		return nil, fmt.Errorf("start server %q: %w", server, err)
	}
	h.opened(p, run, here)
	return here, nil
}

// Relist gives a server another list of tools. Clients that are connected are notified
// by the library, ten milliseconds later.
func (h *Host) Relist(server string, tools []*mcp.Tool) error {
	h.mu.Lock()
	p, known := h.servers[server]
	if !known {
		h.mu.Unlock()
		return fmt.Errorf("%w: there is no server %q", ErrCatalogue, server)
	}
	before := p.spec.Tools
	p.spec.Tools, p.ready = tools, nil
	runs := p.runs
	h.mu.Unlock()
	var gone []string
	for _, t := range before {
		if !slices.ContainsFunc(tools, func(now *mcp.Tool) bool { return now.Name == t.Name }) {
			gone = append(gone, t.Name)
		}
	}
	for _, run := range runs {
		run.server.RemoveTools(gone...)
		for _, t := range tools {
			if err := h.add(p, run.server, t); err != nil {
				return fmt.Errorf("%w: server %q: %w", ErrCatalogue, server, err)
			}
		}
	}
	return nil
}

// Unlist breaks a server's list from now on, as the fault's ListFails and ListHangs demand,
// whatever its connections were to do; a zero fault ends that.
func (h *Host) Unlist(server string, fault ServerFault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, known := h.servers[server]; known {
		p.unlisted = fault
	}
}

// takeAway ends a server as a crash does: its lines are cut. It gives what ran on them.
func (h *Host) takeAway(p *program, back time.Duration) []*running {
	h.mu.Lock()
	p.never, p.back = back <= 0, h.clock.Now().Add(back)
	runs := p.runs
	p.runs = nil
	for _, run := range runs {
		run.cut = true
	}
	h.mu.Unlock()
	for _, run := range runs {
		_ = run.line.Close() // a line in memory closes without an error
	}
	if p.web != nil {
		p.web.cut()
	}
	return runs
}

// Close ends all servers, each line before its session, which else would wait for calls
// that still run. It must be called before a bubble ends.
func (h *Host) Close() {
	for _, p := range h.servers {
		for _, run := range h.takeAway(p, 0) {
			_ = run.session.Close()
		}
	}
}

// Answer is what a server's tool answers to an input, whatever the way to it.
func (h *Host) Answer(server, tool string, input json.RawMessage) (*mcp.CallToolResult, error) {
	if raw, scripted := named(h.o.Results, server, tool); scripted {
		return wholeResult(raw)
	}
	if text, scripted := named(h.o.Answers, server, tool); scripted {
		return textResult(text), nil
	}
	return echo(input)
}

// question is the name under which a tool's only question goes.
const question = "question"

// asked puts a tool's question and, when it is answered, checks the answer: nil lets the call go on.
func (h *Host) asked(p *program, ask ServerAsk, call string, params *mcp.CallToolParamsRaw) (*mcp.CallToolResult, error) {
	if ask.URL != "" {
		return nil, h.visit(p, ask, call)
	}
	given, answered := params.InputResponses[question].(*mcp.ElicitResult)
	state := "asked for " + call
	switch {
	case !answered:
		return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{question: &mcp.ElicitParams{
			Mode: "form", Message: ask.Message, RequestedSchema: json.RawMessage(ask.Schema),
		}}}, nil
	case ask.Forgets || params.RequestState != state:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not one of ours"}
	}
	if given.Action != "accept" {
		refused := textResult(fmt.Sprintf("Nothing was done: the answer to %q was %s.", ask.Message, given.Action))
		refused.IsError = true
		return refused, nil
	}
	raw, err := json.Marshal(given.Content)
	if err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	return textResult("Done with " + string(raw)), nil
}

// visit asks for a page to be visited, the first time a call comes.
func (h *Host) visit(p *program, ask ServerAsk, call string) error {
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

// promptArgument is an argument in the text of a prompt.
var promptArgument = regexp.MustCompile(`\{(\w+)\}`)

// addPrompts offers the scripted texts to be filled in, by name.
func (h *Host) addPrompts(server *mcp.Server) {
	for _, name := range slices.Sorted(maps.Keys(h.o.Prompts)) {
		text := h.o.Prompts[name]
		prompt := &mcp.Prompt{Name: name}
		for _, m := range promptArgument.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(prompt.Arguments, func(a *mcp.PromptArgument) bool { return a.Name == m[1] }) {
				prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: m[1], Required: true})
			}
		}
		server.AddPrompt(prompt, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			filled := promptArgument.ReplaceAllStringFunc(text, func(word string) string { return req.Params.Arguments[word[1:len(word)-1]] })
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: filled}}}}, nil
		})
	}
}

// ServerReceived is what reached a server from its clients: what a client promises to send,
// only the other side can show.
type ServerReceived struct {
	// Called are the calls of tools, by the ids in their _meta; Cancelled are those of them
	// that a notification called off.
	Called, Cancelled []string
	// Opened counts the connections, Closed those that the client ended itself.
	Opened, Closed int
}

// Received gives what reached each server so far, by its name.
func (h *Host) Received() map[string]ServerReceived {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]ServerReceived{}
	for name, p := range h.servers {
		all[name] = p.received
	}
	return all
}

// receive notes a message of a client and gives the fault that it meets, which may have taken the server away, and
// the call it is made for. calls are the ids of the connection's calls, by the numbers of their requests.
func (h *Host) receive(p *program, calls map[any]string, msg *jsonrpc.Request) (fault ServerFault, call string) {
	var params struct {
		Name    string         `json:"name"`
		Meta    map[string]any `json:"_meta"`
		Request int64          `json:"requestId"`
	}
	_ = json.Unmarshal(msg.Params, &params) // what is no object names nothing
	call, _ = params.Meta[MetaCall].(string)
	h.mu.Lock()
	switch msg.Method {
	case "tools/call":
		calls[msg.ID.Raw()] = call
		p.received.Called = append(p.received.Called, call)
		fault = h.o.faultOf(p.spec.Name, params.Name, call)
	case "notifications/cancelled":
		if call, known := calls[params.Request]; known {
			p.received.Cancelled = append(p.received.Cancelled, call)
		}
	}
	h.mu.Unlock()
	if fault.Gone {
		h.takeAway(p, fault.Back)
	}
	return fault, call
}

// opened notes a new line, whose closing is seen at the client's end for certain: at the other end
// it may come after the server's own.
func (h *Host) opened(p *program, run *running, end *lineEnd) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.runs = append(p.runs, run)
	p.received.Opened++
	end.closed = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !run.cut {
			p.received.Closed++
		}
	}
}

// lineEnd is one end of a connection in memory. Messages go on it as they are: the library's own
// transports write each of them down and read it again, for which they take 64 KB of memory.
type lineEnd struct {
	in  <-chan sent
	out chan<- sent
	// line is over once end was called, at either end.
	line   context.Context
	end    context.CancelFunc
	once   sync.Once
	closed func()
}

// sent is a message, or text that is none.
type sent struct {
	msg jsonrpc.Message
	raw []byte
}

// Connect is [mcp.Transport.Connect].
func (l *lineEnd) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is [mcp.Connection.SessionID].
func (l *lineEnd) SessionID() string { return "" }

// Read is [mcp.Connection.Read].
func (l *lineEnd) Read(ctx context.Context) (jsonrpc.Message, error) {
	if l.line.Err() != nil {
		return nil, io.EOF // also where another message could be taken: which of the two comes must not be chance
	}
	select {
	case s := <-l.in:
		if s.raw == nil {
			return s.msg, nil
		}
		if err := json.Unmarshal(s.raw, new(json.RawMessage)); err != nil {
			return nil, err // the library's own reader finds no JSON before it looks for a message
		}
		return jsonrpc.DecodeMessage(s.raw)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.line.Done():
		return nil, io.EOF
	}
}

// Write is [mcp.Connection.Write]. An error is written down, since what comes of it is another one.
func (l *lineEnd) Write(ctx context.Context, msg jsonrpc.Message) error {
	s := sent{msg: msg}
	if answer, ok := msg.(*jsonrpc.Response); ok && answer.Error != nil {
		raw, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		s.raw = raw
	}
	return l.send(ctx, s)
}

// send gives the other end a message, and waits until it is taken.
func (l *lineEnd) send(ctx context.Context, s sent) error {
	if l.line.Err() != nil {
		return io.ErrClosedPipe
	}
	select {
	case l.out <- s:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.line.Done():
		return io.ErrClosedPipe
	}
}

// Close ends the line for both ends.
func (l *lineEnd) Close() error {
	if l.closed != nil {
		l.once.Do(l.closed)
	}
	l.end()
	return nil
}
