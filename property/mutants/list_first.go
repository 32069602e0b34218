package main

// Slips that the first list of promises names.
var first = []mutant{
	{
		name: "results leave in completion order",
		file: "toolsys/loop/commit.go",
		old:  "user := message.Message{Role: message.User, Content: s.budgeted(ex.emitted)}",
		new:  "slices.Reverse(ex.emitted)\n\tuser := message.Message{Role: message.User, Content: s.budgeted(ex.emitted)}",
	},
	{
		name: "results are let out as they finish",
		file: "toolsys/schedule/core.go",
		old:  "for c.emitted < len(c.calls) && c.calls[c.emitted].status == finished {",
		new:  "for c.emitted < len(c.calls) && (c.calls[c.emitted].status == finished || c.next > c.emitted+1 && c.calls[c.emitted+1].status == finished) {",
	},
	{
		name: "an exclusive call starts while safe ones run",
		file: "toolsys/schedule/core.go",
		old:  "return k.safe && !c.exclusive && c.active < c.limit",
		new:  "return !c.exclusive && c.active < c.limit",
	},
	{
		name: "a safe call starts beside an exclusive one",
		file: "toolsys/schedule/core.go",
		old:  "return k.safe && !c.exclusive && c.active < c.limit",
		new:  "return k.safe && c.active < c.limit",
	},
	{
		name: "a safe call overtakes a waiting exclusive one",
		file: "toolsys/schedule/core.go",
		old:  "for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {",
		new:  "if n := c.next; n+1 < len(c.calls) && !c.calls[n].safe && !c.mayStart(c.calls[n]) && c.mayStart(c.calls[n+1]) && c.calls[n+1].status == queued {\n\t\tc.calls[n+1].status = active\n\t\tc.active++\n\t\tout = append(out, Action{Kind: Start, Index: n + 1})\n\t}\n\tfor c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {",
	},
	{
		name: "the limit is off by one",
		file: "toolsys/schedule/core.go",
		old:  "c.active < c.limit",
		new:  "c.active <= c.limit",
	},
	{
		name: "a safe call's modifier acts at once",
		file: "toolsys/schedule/core.go",
		old:  "case !c.calls[i].safe:\n\t\treturn append(out, Action{Kind: Apply, Index: i})",
		new:  "case true:\n\t\treturn append(out, Action{Kind: Apply, Index: i})",
	},
	{
		name: "a failing Read cancels its siblings",
		file: "toolsys/pipeline/work.go",
		old:  "res.Fails = r.tool.Behaviour.FailureStopsSiblings",
		new:  "res.Fails = true",
	},
	{
		name: "a failing Bash spares its siblings",
		file: "toolsys/pipeline/work.go",
		old:  "out.Failed && r.tool.Behaviour.FailureStopsSiblings",
		new:  "false",
	},
	{
		name: "a cancelled call has no result",
		file: "toolsys/schedule/core.go",
		old:  "out = append(out, Action{Kind: Emit, Index: c.emitted})",
		new:  "if c.calls[c.emitted].stopped == NoCause {\n\t\t\tout = append(out, Action{Kind: Emit, Index: c.emitted})\n\t\t}",
	},
	{
		name: "the pool is sorted flat",
		file: "toolsys/pool/assemble.go",
		old:  "p.alias()\n\tp.served",
		new:  "slices.SortStableFunc(p.Tools, compare)\n\tp.alias()\n\tp.served",
	},
	{
		name: "a deny rule for a server misses its tools",
		file: "toolsys/pool/assemble.go",
		old:  "case hidden:\n",
		new:  "case hidden && t.Origin == nil:\n",
	},
	{
		name: "a hook's allow overrides a deny rule",
		file: "toolsys/permission/resolve.go",
		old:  "denyRule, hookDenies, checkDenies, hookAllows, checkAllows,",
		new:  "hookAllows, denyRule, hookDenies, checkDenies, checkAllows,",
	},
	{
		name: "the hint is given for a loaded tool",
		file: "toolsys/pool/snapshot.go",
		old:  "return s.View.Deferring && Deferred(t, s.View.Settings) && !s.discovered[t.Name]",
		new:  "return s.View.Deferring",
	},
	{
		name: "a call cut off by max_tokens runs",
		file: "toolsys/loop/turn.go",
		old:  "for _, b := range ex.blocks.Open() {\n",
		new:  "for _, b := range ex.blocks.Open() {\n\t\tb.Invalid = \"\"\n\t\tb.Input = []byte(\"{}\")\n\t\tex.add(b)\n",
	},
	{
		name: "an internal member reaches a tool whose schema lets it through",
		file: "toolsys/pipeline/stages.go",
		old:  "clean, changed := without(r.input.Raw, r.tool.Internal)",
		new:  "clean, changed := without(r.input.Raw, nil)",
	},
	{
		name: "not the largest result is the first to go to a file",
		file: "toolsys/budget/message.go",
		old:  "best != nil && it.Inline <= best.Inline",
		new:  "best != nil && it.Inline >= best.Inline",
	},
	{
		name: "an observation is lost in streaming",
		file: "toolsys/loop/state.go",
		old:  "\t\tst = st.Observe(o)\n",
		new:  "\t\tif o.Read == nil {\n\t\t\tst = st.Observe(o)\n\t\t}\n",
	},
}
