package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// permission resolves the call (F2): rules, hook, tool, mode, person, in that order; the decision is traced with its
// reason (F3). An input that the tool's check or the person put in the place of another goes through all of it again,
// so that no rewriting gets past a rule (G2); each of the two can do so once.
func (r *run) permission(ctx context.Context) *Result {
	for again := false; ; again = true {
		d, res := r.decide(ctx)
		if res != nil {
			return res
		}
		allowed := d.Behaviour == permission.Allow
		if !again || !allowed {
			r.decided(d)
		}
		switch {
		case !allowed:
			return r.denied(ctx, d)
		case d.UpdatedInput == nil:
			return nil
		}
		if res := r.rewrite(ctx, d.UpdatedInput, r.observed(), "permission"); res != nil {
			return res
		}
	}
}

func (r *run) decided(d permission.Decision) {
	r.pre.result.Why, r.pre.result.Decided = d.Reason, true
	if r.p.traces() {
		r.trace(trace.Decision{Behaviour: d.Behaviour.String(), Reason: d.Reason.String()})
	}
}

// decide makes one decision. Who approved an input of their own is not asked again,
// but nobody approves what may not be.
func (r *run) decide(ctx context.Context) (permission.Decision, *Result) {
	d := r.resolved(ctx)
	if r.checked {
		d.UpdatedInput = nil
	}
	r.checked = r.checked || d.UpdatedInput != nil
	if first := d; d.Behaviour == permission.Ask && d.UpdatedInput != nil { // a person is asked about what would run
		if res := r.rewrite(ctx, d.UpdatedInput, r.observed(), "permission"); res != nil {
			return d, res
		}
		if d = r.resolved(ctx); d.Behaviour == permission.Allow {
			d = first
		}
		d.UpdatedInput = nil
	}
	switch {
	case d.Behaviour != permission.Ask:
		return d, nil
	case r.approved:
		return d.Answer(true, "", nil), nil
	}
	return r.ask(ctx, d)
}

// resolved waits for the classifier only where its verdict can still change what becomes of the call (H1).
func (r *run) resolved(ctx context.Context) permission.Decision {
	var in permission.Inputs
	r.describe(&in)
	d := in.Resolve()
	if r.verdict == nil {
		return d
	}
	for _, ruling := range [...]permission.Ruling{permission.Clears, permission.Blocks} {
		in.Verdict = permission.Verdict{Ruling: ruling}
		if in.Resolve().Behaviour != d.Behaviour {
			in.Verdict = r.verdict(ctx)
			return in.Resolve()
		}
	}
	return d
}

// describe fills in what the call is decided by.
func (r *run) describe(in *permission.Inputs) {
	describe(&in.Query, r.pre.tool, &r.pre.input, r.context, r.p.Handlers.Resolve)
	in.Rules, in.Mode, in.Denials = r.context.Rules, r.context.Mode, r.context.State.Denials
	in.Check = r.pre.tool.Permit(r.pre.input, r.context)
	in.CanAsk = r.p.Handlers.Ask != nil && !r.context.NonInteractive
	if r.opinion != nil {
		in.Hook = *r.opinion
	}
}

// MayAlso decides on a further call of a tool without making it (A1): what leads a call further than it was allowed
// to go, as a page that leads to another host, is to be decided like a call of its own.
func (r *run) MayAlso(ctx context.Context, name string, input any) (bool, string) {
	t, found := r.pool.Find(name)
	raw, err := json.Marshal(input)
	if !found || err != nil {
		return false, "there is no tool " + name
	}
	in, problems := t.Parse(raw)
	if len(problems) > 0 {
		return false, problems.String()
	}
	defer r.hold()()
	pre := &Prepared{Call: Call{ID: r.pre.Call.ID, Name: t.Name, Input: raw, Turn: r.pre.Call.Turn}, tool: t, input: in}
	copied := *r.context
	sub := &pre.run
	sub.p, sub.pre, sub.context, sub.control = r.p, pre, &copied, r.control
	defer func() { // what the decision cost and brought is the call's
		r.waited.Add(sub.waited.Load())
		r.add(sub.takeAdded()...)
	}()
	for _, step := range []func(*run, context.Context) *Result{(*run).validate, (*run).preHooks, (*run).permission} {
		if res := step(sub, ctx); res != nil {
			r.endsAt(res)
			return false, message.PlainText(res.Content)
		}
	}
	return true, ""
}

// endsAt keeps a refusal at which a hook ended the turn: the call itself goes on to its end.
func (r *run) endsAt(res *Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if res.StopTurn {
		r.ending = res
	}
}

// ends ends the turn with the call where a hook did at such a refusal.
func (r *run) ends(res *Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending != nil {
		res.StopTurn, res.Reason = true, r.ending.Reason
	}
}

// Decide resolves a call of a tool without running it (SPEC F7): no hook is run,
// nobody is asked, no classifier is. resolve gives what a path leads to when links are
// followed; nil follows none. An input that does not fit the tool is an error.
func Decide(t *tool.Tool, raw json.RawMessage, c *tool.Context, resolve func(string) string) (permission.Decision, permission.Query, error) {
	in, problems := t.Parse(raw)
	if len(problems) > 0 {
		return permission.Decision{}, permission.Query{}, fmt.Errorf("the input does not fit %s: %s", t.Name, problems.String())
	}
	inputs := permission.Inputs{Rules: c.Rules, Mode: c.Mode, Check: t.Permit(in, c), Denials: c.State.Denials, CanAsk: true}
	describe(&inputs.Query, t, &in, c, resolve)
	return inputs.Resolve(), inputs.Query, nil
}

// describe puts a call into q, in the words of rules. Paths go in twice where a link leads elsewhere (L6).
func describe(q *permission.Query, t *tool.Tool, in *tool.Input, c *tool.Context, resolve func(string) string) {
	s := t.Subject(*in, c)
	b := &t.Behaviour
	if w := c.State.Worktree; w != nil {
		q.Sealed = resolved([]string{w.Main}, resolve)
	}
	q.Subject, q.Kin, q.Bound, q.Shell, q.Content, q.Servers = t.RuleSubject(), s.Kin, s.Bound, s.Shell, s.Content, s.Servers
	q.Paths, q.PathsUnknown, q.Tree, q.OthersUnknown = resolved(s.Paths, resolve), s.PathsUnknown, s.Tree, s.OthersUnknown
	q.Dir, q.Home, q.Roots = c.State.Dir, c.Home, resolved(c.Roots, resolve)
	q.Left = resolved(c.State.Worktree.Left(), resolve)
	q.ReadOnly, q.Destructive, q.OpenWorld = b.ReadOnly(*in), b.Destructive(*in), b.OpenWorld(*in)
	q.Interactive, q.Edits = b.NeedsUser(*in), b.EditsFiles
	if resolve != nil && (len(q.Paths) > 0 || q.PathsUnknown || q.Shell != nil) { // others name no file
		q.Links = c.Rules.Links(q, resolve)
	}
}

// resolved are the paths and what they lead to.
func resolved(paths []string, resolve func(string) string) []string {
	if resolve == nil {
		return paths
	}
	out := slices.Clone(paths)
	for _, p := range paths {
		if permission.IsUNC(p) {
			continue
		}
		if real := resolve(p); real != p && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// ask puts the question to the person. The time it takes is the person's and is
// recorded apart from the stage's own (H1).
func (r *run) ask(ctx context.Context, d permission.Decision) (permission.Decision, *Result) {
	began := r.p.now()
	r.trace(trace.Ask{Reason: d.Reason.String()})
	q := Question{CallID: r.pre.Call.ID, Tool: r.name(), Input: r.observed(), Reason: d.Reason}
	r.describe(&q.Inputs)
	reply, err := r.p.Handlers.Ask(ctx, q)
	waited := r.waitedSince(began)
	if cause := context.Cause(ctx); cause != nil {
		return d, r.stopped(cause)
	}
	if err != nil {
		reply = Reply{Text: "no answer: " + err.Error()}
	}
	r.trace(trace.Answer{Allow: reply.Allow, Waited: waited})
	r.approved = reply.Allow
	return d.Answer(reply.Allow, reply.Text, reply.Input), nil
}

// denied words the refusal and asks the PermissionDenied hooks (F3).
func (r *run) denied(ctx context.Context, d permission.Decision) *Result {
	m := r.hooks(ctx, hook.PermissionDenied, func(in *hook.Input) { in.Error = d.Reason.String() })
	r.addContext(m)
	res := r.fail(Denied, "Permission to use "+r.name()+" was denied ("+d.Reason.String()+").")
	res.Denied = true
	res.StopTurn, res.Reason = m.Stop, m.StopReason
	return &res
}

// complete lets the permission layer add internal members to what a person approved (H3).
func (r *run) complete() *Result {
	if !r.approved || len(r.pre.tool.Internal) == 0 {
		return nil
	}
	raw, ok := r.pre.tool.Complete(r.pre.input, r.context)
	if !ok {
		return nil
	}
	clean, _ := without(raw, r.pre.tool.Internal)
	if _, problems := r.pre.tool.Parse(clean); len(problems) > 0 {
		return r.failed(Invalid, "The approved input does not fit the tool. %s", problems.String())
	}
	input, problems := r.pre.tool.Decode(raw)
	if len(problems) > 0 {
		return r.failed(Invalid, "The approved input cannot be read. %s", problems.String())
	}
	r.pre.input = r.p.reporting(input, r.pre)
	return nil
}
