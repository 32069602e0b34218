package mcptool

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// us is how this client introduces itself.
var us = &mcp.Implementation{Name: "toolbench", Version: "1"}

// open makes one attempt: the transport, the handshake and the first list, within the
// limit of one. Nothing is left of an attempt that fails.
func (l *link) open() (*life, []*mcp.Tool, error) {
	ctx, done := l.f.within(l.actor("open"), l.f.cfg.ConnectLimit)
	defer done()
	transport, err := l.Dial(l.f.ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be reached: %w", err)
	}
	v := &life{began: l.f.cfg.Clock.Now()}
	v.ctx, v.end = context.WithCancelCause(l.f.ctx)
	if tappable(transport) {
		v.line = &tap{Transport: transport, broken: v.end, odd: l.remark}
		transport = v.line
	}
	v.session, err = l.client(v).Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: l.Protocol})
	if err != nil {
		v.end(err)
		v.line.close() // the library leaves it open on some of its ways out
		return nil, nil, fmt.Errorf("it cannot be connected: %w", why(ctx, v.ctx, err))
	}
	listed, err := List(ctx, v.session)
	if err != nil {
		err = why(ctx, v.ctx, err)
		v.close()
		return nil, nil, fmt.Errorf("its tools cannot be listed: %w", err)
	}
	if info := v.session.InitializeResult(); info != nil && info.Capabilities != nil {
		v.resources = info.Capabilities.Resources != nil
	}
	l.f.start(l.actor("watch"), func() {
		v.end(ended(v.session.Wait()))
	})
	return v, listed, nil
}

// errHungUp is the cause of a session that ended without another.
var errHungUp = errors.New("the connection was closed")

func ended(err error) error {
	if err == nil {
		return errHungUp
	}
	return err
}

// why prefers the reason for which something was given up to the error it gave.
func why(attempt, session context.Context, err error) error {
	for _, ctx := range []context.Context{attempt, session} {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
	}
	return err
}

// client is the library's client of one session. Questions of a server are answered
// here and not by the library, which would ask several at once in any order (N5).
func (l *link) client(v *life) *mcp.Client {
	return mcp.NewClient(us, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { l.changed(v) },
		ElicitationHandler:     l.elicited,
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
	})
}
