package main

// Slips in turns, state and sub-agents (B, H, J).
var loop = []mutant{
	{
		name: "an abandoned stream leaves its state behind",
		file: "toolsys/loop/turn.go",
		old:  "\t\ts.setState(before)\n",
		new:  "\t\t_ = before\n",
	},
	{
		name: "a repeated id runs twice",
		file: "toolsys/loop/execution.go",
		old:  "\t\tcase ex.taken(b.ID):",
		new:  "\t\tcase b.ID == \"\" && ex.taken(b.ID):",
	},
	{
		name: "a sub-agent inherits the denial count",
		file: "toolsys/loop/spawn.go",
		old:  "\tcfg.State.Denials = permission.Denials{}\n",
		new:  "\t_ = permission.Denials{}\n",
	},
	{
		name: "a sub-agent outlives its parent's call",
		file: "toolsys/loop/spawn.go",
		old:  "child.Send(ctx,",
		new:  "child.Send(context.WithoutCancel(ctx),",
	},
	{
		name: "what follows results stands before them",
		file: "toolsys/loop/commit.go",
		old:  "\t\tfor _, m := range r.Messages {\n\t\t\tuser.Content = slices.Concat(user.Content, m.Content)",
		new:  "\t\tfor _, m := range r.Messages {\n\t\t\tuser.Content = slices.Concat(m.Content, user.Content)",
	},
	{
		name: "the user's new message is lost",
		file: "toolsys/loop/commit.go",
		old:  "spoken := s.takePending()",
		new:  "spoken := s.takePending()[:0]",
	},
	{
		name: "a server that arrives late flips deferral",
		file: "toolsys/loop/look.go",
		old:  "if s.latched != nil {",
		new:  "if s.latched != nil && s.cfg.Model == nil {",
	},
	{
		name: "a cut parts a call from its result",
		file: "toolsys/loop/compact.go",
		old:  "for cut > 0 && cut < len(history) && hasResults(history[cut]) {",
		new:  "for cut < 0 && hasResults(history[cut]) {",
	},
	{
		name: "a cut forgets what was discovered",
		file: "toolsys/loop/compact.go",
		old:  "pool.Compact(s.history[:cut]); some {",
		new:  "pool.Compact(s.history[:cut]); some && cut < 0 {",
	},
	{
		name: "a message cut off is committed",
		file: "toolsys/loop/turn.go",
		old:  "\tcase incomplete != nil:\n",
		new:  "\tcase incomplete != nil && err != nil:\n",
	},
}
