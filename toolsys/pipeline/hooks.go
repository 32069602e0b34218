package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/trace"
)

// preHooks runs PreToolUse: hooks may rewrite the input, decide permission, stop the call and add context (G1).
func (r *run) preHooks(ctx context.Context) *Result {
	if !r.hooked(hook.PreToolUse) {
		return nil
	}
	seen := r.observed()
	m := r.hooks(ctx, hook.PreToolUse, nil)
	if cause := context.Cause(ctx); cause != nil {
		return r.stopped(cause)
	}
	r.addContext(m)
	if m.Stop {
		return r.failed(Stopped, "The hook %s stopped this call: %s", m.StopBy, m.StopReason)
	}
	r.opinion = &permission.Opinion{Behaviour: m.Decision, Text: m.Reason}
	if m.Input != nil {
		return r.rewrite(ctx, m.Input, seen, "a hook")
	}
	return nil
}

// hooked reports whether a hook is registered for this call at event.
func (r *run) hooked(event hook.Event) bool {
	return r.p.Handlers.Hooks.Matches(event, r.name(), r.pre.tool.OtherNames())
}

// hooks runs the hooks of one event and traces what each did.
func (r *run) hooks(ctx context.Context, event hook.Event, fill func(*hook.Input)) hook.Merged {
	if !r.hooked(event) {
		return hook.Merged{}
	}
	in := hook.Input{
		Event: event, Tool: r.name(), Aliases: r.pre.tool.OtherNames(), Call: r.pre.Call.ID, Turn: r.pre.Call.Turn,
		Agent: r.context.AgentID, Dir: r.context.State.Dir, Mode: r.context.Mode, Input: r.observed(),
	}
	if fill != nil {
		fill(&in)
	}
	m := r.p.Handlers.Hooks.Run(ctx, in, r.measure(event, in.Input))
	for _, report := range m.Reports {
		r.trace(trace.Hook{
			Event: string(event), Hook: report.Hook, Did: strings.Join(report.Did, ","), Trouble: report.Trouble, Took: report.Took,
		})
	}
	return m
}

// measure gives how much of this call a hook's `if`, in rule syntax, is about. A condition that nobody
// can read holds, as does one that may be meant: a hook is a guard, and a guard is not dropped for
// a typing error, nor for what a hook before it made of the input.
func (r *run) measure(event hook.Event, seen json.RawMessage) hook.Measure {
	return func(rule string, input json.RawMessage) hook.Extent {
		parsed, err := permission.ParseRule(rule)
		if err != nil {
			return hook.Part
		}
		switch q := r.queryOf(event, seen, input); {
		case parsed.CoversAll(q):
			return hook.Whole
		case parsed.MayCover(q):
			return hook.Part
		}
		return hook.Nothing
	}
}

// queryOf describes the call with the input that hooks so far made of what they saw. With one that
// does not fit the tool it would not run, and is described as it was.
func (r *run) queryOf(event hook.Event, seen, input json.RawMessage) (q permission.Query) {
	in := r.pre.input
	if event == hook.PreToolUse && !bytes.Equal(seen, input) {
		raw, _ := without(unfill(input, seen, in.Raw), r.pre.tool.Internal)
		if made, problems := r.pre.tool.Parse(raw); len(problems) == 0 {
			in = made
		}
	}
	describe(&q, r.pre.tool, &in, r.context, r.p.Handlers.Resolve)
	return q
}

func (r *run) addContext(m hook.Merged) {
	for _, text := range m.Context {
		r.add(message.UserText(text))
	}
	r.add(m.Messages...)
}

// add keeps messages that follow the call's result. Questions of a server come beside the call,
// and beside each other.
func (r *run) add(messages ...message.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added = append(r.added, messages...)
}

// takeAdded gives the messages that were kept so far.
func (r *run) takeAdded() []message.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := r.added
	r.added = nil
	return added
}

// postHooks runs PostToolUse or PostToolUseFailure. Hooks see and may change the output of every tool alike (G1).
// Whatever stops the call meanwhile does not stop them, only their own time limits do: a hook that blanks an output
// is a guard, and a message at the right moment must not get past it.
func (r *run) postHooks(ctx context.Context, res *Result) {
	event := hook.PostToolUse
	if res.Error {
		event = hook.PostToolUseFailure
	}
	m := hook.Merged{}
	if r.hooked(event) {
		content, failed := res.Content, res.Error
		m = r.hooks(context.WithoutCancel(ctx), event, func(in *hook.Input) {
			in.Output = content
			if failed {
				in.Error = message.PlainText(content)
			}
		})
		r.addContext(m)
	}
	res.Messages = append(res.Messages, r.takeAdded()...)
	if m.Output != nil {
		res.Content, res.Data = m.Output, nil // it is not the tool's answer any more
	}
	if m.Stop {
		res.StopTurn, res.Reason = true, m.StopReason
	}
}

// Elicitation is what an MCP server asks in the middle of a call (N5): a form
// to fill in or a page to visit, in the protocol's own words.
type Elicitation struct {
	CallID, Tool, Server string
	Params               json.RawMessage
}

// declined is the answer where nobody is there to give one, or a hook forbids it.
var declined = json.RawMessage(`{"action":"decline"}`)

// elicit takes a server's question to the hooks, the person and the hooks again (N5). A hook may reword the question,
// refuse that it is answered, and change the answer. It fails only when the call is stopped: whatever else happens is
// a declined question, and the server decides what follows from that.
func (r *run) elicit(ctx context.Context, server string, params []byte) ([]byte, error) {
	w := r.watch()
	asked := r.hooksOn(ctx, hook.Elicitation, params)
	if asked.Input != nil {
		params = asked.Input
	}
	answer := declined
	if r.p.Handlers.Elicit != nil && !r.context.NonInteractive && !forbids(asked) && ctx.Err() == nil {
		began, release := r.p.now(), r.hold()
		given, err := r.p.Handlers.Elicit(ctx, Elicitation{CallID: r.pre.Call.ID, Tool: r.name(), Server: server, Params: params})
		release()
		r.waitedSince(began)
		if err == nil {
			answer = given
		}
	}
	after := r.hooksOn(ctx, hook.ElicitationResult, answer)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case forbids(after):
		answer = declined
	case after.Input != nil:
		answer = after.Input
	}
	r.passed(&w, "elicit", action(answer))
	return answer, nil
}

func forbids(m hook.Merged) bool { return m.Stop || m.Decision == permission.Deny }

// hooksOn runs the hooks of an elicitation; what they add for the model follows the call's result.
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
