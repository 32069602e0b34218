package pipeline

import (
	"context"
	"strings"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/trace"
)

// preHooks runs PreToolUse: hooks may rewrite the input, decide permission, stop
// the call and add context (G1).
func (r *run) preHooks(ctx context.Context) *Result {
	if !r.heard(hook.PreToolUse) {
		return nil
	}
	return r.askHooks(ctx)
}

// heard says whether a hook listens to this call at event.
func (r *run) heard(event hook.Event) bool {
	return r.p.Doors.Hooks.Hears(event, r.name(), r.tool.Aliases)
}

func (r *run) askHooks(ctx context.Context) *Result {
	seen := r.observed()
	m := r.hooks(ctx, hook.PreToolUse, nil)
	if cause := context.Cause(ctx); cause != nil {
		res := r.stopped(cause)
		return &res
	}
	r.addContext(m)
	if m.Stop {
		return r.failed(Stopped, "The hook %s stopped this call: %s", m.StopBy, m.StopReason)
	}
	r.opinion = permission.Opinion{Behaviour: m.Decision, Text: m.Reason}
	if m.Input != nil {
		return r.rewrite(ctx, m.Input, seen, "a hook")
	}
	return nil
}

// hooks runs the hooks of one event and traces what each did.
func (r *run) hooks(ctx context.Context, event hook.Event, fill func(*hook.Input)) hook.Merged {
	if !r.heard(event) {
		return hook.Merged{}
	}
	in := hook.Input{
		Event: event, Tool: r.name(), Aliases: r.tool.Aliases, Call: r.call.ID, Turn: r.call.Turn,
		Agent: r.context.AgentID, Dir: r.context.State.Dir, Mode: r.context.Mode, Input: r.observed(),
	}
	if fill != nil {
		fill(&in)
	}
	m := r.p.Doors.Hooks.Run(ctx, in, r.matches)
	for _, report := range m.Reports {
		r.p.trace(r.call, r.name(), trace.Hook{
			Event: string(event), Hook: report.Hook, Did: strings.Join(report.Did, ","), Trouble: report.Trouble, Took: report.Took,
		})
	}
	return m
}

// matches tells whether a hook's `if`, in rule syntax, speaks of this call. A
// condition nobody can read holds: a hook is a guard, and a guard is not dropped
// for a typing error.
func (r *run) matches(rule string) bool {
	parsed, err := permission.ParseRule(rule)
	return err != nil || parsed.Covers(r.query())
}

func (r *run) addContext(m hook.Merged) {
	for _, text := range m.Context {
		r.added = append(r.added, message.UserText(text))
	}
	r.added = append(r.added, m.Messages...)
}

// postHooks runs PostToolUse or PostToolUseFailure. Hooks see and may change the
// output of every tool alike (G1). Whatever stops the call meanwhile does not stop
// them, only their own time limits do: a hook that blanks an output is a guard, and
// speaking in the right moment must not get past it.
func (r *run) postHooks(ctx context.Context, res *Result) {
	ctx = context.WithoutCancel(ctx)
	event := hook.PostToolUse
	if res.Block.IsError {
		event = hook.PostToolUseFailure
	}
	m := r.hooks(ctx, event, func(in *hook.Input) {
		in.Output = res.Block.Content
		if res.Block.IsError {
			in.Error = message.PlainText(res.Block.Content)
		}
	})
	r.addContext(m)
	res.Messages = append(res.Messages, r.added...)
	r.added = nil
	if m.Output != nil {
		res.Block.Content = m.Output
	}
	if m.Stop {
		res.StopTurn, res.Reason = true, m.StopReason
	}
}
