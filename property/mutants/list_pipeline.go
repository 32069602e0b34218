package main

// pipelineFaults are slips in the way of one call: its stages, hooks, permission and
// the size of its result.
var pipelineFaults = []mutant{
	{
		name: "a failing Read cancels its siblings",
		pkg:  "toolsys/pipeline",
		in:   "run.broke",
		old:  "res.Fails = r.tool.Behaviour.FailureStopsSiblings",
		new:  "res.Fails = true",
	},
	{
		name: "a failing Bash spares its siblings",
		pkg:  "toolsys/pipeline",
		in:   "run.judge",
		old:  "out.Failed && r.tool.Behaviour.FailureStopsSiblings",
		new:  "false",
	},
	{
		name: "an internal member reaches a tool whose schema lets it through",
		pkg:  "toolsys/pipeline",
		in:   "run.strip",
		old:  "clean, changed := without(r.input.Raw, r.tool.Internal)",
		new:  "clean, changed := without(r.input.Raw, nil)",
	},
	{
		name:  "a person is asked out of order",
		pkg:   "toolsys/pipeline",
		in:    "Pipeline.othersSpeak",
		old:   "return permission.Resolve(in).Behaviour == permission.Ask",
		new:   "return false",
		tests: []string{"./toolsys/pipeline"},
	},
	{
		name: "a rewritten input is not validated again",
		pkg:  "toolsys/pipeline",
		in:   "run.rewrite",
		old: `r.input = input
			if res := r.validate(ctx); res != nil {`,
		new: `r.input = input
			if res := r.validate(ctx); res != nil && false {`,
	},
	{
		name: "a call rewritten into an exclusive one does not wait for its exclusive turn",
		pkg:  "toolsys/pipeline",
		in:   "run.escalate",
		old:  "if !r.pre.Safe || r.exclusive ||",
		new:  "if !r.pre.Safe || !r.exclusive ||",
	},
	{
		name: "hooks do not see derived members",
		pkg:  "toolsys/pipeline",
		in:   "run.observed",
		old:  "r.tool.Shape.Backfill(members, r.context)",
		new:  "",
	},
	{
		name: "derived members reach the tool",
		pkg:  "toolsys/pipeline",
		in:   "run.rewrite",
		old:  "raw = unfill(raw, seen, r.input.Raw)",
		new:  "",
	},
	{
		name: "an input that breaks its schema goes on",
		pkg:  "toolsys/pipeline",
		in:   "Pipeline.check",
		old: `if len(problems) > 0 {
			pre.failure`,
		new: `if len(problems) > 100 {
			pre.failure`,
	},
	{
		name: "a predicate that fails counts as safe",
		pkg:  "toolsys/pipeline",
		in:   "Pipeline.safe",
		old: `p.predicateFailed(call, t, "safe", err)
			return safe`,
		new: `p.predicateFailed(call, t, "safe", err)
			return safe || err != nil`,
	},
	{
		name: "a time limit never passes",
		pkg:  "toolsys/pipeline",
		in:   "run.perform",
		old:  "r.limited(ctx, r.tool.Limit.Timeout(r.input))",
		new:  "r.limited(ctx, 0)",
	},
	{
		name: "a command that runs out of time spares its siblings",
		pkg:  "toolsys/pipeline",
		in:   "run.broke",
		old:  "res.Fails = r.tool.Behaviour.FailureStopsSiblings",
		new:  "res.Fails = false",
	},
	{
		name: "a call stopped for a sibling names the user as its cause",
		pkg:  "toolsys/pipeline",
		in:   "Halt",
		old:  "return Cancelled, fmt.Sprintf",
		new:  "return Interrupted, fmt.Sprintf",
	},
	{
		name: "failures go to the hooks for successes",
		pkg:  "toolsys/pipeline",
		in:   "run.postHooks",
		old:  "event = hook.PostToolUseFailure",
		new:  "event = hook.PostToolUse",
	},
	{
		name: "a hook whose condition cannot be read is skipped",
		pkg:  "toolsys/pipeline",
		in:   "run.matches",
		old:  "return err != nil || parsed.Covers(r.query())",
		new:  "return err == nil && parsed.Covers(r.query())",
	},
	{
		name: "a hook's stop is ignored",
		pkg:  "toolsys/pipeline",
		in:   "run.askHooks",
		old: `if m.Stop {
			return r.failed(Stopped`,
		new: `if m.Stop && false {
			return r.failed(Stopped`,
	},
	{
		name: "a call that is denied runs",
		pkg:  "toolsys/pipeline",
		in:   "run.permission",
		old: `case !allowed:
			return r.denied(ctx, d)`,
		new: `case !allowed:
			r.denied(ctx, d)
			return nil`,
	},
	{
		name: "the filesystem is asked about a UNC path",
		pkg:  "toolsys/pipeline",
		in:   "run.resolve",
		old:  "if permission.IsUNC(p) {",
		new:  "if false && permission.IsUNC(p) {",
	},
	{
		name: "a hook after the run is given up when the user interrupts",
		pkg:  "toolsys/pipeline",
		in:   "run.postHooks",
		old:  "ctx = context.WithoutCancel(ctx)",
		new:  "",
	},
	{
		name: "a person's input is not decided upon again",
		pkg:  "toolsys/pipeline",
		in:   "run.permission",
		old: `if res := r.rewrite(ctx, d.UpdatedInput, r.observed(), "permission"); res != nil {
				return res
			}`,
		new: `return r.rewrite(ctx, d.UpdatedInput, r.observed(), "permission")`,
	},
	{
		name: "hooks after the run are asked twice",
		pkg:  "toolsys/pipeline",
		in:   "run.work",
		old:  "r.postHooks(ctx, &res)",
		new: `for range 2 {
				r.postHooks(ctx, (&res))
			}`,
	},
	{
		name: "what a tool reports after its end is passed on",
		pkg:  "toolsys/pipeline",
		in:   "run.progress",
		old:  "if !r.ended && r.p.listens() {",
		new:  "if r.p.listens() {",
	},
	{
		name: "a yes that comes too late lets a call run",
		pkg:  "toolsys/pipeline",
		in:   "run.ask",
		old: `if cause := context.Cause(ctx); cause != nil {
			res := r.stopped(cause)
			return d, &res`,
		new: `if cause := context.Cause(ctx); cause != nil && err != nil {
			res := r.stopped(cause)
			return d, &res`,
	},
	{
		name: "a later hook's milder decision wins",
		pkg:  "toolsys/hook",
		in:   "Merged.add",
		old:  "&& o.Decision > m.Decision {",
		new:  "{",
	},
	{
		name: "the next hook sees the input before it was rewritten",
		pkg:  "toolsys/hook",
		in:   "Set.Run",
		old:  "in = in.after(m)",
		new:  "",
	},
	{
		name: "a hook that hangs is waited for a hundred times as long",
		pkg:  "toolsys/hook",
		in:   "Set.bounded",
		old:  `actor+"/timeout", h.Timeout)`,
		new:  `actor+"/timeout", 100*h.Timeout)`,
	},
	{
		name: "a guarding command that fails lets the call run",
		pkg:  "toolsys/hook",
		in:   "Command",
		old:  "h.OnFailure = permission.Deny",
		new:  "h.OnFailure = permission.Allow",
	},
	{
		name: "a hook whose failure is to deny only asks",
		pkg:  "toolsys/hook",
		in:   "registered.onFailure",
		old:  "Decision: h.OnFailure,",
		new:  "Decision: permission.Ask,",
	},
	{
		name: "a hook's allow overrides a deny rule",
		pkg:  "toolsys/permission",
		in:   "Inputs.decide",
		old:  "denyRule, hookDenies, checkDenies, hookAllows, checkAllows,",
		new:  "hookAllows, denyRule, hookDenies, checkDenies, checkAllows,",
	},
	{
		name: "a hook's allow overrides the tool's own refusal",
		pkg:  "toolsys/permission",
		in:   "Inputs.decide",
		old:  "denyRule, hookDenies, checkDenies, hookAllows, checkAllows,",
		new:  "denyRule, hookDenies, hookAllows, checkDenies, checkAllows,",
	},
	{
		name: "an allow rule lets a write run in plan mode",
		pkg:  "toolsys/permission",
		in:   "Inputs.decide",
		old:  "modeRefuses, bypasses, checkAsks, allowRule, modePermits,",
		new:  "allowRule, modeRefuses, bypasses, checkAsks, modePermits,",
	},
	{
		name: "what nobody can be asked is allowed",
		pkg:  "toolsys/permission",
		in:   "Resolve",
		old:  "return Decision{Behaviour: Deny, Reason: unanswered(d.Reason)}",
		new:  "return Decision{Behaviour: Allow, Reason: unanswered(d.Reason)}",
	},
	{
		name: "an ask rule makes no question of what was allowed",
		pkg:  "toolsys/permission",
		in:   "Resolve",
		old: `if d.Behaviour != Deny {
			d = in.questioned(d)`,
		new: `if d.Behaviour == Ask {
			d = in.questioned(d)`,
	},
	{
		name: "three denials in a row change nothing",
		pkg:  "toolsys/permission",
		in:   "Denials.FallBack",
		old:  "return d.InRow >= MaxDenialsInRow || d.Total >= MaxDenials",
		new:  "return d.Total >= MaxDenials",
	},
	{
		name: "an allowed call does not end the row of denials",
		pkg:  "toolsys/permission",
		in:   "Denials.Allowed",
		old:  "return Denials{0, d.Total}",
		new:  "return d",
	},
	{
		name: "a blanket deny rule leaves the tool in sight",
		pkg:  "toolsys/permission",
		in:   "Rules.Hides",
		old:  "if h.Behaviour == Deny && h.Rule.Blanket() && h.Rule.names(s) {",
		new:  "if h.Behaviour == Deny && !h.Rule.Blanket() && h.Rule.names(s) {",
	},
	{
		name: "a decision that was sent is made anew",
		pkg:  "toolsys/budget",
		in:   "Ledger.largest",
		old:  "fixed := it.sealed || it.limit < 0 || it.shown <= n",
		new:  "fixed := it.limit < 0 || it.shown <= n",
	},
	{
		name: "a tool that limits itself is chosen to shrink",
		pkg:  "toolsys/budget",
		in:   "Ledger.largest",
		old:  "fixed := it.sealed || it.limit < 0 || it.shown <= n",
		new:  "fixed := it.sealed || it.shown <= n",
	},
	{
		name: "a result that could not be saved is reported to be in a file",
		pkg:  "toolsys/budget",
		in:   "Ledger.move",
		old:  "if err := l.store.save(file, e.whole); err != nil {",
		new:  "if err := l.store.save(file, e.whole); err != nil && e == nil {",
	},
	{
		name: "a tool's own limit is not held",
		pkg:  "toolsys/budget",
		in:   "Ledger.decide",
		old:  "case limit >= 0 && e.Chars > limit:",
		new:  "case limit >= 0 && e.Chars > 10*limit:",
	},
	{
		name: "of a message that is too much the smallest go to files",
		pkg:  "toolsys/budget",
		in:   "Ledger.largest",
		old:  "it.Inline <= best.Inline",
		new:  "it.Inline >= best.Inline",
	},
}
