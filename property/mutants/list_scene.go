package main

// Slips that show in whole conversations: in what is told, who decides, and what a
// sub-agent and its parent have to do with each other (B4, E7, F2, G1, K2).
var scenes = []mutant{
	{
		name: "no call is ever told to load its tool first",
		file: "toolsys/pool/snapshot.go",
		old:  "return s.View.Deferring && Deferred(t, s.View.Settings)",
		new:  "return s.View.Deferring && !Deferred(t, s.View.Settings)",
	},
	{
		name: "a person's input is not decided upon again",
		file: "toolsys/pipeline/permit.go",
		old:  "\t\tif res := r.rewrite(ctx, d.UpdatedInput, r.observed(), \"permission\"); res != nil {\n\t\t\treturn res\n\t\t}\n",
		new:  "\t\treturn r.rewrite(ctx, d.UpdatedInput, r.observed(), \"permission\")\n",
	},
	{
		name: "hooks after the run are asked twice",
		file: "toolsys/pipeline/work.go",
		old:  "\tr.postHooks(ctx, &res)\n",
		new:  "\tfor range 2 {\n\t\tr.postHooks(ctx, (&res))\n\t}\n",
	},
	{
		name: "a sub-agent goes on when its call is stopped",
		file: "toolsys/loop/spawn.go",
		old:  "child.Send(ctx, message.UserText(job.Prompt))",
		new:  "child.Send(context.WithoutCancel(ctx), message.UserText(job.Prompt))",
	},
	{
		name: "of a message that is too much the smallest go to files",
		file: "toolsys/budget/message.go",
		old:  "it.Inline <= best.Inline",
		new:  "it.Inline >= best.Inline",
	},
	{
		name: "results stand as blocks ended",
		file: "toolsys/loop/commit.go",
		old:  "\tinCallOrder(ex.emitted, reply.Message)\n",
		new:  "",
	},
	{
		name: "what a tool reports after its end is passed on",
		file: "toolsys/pipeline/report.go",
		old:  "if !r.ended && r.p.listens() {",
		new:  "if r.p.listens() {",
	},
	{
		name: "a yes that comes too late lets a call run",
		file: "toolsys/pipeline/permit.go",
		old:  "\tif cause := context.Cause(ctx); cause != nil {\n\t\tres := r.stopped(cause)\n\t\treturn d, &res",
		new:  "\tif cause := context.Cause(ctx); cause != nil && err != nil {\n\t\tres := r.stopped(cause)\n\t\treturn d, &res",
	},
	{
		name: "a server that is lost is given up one attempt too soon",
		file: "toolsys/mcptool/fleet.go",
		old:  "c.Attempts = 5",
		new:  "c.Attempts = 4",
	},
}
