package mcptool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolbench/toolsys/tool"
)

// phase is where a server stands.
type phase int

const (
	connecting phase = iota // for the first time
	up
	lost // it was there and is being connected again
	down // given up
)

// link is one server of a fleet. What follows f is guarded by the fleet's lock.
type link struct {
	Endpoint
	f *Fleet

	phase   phase
	current *session
	// settled is true once the server no longer holds up Ready.
	settled bool
	// fetch is the reading of its list that is under way; again asks for one more.
	fetch *fetch
	again bool
	// readings counts those since the last request.
	readings int
	// held is the list that stood when it was last read anew, for a reading that fails; ttl
	// is for how long the server has its lists stand, 0 for as long as it announces no change.
	held  []*mcp.Tool
	ttl   time.Duration
	calls []*openCall
	// reports, tokens and notes number its reports, its calls and their progress.
	reports, tokens, notes int
}

// session is one connection to a server, from its handshake until it is lost.
type session struct {
	client    *mcp.ClientSession
	line      *tap // nil for transports that cannot be observed
	began     time.Time
	resources bool
	prompts   bool
	// ends has the pages of its list, and until when each stands. One reading has it at a time.
	ends map[*mcp.ListToolsResult]time.Time
	// unsubscribed reports whether the server ended the stream on which it announces changes.
	// The fleet's lock guards it.
	unsubscribed bool
	ctx          context.Context
	end          context.CancelCauseFunc
}

// close ends the session on both levels: cutting the line first frees what waits for
// an answer that will not come.
func (v *session) close() {
	v.end(errClosed)
	v.line.close()
	_ = v.client.Close() // an error of closing changes nothing
}

func (l *link) actor(what string) string { return l.f.cfg.Prefix + "mcp/" + l.Name + "/" + what }

// keep connects the server and connects it again whenever it is lost, until it is given
// up or the fleet ends.
func (l *link) keep() {
	for failures := 0; ; {
		v, listed, err := l.open()
		if err == nil {
			l.connected(v, listed)
			<-v.ctx.Done()
			err = fmt.Errorf("it is gone: %w", context.Cause(v.ctx))
			l.disconnected(lost)
			v.close()
			if l.f.cfg.Clock.Now().Sub(v.began) >= stable {
				failures = 0
			}
		}
		if failures++; !l.pause(failures, err) {
			return
		}
	}
}

// pause reports what went wrong and waits for the next attempt; false when there is
// none.
func (l *link) pause(failures int, err error) bool {
	clock := &l.f.cfg.Clock
	if clock.Sleep(l.f.ctx, l.actor("keep"), 0) != nil {
		return false
	}
	if failures > l.f.cfg.Attempts {
		l.disconnected(down)
		what := err.Error()
		if failures > 1 {
			what += fmt.Sprintf("; it is given up after %d failures in a row, and its tools are gone", failures)
		}
		l.report(what)
		return false
	}
	wait := l.f.cfg.Backoff(failures)
	l.report(fmt.Sprintf("%v; it is connected again in %s", err, wait))
	l.settleNow()
	return clock.Sleep(l.f.ctx, l.actor("keep"), wait) == nil
}

func (l *link) report(what string) {
	if l.f.cfg.Report != nil {
		l.f.cfg.Report(Report{Server: l.Name, What: what})
	}
}

// remark is a report out of a goroutine that is not the fleet's: it is made through the
// clock, so that it has its place among what happens.
func (l *link) remark(what string) {
	l.f.mu.Lock()
	l.reports++
	actor := l.actor(fmt.Sprintf("report/%d", l.reports))
	l.f.mu.Unlock()
	l.f.start(actor, func() { l.report(what) })
}

// connected puts a new session in place; what was listed before is forgotten (N6).
func (l *link) connected(v *session, listed []*mcp.Tool) {
	f := l.f
	f.mu.Lock()
	l.phase, l.current = up, v
	l.keepList(listed)
	f.version++
	begin := l.again && l.prepareFetch(listed)
	f.mu.Unlock()
	if begin {
		f.start(l.actor("list"), l.refetch)
	}
	l.settleNow()
}

func (l *link) disconnected(to phase) {
	f := l.f
	f.mu.Lock()
	l.phase, l.current = to, nil
	if to == down {
		f.lists.drop(l.Name)
		f.version++
	}
	f.mu.Unlock()
	l.settleNow()
}

// settleNow counts the server as settled, once.
func (l *link) settleNow() {
	f := l.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.settled {
		return
	}
	l.settled = true
	if f.unsettled--; f.unsettled == 0 {
		f.settle()
	}
}

// client is the library's session that calls are made through.
func (l *link) client(context.Context) (*mcp.ClientSession, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	switch {
	case l.phase == up && l.current.ctx.Err() == nil:
		return l.current.client, nil
	case l.phase == connecting:
		return nil, fmt.Errorf("%w: %q is still being connected", ErrGone, l.Name)
	case l.phase == down:
		return nil, fmt.Errorf("%w: %q did not come back and was given up", ErrGone, l.Name)
	}
	return nil, fmt.Errorf("%w: %q was lost and is being connected again; try later", ErrGone, l.Name)
}

// broken reports whether err means that the session is lost, and then ends it.
func (l *link) broken(session *mcp.ClientSession, err error) bool {
	l.f.mu.Lock()
	v := l.current
	l.f.mu.Unlock()
	if v == nil || v.client != session || v.ctx.Err() != nil {
		return true
	}
	// Without a tap an answer that cannot be read looks like a connection that broke.
	if v.line == nil || severed(err) {
		// Without the call that met it: the connection itself may give the same error before, or after.
		v.end(cmp.Or(errors.Unwrap(err), err))
		return true
	}
	return false
}

func (l *link) server() Server {
	hope := map[bool]string{true: ". It is being connected again"}[l.f.cfg.Attempts > 0]
	return Server{Name: l.Name, Bare: l.Bare, Session: l.client, broken: l.broken, track: l.track, hope: hope}
}

// openCall is a call that the server works on: whom it concerns when the server asks.
type openCall struct {
	ctx context.Context
	c   *tool.Context
	// token is what the server reports its progress with.
	token string
}

// track notes a call for as long as it runs, and gives its progress token.
func (l *link) track(ctx context.Context, c *tool.Context) (token string, done func()) {
	call := &openCall{ctx: ctx, c: c}
	l.f.mu.Lock()
	l.tokens++
	call.token = fmt.Sprintf("%s-%d", l.Name, l.tokens)
	l.calls = append(l.calls, call)
	l.f.mu.Unlock()
	return call.token, func() {
		l.f.mu.Lock()
		defer l.f.mu.Unlock()
		l.calls = slices.DeleteFunc(slices.Clone(l.calls), func(other *openCall) bool { return other == call })
	}
}

// progressed hands a server's report of progress to the call it belongs to, if that
// still runs. It goes through the clock, so that it has its place among what happens.
func (l *link) progressed(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	p := req.Params
	l.f.mu.Lock()
	i := slices.IndexFunc(l.calls, func(c *openCall) bool { return p.ProgressToken == c.token })
	if i < 0 || l.calls[i].c.Running == nil {
		l.f.mu.Unlock()
		return
	}
	report := l.calls[i].c.Progress
	l.notes++
	actor := l.actor(fmt.Sprintf("progress/%d", l.notes))
	l.f.mu.Unlock()
	text := p.Message
	if text == "" {
		text = fmt.Sprintf("progress %g", p.Progress)
		if p.Total > 0 {
			text += fmt.Sprintf(" of %g", p.Total)
		}
	}
	l.f.start(actor, func() { report(text) })
}

// us is how this client introduces itself.
var us = &mcp.Implementation{Name: "toolbench", Version: "1"}

// open makes one attempt: the transport, the handshake and the first list, within the
// limit of one. Nothing is left of an attempt that fails.
func (l *link) open() (*session, []*mcp.Tool, error) {
	ctx, done := l.f.within(l.actor("open"), l.f.cfg.ConnectLimit)
	defer done()
	transport, err := l.Dial(l.f.ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be reached: %w", err)
	}
	v := &session{began: l.f.cfg.Clock.Now()}
	v.ctx, v.end = context.WithCancelCause(l.f.ctx)
	// The library recognizes connections over streamable HTTP by their type, so these are not tapped.
	if _, streamable := transport.(*mcp.StreamableClientTransport); !streamable {
		v.line = &tap{Transport: transport, link: l, session: v}
		transport = v.line
	}
	v.client, err = l.newClient(v).Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: l.Protocol})
	if err != nil {
		v.end(err)
		v.line.close() // the library leaves it open on some of its ways out
		return nil, nil, fmt.Errorf("it cannot be connected: %w", why(ctx, v.ctx, err))
	}
	listed, err := l.read(ctx, v)
	if err != nil {
		v.close()
		return nil, nil, fmt.Errorf("its tools cannot be listed: %w", err)
	}
	if info := v.client.InitializeResult(); info != nil && info.Capabilities != nil {
		v.resources, v.prompts = info.Capabilities.Resources != nil, info.Capabilities.Prompts != nil
	}
	l.f.start(l.actor("watch"), func() { v.end(cmp.Or(v.client.Wait(), errors.New("the connection was closed"))) })
	return v, listed, nil
}

// why prefers the reason for which something was given up to the error it gave. What the server itself answered
// comes before the end of the session, which the library closes then.
func why(attempt, session context.Context, err error) error {
	if !severed(err) {
		session = context.Background()
	}
	return cmp.Or(context.Cause(attempt), context.Cause(session), err)
}

// newClient makes the library's client of one session. Questions of a server are answered
// here and not by the library, which would ask several at once in any order (N5).
func (l *link) newClient(v *session) *mcp.Client {
	return mcp.NewClient(us, &mcp.ClientOptions{
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { l.changed(v) },
		ElicitationHandler:          l.elicited,
		ProgressNotificationHandler: l.progressed,
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
	})
}

// Stdio is the way to a server that is a program: each session starts it anew and ends
// it (N3). The command is the caller's to make, with its environment and its standard
// error, which also gets what the program prints that is no message, and which several
// goroutines may write to. What the program leaves behind, as npx does, is killed at the
// end of the session where kill is not nil: it is what host.Grouped gives.
func Stdio(command func(context.Context) (cmd *exec.Cmd, kill func())) func(context.Context) (mcp.Transport, error) {
	return func(ctx context.Context) (mcp.Transport, error) {
		cmd, kill := command(ctx)
		cmd.WaitDelay = stopGrace
		return program{Cmd: cmd, kill: kill}, nil
	}
}

// stopGrace is what a program has to end by itself once its input is closed, and what its output has to end with it.
const stopGrace = 2 * time.Second

// program is the way to a program, and the connection to one that runs.
type program struct {
	*exec.Cmd
	kill func()
	mcp.Connection
	ended chan struct{}
}

// Connect is [mcp.Transport.Connect].
func (p program) Connect(ctx context.Context) (mcp.Connection, error) {
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, printed := io.Pipe()
	from, to := io.Pipe()
	p.Stdout, p.ended = printed, make(chan struct{})
	if err := p.Start(); err != nil {
		return nil, err
	}
	go sift(out, cmp.Or(p.Stderr, io.Discard), to)
	go func() {
		_, _ = p.Process.Wait() // what p.Wait waits for as well, with an error that changes nothing
		if p.kill != nil {
			p.kill() // what the program left behind would keep its output open
		}
		_ = p.Wait()
		_ = printed.Close()
		close(p.ended)
	}()
	p.Connection, err = (&mcp.IOTransport{Reader: from, Writer: in}).Connect(ctx)
	return p, err
}

// Close is [mcp.Connection.Close]: the program's input is closed, and it is ended if it does not end by that.
func (p program) Close() error {
	err := p.Connection.Close()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Kill, os.Kill} {
		select {
		case <-p.ended:
			return err
		case <-time.After(stopGrace):
			_ = p.Process.Signal(signal) // it may have ended just now
		}
	}
	return err
}

// maxPrinted and maxPrintedLine are how many bytes go to a session's log of what is no message, and of a line of it.
const maxPrinted, maxPrintedLine = 64 << 10, 1 << 10

// sift hands on what a program prints of messages, a line each. The protocol has it print nothing else, but npm, docker and
// many a library do, so that its own clients pass over that; here it goes to a log. By a message that is broken the
// connection fails: a call would wait in vain for the answer that it was to be.
func sift(out io.Reader, log io.Writer, to *io.PipeWriter) {
	in, room := bufio.NewScanner(out), maxPrinted
	in.Buffer(nil, MaxAnswer)
	var broken error
	for broken == nil && in.Scan() {
		line := bytes.TrimSpace(bytes.TrimPrefix(in.Bytes(), []byte("\ufeff")))
		if bytes.Contains(line, []byte(`"jsonrpc"`)) {
			_, err := jsonrpc.DecodeMessage(line)
			if err == nil || bytes.HasPrefix(line, []byte("[{")) {
				_, _ = fmt.Fprintf(to, "%s\n", line) // an error means that nobody reads any more
				continue
			}
			if line[0] == '{' && !json.Valid(line) {
				broken = err
			}
		}
		if line = line[:min(len(line), room, maxPrintedLine)]; len(line) > 0 && broken == nil {
			room -= len(line)
			_, _ = fmt.Fprintf(log, "%s\n", line) // a log that takes nothing changes nothing
		}
	}
	if in.Err() != nil {
		broken = errTooLong // the only error of a scanner over a pipe
	}
	_ = to.CloseWithError(broken)
	_, _ = io.Copy(io.Discard, out) // so that the program can come to its end
}

// Write is [mcp.Connection.Write]. Where the program does not read, a message waits no longer than its call: the
// library would wait until it does.
func (p program) Write(ctx context.Context, msg jsonrpc.Message) error {
	written := make(chan error, 1)
	go func() { written <- p.Connection.Write(context.WithoutCancel(ctx), msg) }()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// HTTP is the way to a server behind an address, over streamable HTTP (N3). A server that
// asks for OAuth is answered by let; with nil its refusal stands. The library takes up a
// stream once where its server ended it; all other attempts are the fleet's, which gives
// up at some time.
func HTTP(endpoint string, client *http.Client, let *Authorization) func(context.Context) (mcp.Transport, error) {
	own := *cmp.Or(client, http.DefaultClient)
	own.Transport = bounded{cmp.Or(own.Transport, http.DefaultTransport)}
	transport := mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &own, MaxRetries: 1, MaxEventSize: MaxAnswer}
	var err error
	if let != nil {
		// One handler for all sessions: what was granted to one serves the next.
		transport.OAuthHandler, err = let.handler()
	}
	return func(context.Context) (mcp.Transport, error) {
		each := transport
		return &each, err
	}
}

// MaxAnswer is how many bytes of a server's answer are read, or of an event of a stream.
const MaxAnswer = mcp.DefaultMaxEventSize

var errTooLong = fmt.Errorf("the answer has more than %d MB", MaxAnswer>>20)

// bounded is a transport whose answers end in an error behind MaxAnswer, unless they are streams.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err == nil && (resp.StatusCode >= http.StatusMultipleChoices || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")) {
		resp.Body = &answer{resp.Body, MaxAnswer}
	}
	return resp, err
}

// answer is a body of which so many bytes are left.
type answer struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if a.left -= n; a.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
