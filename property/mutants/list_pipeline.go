package main

// Slips in the way of one call (H).
var pipeline = []mutant{
	{
		name: "a rewritten input is not validated again",
		file: "toolsys/pipeline/stages.go",
		old:  "\tr.input = input\n\tif res := r.validate(ctx); res != nil {",
		new:  "\tr.input = input\n\tif res := r.validate(ctx); res != nil && false {",
	},
	{
		name: "a call rewritten into an exclusive one does not wait for the floor",
		file: "toolsys/pipeline/stages.go",
		old:  "if !r.pre.Safe || r.exclusive ||",
		new:  "if !r.pre.Safe || !r.exclusive ||",
	},
	{
		name: "hooks do not see derived members",
		file: "toolsys/pipeline/stages.go",
		old:  "\tr.tool.Shape.Backfill(members, r.context)\n",
		new:  "",
	},
	{
		name: "derived members reach the tool",
		file: "toolsys/pipeline/stages.go",
		old:  "\traw = unfill(raw, seen, r.input.Raw)\n",
		new:  "",
	},
	{
		name: "an input that breaks its schema goes on",
		file: "toolsys/pipeline/run.go",
		old:  "if len(problems) > 0 {\n\t\tpre.failure",
		new:  "if len(problems) > 100 {\n\t\tpre.failure",
	},
	{
		name: "a predicate that fails counts as safe",
		file: "toolsys/pipeline/run.go",
		old:  "\tp.predicateFailed(call, t, \"safe\", err)\n\treturn safe",
		new:  "\tp.predicateFailed(call, t, \"safe\", err)\n\treturn safe || err != nil",
	},
	{
		name: "a time limit never passes",
		file: "toolsys/pipeline/work.go",
		old:  "r.limited(ctx, r.tool.Limit.Timeout(r.input))",
		new:  "r.limited(ctx, 0)",
	},
	{
		name: "a command that runs out of time spares its siblings",
		file: "toolsys/pipeline/work.go",
		old:  "res.Fails = r.tool.Behaviour.FailureStopsSiblings",
		new:  "res.Fails = false",
	},
	{
		name: "a call stopped for a sibling says the user did it",
		file: "toolsys/pipeline/work.go",
		old:  "return Cancelled, fmt.Sprintf",
		new:  "return Interrupted, fmt.Sprintf",
	},
	{
		name: "failures go to the hooks for successes",
		file: "toolsys/pipeline/hooks.go",
		old:  "event = hook.PostToolUseFailure",
		new:  "event = hook.PostToolUse",
	},
	{
		name: "a hook whose condition cannot be read is skipped",
		file: "toolsys/pipeline/hooks.go",
		old:  "return err != nil || parsed.Covers(r.query())",
		new:  "return err == nil && parsed.Covers(r.query())",
	},
	{
		name: "a hook's stop is not heard",
		file: "toolsys/pipeline/hooks.go",
		old:  "\tif m.Stop {\n\t\treturn r.failed(Stopped",
		new:  "\tif m.Stop && false {\n\t\treturn r.failed(Stopped",
	},
	{
		name: "a call that is denied runs",
		file: "toolsys/pipeline/permit.go",
		old:  "\t\tcase !allowed:\n\t\t\treturn r.denied(ctx, d)",
		new:  "\t\tcase !allowed:\n\t\t\tr.denied(ctx, d)\n\t\t\treturn nil",
	},
	{
		name: "the filesystem is asked about a UNC path",
		file: "toolsys/pipeline/permit.go",
		old:  "if permission.IsUNC(p) {",
		new:  "if false && permission.IsUNC(p) {",
	},
	{
		name: "a hook after the run is given up when the user speaks",
		file: "toolsys/pipeline/hooks.go",
		old:  "\tctx = context.WithoutCancel(ctx)\n",
		new:  "",
	},
}
