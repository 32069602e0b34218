package pipeline

import (
	"context"
	"encoding/json"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
)

// Elicitation is what an MCP server wants to know in the middle of a call (N5): a form
// to fill in or a page to visit, in the protocol's own words.
type Elicitation struct {
	CallID, Tool, Server string
	Params               json.RawMessage
}

// declined is the answer where nobody is there to give one, or a hook forbids it.
var declined = json.RawMessage(`{"action":"decline"}`)

// elicit takes a server's question to the hooks, the person and the hooks again (N5). A
// hook may reword the question, refuse that it is answered, and change the answer. It
// fails only when the call is stopped: whatever else happens is a declined question, and
// the server says what comes of that.
func (r *run) elicit(ctx context.Context, server string, params []byte) ([]byte, error) {
	w := r.watch()
	asked := r.hooksOn(ctx, hook.Elicitation, params)
	if asked.Input != nil {
		params = asked.Input
	}
	answer := declined
	if r.p.Doors.Elicit != nil && !r.context.NonInteractive && !forbids(asked) && ctx.Err() == nil {
		began, release := r.p.now(), r.hold()
		given, err := r.p.Doors.Elicit(ctx, Elicitation{CallID: r.call.ID, Tool: r.name(), Server: server, Params: params})
		release()
		r.waitedSince(began)
		if err == nil {
			answer = given
		}
	}
	heard := r.hooksOn(ctx, hook.ElicitationResult, answer)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case forbids(heard):
		answer = declined
	case heard.Input != nil:
		answer = heard.Input
	}
	r.stage("elicit", action(answer), w.took())
	return answer, nil
}

func forbids(m hook.Merged) bool { return m.Stop || m.Decision == permission.Deny }

// hooksOn runs the hooks of an elicitation; what they add for the model follows the
// call's result.
func (r *run) hooksOn(ctx context.Context, event hook.Event, on []byte) hook.Merged {
	m := r.hooks(ctx, event, func(in *hook.Input) { in.Input = on })
	r.addContext(m)
	return m
}

// action is what an answer comes to, for the trace.
func action(answer json.RawMessage) string {
	var said struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(answer, &said) != nil || said.Action == "" {
		return "unreadable"
	}
	return said.Action
}
