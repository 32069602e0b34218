package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// servedTools are the ones that need no model and no person.
var servedTools = []string{"Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "TaskOutput", "TaskStop", "WebFetch", "Write"}

type mcpServeFlags struct {
	workplaceFlags
	addr   string
	expose bool
	tools  []string
}

func (a *app) mcpServeCommand() *cobra.Command {
	f := mcpServeFlags{workplaceFlags: workplaceFlags{root: ".", sandbox: "auto"}}
	cmd := &cobra.Command{
		Use: "serve", Short: "Offer our own tools to any MCP client",
		Long: "Offers the built-in tools to any MCP client, in a folder of this machine: over the standard\nstreams, or over streamable HTTP with --addr. Nobody can be asked: what the rules and the mode do\nnot allow is refused, with the reason as the result. Calls run one after the other, but\nthose that came while one ran and may run side by side.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcpServe(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	f.workplaceFlags.add(flags)
	flags.StringVar(&f.addr, "addr", "", "listen here for streamable HTTP, instead of the standard streams; port 0 takes a free one")
	flags.BoolVar(&f.expose, "expose", false, "let --addr be one that other machines reach")
	repeatable(flags, &f.tools, "tool", "offer this built-in tool, instead of those that need no model and no person")
	return cmd
}

// mcpServe makes the tools and serves them until the client has gone or it is interrupted.
func (a *app) mcpServe(ctx context.Context, f mcpServeFlags) error {
	if f.addr != "" {
		if _, err := reachable("--addr", f.addr, f.expose); err != nil {
			return err
		}
	}
	w := workplace{a: a, flags: f.workplaceFlags, notice: func(text string) { a.logf("%s", text) }}
	defer w.close()
	if err := w.place(); err != nil {
		return err
	}
	if len(f.tools) == 0 {
		f.tools = slices.Concat(servedTools, f.backends.tools())
	}
	known := builtin.Names()
	for _, name := range f.tools {
		if !slices.Contains(known, name) {
			return usage("--tool %s: there is no such built-in tool%s; see `toolbench list tools`", name, closest(name, known))
		}
	}
	c := &callers{queue: make(chan pendingCall), waiting: map[string]pendingCall{}, ended: make(chan struct{})}
	w.decorate = c.concern
	if err := w.tools(nil, tool.Servers{}, f.tools...); err != nil {
		return err
	}
	for _, p := range w.system.RuleProblems(w.rules) {
		if !p.Unknown || !slices.Contains(known, p.Hit.Rule.Tool()) { // a rule for what is not offered has its use elsewhere
			w.notice(p.String())
		}
	}
	tools := toolsOf(w.system.Catalogue.Entries())
	if err := c.open(ctx, &w); err != nil {
		return err
	}
	server, err := mcptool.Provide("toolbench", "1", tools, c.call)
	if err != nil {
		return harness(err)
	}
	return a.provide(ctx, server, f.addr)
}

// provide serves on the standard streams or on an address.
func (a *app) provide(ctx context.Context, server *mcp.Server, addr string) error {
	if addr == "" {
		err := server.Run(ctx, untilAnswered{&mcp.IOTransport{Reader: io.NopCloser(a.Stdin), Writer: unclosed{a.Stdout}}})
		switch _, broken := errors.AsType[*fs.PathError](err); {
		case err == nil || ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed):
			return nil
		case broken:
			return harness(err)
		}
		return usage("the standard input: %s; a client writes each message of JSON-RPC on a line of its own", err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return usage("--addr %s: %s", addr, err)
	}
	h := webServer(mcptool.Handler(server))
	a.logf("an MCP server is at http://%s", listener.Addr())
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return harness(err)
	}
	return nil
}

// unclosed is a writer that is its owner's to close.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }

// untilAnswered is a transport whose input ends only when all that was asked is answered. The library
// gives up what is still under way at the end of the input, which is soon there where it is a file,
// and at what is no message.
type untilAnswered struct{ mcp.Transport }

// Connect begins the connection, which ends with ctx as well.
func (t untilAnswered) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	c := &untilAnsweredConn{Connection: conn, asked: map[jsonrpc.ID]bool{}, answered: sync.NewCond(&sync.Mutex{})}
	context.AfterFunc(ctx, func() { c.change(func() { c.over = true }) })
	return c, err
}

type untilAnsweredConn struct {
	mcp.Connection
	asked map[jsonrpc.ID]bool
	// over: no answer comes any more, since ctx ended or nobody takes it.
	over bool
	// answered guards both, and is woken when they change.
	answered *sync.Cond
}

func (c *untilAnsweredConn) change(do func()) {
	c.answered.L.Lock()
	defer c.answered.L.Unlock()
	do()
	c.answered.Broadcast()
}

// Read gives the next message, or the end of the input.
func (c *untilAnsweredConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.answered.L.Lock()
	defer c.answered.L.Unlock()
	if request, ok := m.(*jsonrpc.Request); ok && request.IsCall() {
		c.asked[request.ID] = true
	}
	for err != nil && len(c.asked) > 0 && !c.over {
		c.answered.Wait()
	}
	return m, err
}

// Write sends a message.
func (c *untilAnsweredConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.change(func() {
		if answer, ok := m.(*jsonrpc.Response); ok {
			delete(c.asked, answer.ID)
		}
		c.over = c.over || err != nil && ctx.Err() == nil
	})
	return err
}

// callers brings the calls of clients to a conversation, whose model they are: each request
// for the model's next message is answered with the calls that came since.
type callers struct {
	queue chan pendingCall

	mu      sync.Mutex
	waiting map[string]pendingCall
	n       int
	ended   chan struct{}
	why     error
}

// pendingCall is a call with the place where its result is waited for.
type pendingCall struct {
	// client ends when the client gives the call up.
	client context.Context
	tool   string
	input  json.RawMessage
	result chan message.Block
}

// open begins the conversation.
func (c *callers) open(ctx context.Context, w *workplace) error {
	set := w.flags.backends.settings(settings.External())
	set.ToolSearch.Kind = settings.Off
	session, err := w.system.Open(loop.Config{
		Model: c.model, Settings: set, Policy: schedule.Streaming, NonInteractive: true, Home: "/", MaxTurns: 1 << 30,
		State: tool.State{Dir: w.root, Root: w.root, Rules: w.rules, Mode: w.mode, Env: w.commandEnv()},
		// What was answered is of no use to later calls: the state knows what was read.
		Compact: func(_ context.Context, history []message.Message) (loop.Summary, bool, error) {
			return loop.Summary{Text: "Earlier calls were answered.", Keep: 2}, len(history) > forgotten, nil
		},
	})
	if err != nil {
		return usage("%s", err)
	}
	go func() {
		_, err := session.Send(ctx, message.UserText("Calls of clients follow."))
		c.why = err
		close(c.ended)
	}()
	return nil
}

// forgotten is after how many messages the conversation begins anew.
const forgotten = 200

// call hands one call on and waits for its result.
func (c *callers) call(ctx context.Context, name string, input json.RawMessage) (message.Block, error) {
	one := pendingCall{ctx, name, input, make(chan message.Block, 1)}
	for queue := c.queue; ; {
		select {
		case queue <- one:
			queue = nil // handed on: its result is left to wait for
		case result := <-one.result:
			return result, nil
		case <-ctx.Done():
			return message.Block{}, context.Cause(ctx)
		case <-c.ended:
			return message.Block{}, fmt.Errorf("the server has ended: %w", c.why)
		}
	}
}

// model answers the calls that are done, and makes of those that came since the next
// message.
func (c *callers) model(ctx context.Context, req message.Request, on func(data []byte) error) error {
	// Mail may stand behind the results, in messages of its own.
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role == message.User; i-- {
		c.answer(req.Messages[i].Results())
	}
	var first pendingCall
	select {
	case first = <-c.queue:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := on([]byte(`{"type":"message_start","message":{"id":"calls","content":[]}}`)); err != nil {
		return err
	}
	for i, one := 0, first; ; i++ {
		if err := c.write(i, one, on); err != nil {
			return err
		}
		select {
		case one = <-c.queue:
			continue
		default:
		}
		break
	}
	if err := on([]byte(`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`)); err != nil {
		return err
	}
	return on([]byte(`{"type":"message_stop"}`))
}

// errGivenUp ends a call that its client gave up.
var errGivenUp = errors.New("the client gave the call up")

// concern makes of a tool one whose calls end when their client gives them up, and which gives
// all that it brings as its result: a client has no conversation that the rest could follow in.
// Its failures stop nobody, since calls of one message may be of clients that know nothing of
// each other.
func (c *callers) concern(t *tool.Tool) *tool.Tool {
	concerned := *t
	concerned.Behaviour.FailureStopsSiblings = false
	concerned.Call = func(ctx context.Context, in tool.Input, at *tool.Context) (tool.Output, error) {
		c.mu.Lock()
		one := c.waiting[at.CallID]
		c.mu.Unlock()
		if one.client != nil {
			running, stop := context.WithCancelCause(ctx)
			defer stop(nil)
			defer context.AfterFunc(one.client, func() { stop(errGivenUp) })()
			ctx = running
			if one.client.Err() != nil {
				return tool.Output{}, errGivenUp
			}
		}
		out, err := t.Call(ctx, in, at)
		for _, m := range out.Messages {
			out.Blocks = append(out.Blocks, m.Content...)
		}
		out.Messages = nil
		return out, err
	}
	return &concerned
}

func (c *callers) answer(results []message.Block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range results {
		if one, waits := c.waiting[r.ToolUseID]; waits {
			one.result <- r
			delete(c.waiting, r.ToolUseID)
		}
	}
}

// write makes a block of a call.
func (c *callers) write(index int, one pendingCall, on func(data []byte) error) error {
	c.mu.Lock()
	c.n++
	id := fmt.Sprintf("call_%d", c.n)
	c.waiting[id] = one
	c.mu.Unlock()
	block, err := json.Marshal(map[string]any{
		"type": "content_block_start", "index": index,
		"content_block": map[string]any{"type": "tool_use", "id": id, "name": one.tool, "input": one.input},
	})
	if err != nil {
		return err
	}
	if err := on(block); err != nil {
		return err
	}
	return on(fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, index))
}
