package main

// loopFaults are slips in turns, state, sub-agents and what the model is shown.
var loopFaults = []mutant{
	{
		name: "results leave in completion order",
		pkg:  "toolsys/loop",
		in:   "Session.commit",
		old:  "user := message.Message{Role: message.User, Content: s.budgeted(ex.emitted)}",
		new: `slices.Reverse(ex.emitted)
			user := message.Message{Role: message.User, Content: s.budgeted(ex.emitted)}`,
	},
	{
		name: "a call cut off by max_tokens runs",
		pkg:  "toolsys/loop",
		in:   "Session.traceCut",
		old:  "for _, b := range ex.blocks.Open() {",
		new: `for _, b := range ex.blocks.Open() {
			b.Invalid = ""
			b.Input = []byte("{}")
			ex.add(b)`,
	},
	{
		name: "an observation is lost in streaming",
		pkg:  "toolsys/loop",
		in:   "learned",
		old:  "st = st.Observe(o)",
		new: `if o.Read == nil {
				st = st.Observe(o)
			}`,
	},
	{
		name:  "a call does not see what those before it left behind until it is let out",
		pkg:   "toolsys/loop",
		in:    "execution.view",
		old:   "for k := len(ex.emitted); k < i; k++ {",
		new:   "for k := i; k < i; k++ {",
		tests: []string{"./toolsys/loop"},
	},
	{
		name: "an abandoned stream leaves its state behind",
		pkg:  "toolsys/loop",
		in:   "Session.runTurn",
		old:  "s.setState(before)",
		new:  "_ = before",
	},
	{
		name: "a repeated id runs twice",
		pkg:  "toolsys/loop",
		in:   "execution.take",
		old:  "case ex.taken(b.ID):",
		new:  `case b.ID == "" && ex.taken(b.ID):`,
	},
	{
		name: "a sub-agent inherits the denial count",
		pkg:  "toolsys/loop",
		in:   "Session.childConfig",
		old:  "cfg.State.Denials = permission.Denials{}",
		new:  "_ = permission.Denials{}",
	},
	{
		name: "what follows results stands before them",
		pkg:  "toolsys/loop",
		in:   "Session.commit",
		old: `for _, m := range r.Messages {
			user.Content = slices.Concat(user.Content, m.Content)`,
		new: `for _, m := range r.Messages {
			user.Content = slices.Concat(m.Content, user.Content)`,
	},
	{
		name: "the user's new message is lost",
		pkg:  "toolsys/loop",
		in:   "Session.commit",
		old:  "spoken := s.takePending()",
		new:  "spoken := s.takePending()[:0]",
	},
	{
		name: "a server that arrives late flips deferral",
		pkg:  "toolsys/loop",
		in:   "Session.deferring",
		old:  "if s.latched != nil {",
		new:  "if s.latched != nil && s.cfg.Model == nil {",
	},
	{
		name: "a cut parts a call from its result",
		pkg:  "toolsys/loop",
		in:   "boundary",
		old:  "for cut > 0 && cut < len(history) && hasResults(history[cut]) {",
		new:  "for cut < 0 && hasResults(history[cut]) {",
	},
	{
		name: "a cut forgets what was discovered",
		pkg:  "toolsys/loop",
		in:   "Session.compact",
		old:  "pool.Compact(s.history[:cut]); some {",
		new:  "pool.Compact(s.history[:cut]); some && cut < 0 {",
	},
	{
		name: "a message cut off is committed",
		pkg:  "toolsys/loop",
		in:   "Session.endOfStream",
		old:  "case incomplete != nil:",
		new:  "case incomplete != nil && err != nil:",
	},
	{
		name: "a sub-agent goes on when its call is stopped",
		pkg:  "toolsys/loop",
		in:   "Session.spawn",
		old:  "child.Send(ctx, message.UserText(job.Prompt))",
		new:  "child.Send(context.WithoutCancel(ctx), message.UserText(job.Prompt))",
	},
	{
		name: "results stand as blocks ended",
		pkg:  "toolsys/loop",
		in:   "Session.commit",
		old:  "inCallOrder(ex.emitted, reply.Message)",
		new:  "",
	},
	{
		name: "the pool is sorted flat",
		pkg:  "toolsys/pool",
		in:   "Catalogue.Assemble",
		old: `p.alias()
			p.served`,
		new: `slices.SortStableFunc(p.Tools, compare)
			p.alias()
			p.served`,
	},
	{
		name: "a deny rule for a server misses its tools",
		pkg:  "toolsys/pool",
		in:   "Pool.addServed",
		old:  "case hidden:",
		new:  "case hidden && t.Origin == nil:",
	},
	{
		name: "the hint is given for a loaded tool",
		pkg:  "toolsys/pool",
		in:   "Snapshot.HintDue",
		old:  "return s.View.Deferring && Deferred(t, s.View.Settings) && !s.discovered[t.Name]",
		new:  "return s.View.Deferring",
	},
	{
		name: "a discovered tool stands in the cached prefix",
		pkg:  "toolsys/pool",
		in:   "Pool.Look",
		old:  "s.place(found)",
		new:  "s.loaded = slices.Concat(found, s.loaded)",
	},
	{
		name: "a served tool takes a built-in's name",
		pkg:  "toolsys/pool",
		in:   "Pool.addServed",
		old:  "case p.byName[t.Name] != nil:",
		new:  "case p.byName[t.Name] != nil && t.Origin == nil:",
	},
	{
		name: "served tools stand as servers connected",
		pkg:  "toolsys/pool",
		in:   "Pool.addServed",
		old:  "slices.SortFunc(served, compare)",
		new:  "",
	},
	{
		name: "what a model claims counts as discovered",
		pkg:  "toolsys/pool",
		in:   "Discovered",
		old:  "if m.Role != message.User {",
		new:  `if m.Role == "" {`,
	},
	{
		name: "the hint is given though the tool was discovered",
		pkg:  "toolsys/pool",
		in:   "Snapshot.HintDue",
		old:  " && !s.discovered[t.Name]",
		new:  "",
	},
	{
		name: "no call is ever hinted to load its tool first",
		pkg:  "toolsys/pool",
		in:   "Snapshot.HintDue",
		old:  "return s.View.Deferring && Deferred(t, s.View.Settings)",
		new:  "return s.View.Deferring && !Deferred(t, s.View.Settings)",
	},
	{
		name: "automatic deferral begins at its threshold",
		pkg:  "toolsys/search",
		in:   "exceeds",
		old:  "on := in.DeferredTokens > threshold",
		new:  "on := in.DeferredTokens >= threshold",
	},
	{
		name: "an address that begins like the first party's is it",
		pkg:  "toolsys/search",
		in:   "firstParty",
		old:  `strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "api.anthropic.com")`,
		new:  `strings.HasPrefix(u.Hostname(), "api.anthropic.com")`,
	},
	{
		name: "every model takes tool references",
		pkg:  "toolsys/search",
		in:   "References",
		old:  `return !strings.Contains(strings.ToLower(model), "haiku")`,
		new:  `return model != ""`,
	},
	{
		name: "forbidden betas do not switch deferral off",
		pkg:  "toolsys/settings",
		in:   "FromEnv",
		old:  "if s.BetasDisabled {",
		new:  "if s.BetasDisabled && s.Simple {",
	},
}
