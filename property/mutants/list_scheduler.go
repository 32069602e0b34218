package main

// Slips in what starts when, and what stops it (I, J).
var scheduler = []mutant{
	{
		name: "a call that arrives after a failure is a sibling of it",
		file: "toolsys/schedule/core.go",
		old:  "\t\t\tout = c.stopOne(i, SiblingFailed, out)\n\t\t}\n\t}\n",
		new:  "\t\t\tout = c.stopOne(i, SiblingFailed, out)\n\t\t}\n\t}\n\tc.stopping = SiblingFailed\n",
	},
	{
		name: "a call queued at a failure still runs",
		file: "toolsys/schedule/core.go",
		old:  "\tswitch k.status {\n\tcase queued:\n\t\treturn c.answer(i, cause, out)\n",
		new:  "\tswitch k.status {\n\tcase queued:\n\t\tif cause != SiblingFailed {\n\t\t\treturn c.answer(i, cause, out)\n\t\t}\n",
	},
	{
		name: "an interrupt stops calls that are to be waited for",
		file: "toolsys/schedule/core.go",
		old:  "if hard || c.calls[i].cancellable || c.calls[i].status != active {",
		new:  "if c.calls[i].status != finished {",
	},
	{
		name: "an interrupt lets the queue run on",
		file: "toolsys/schedule/core.go",
		old:  "\tc.next = len(c.calls)\n\treturn out\n}\n\nfunc (c *Core) stopOne",
		new:  "\treturn out\n}\n\nfunc (c *Core) stopOne",
	},
	{
		name: "a call is cancelled twice",
		file: "toolsys/schedule/core.go",
		old:  "\t\tif k.stopped == NoCause {\n\t\t\tk.stopped = cause\n",
		new:  "\t\tif true {\n\t\t\tk.stopped = cause\n",
	},
	{
		name: "what an abandoned stream left queued is answered",
		file: "toolsys/schedule/core.go",
		old:  "\t\tif c.calls[i].status == queued {\n\t\t\tc.calls[i].status = finished // nobody answers it any more\n\t\t}",
		new:  "\t\tif c.calls[i].status == queued {\n\t\t\tout = c.answer(i, StreamAbandoned, out)\n\t\t}",
	},
	{
		name: "a call that turned exclusive goes on beside others",
		file: "toolsys/schedule/core.go",
		old:  "\tif c.active > 0 {\n\t\treturn out\n\t}\n\tfor i := range c.calls {\n\t\tif c.calls[i].status == suspended {",
		new:  "\tfor i := range c.calls {\n\t\tif c.calls[i].status == suspended {",
	},
	{
		name: "modifiers of a batch act in the order of their results' arrival",
		file: "toolsys/schedule/core.go",
		old:  "\tfor _, i := range c.modified {",
		new:  "\tfor k := range c.modified {\n\t\ti := c.modified[len(c.modified)-1-k]",
	},
	{
		name: "a batch starts before the stream has ended",
		file: "toolsys/schedule/core.go",
		old:  "if c.rules.holds && !c.streamEnded {\n\t\treturn false",
		new:  "if c.rules.holds && !c.streamEnded && c.next > 0 {\n\t\treturn false",
	},
	{
		name:  "a writer does not wait for a reader",
		file:  "toolsys/schedule/footprint.go",
		old:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)",
		new:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)",
		tests: []string{"./toolsys/schedule", "./property/effects"},
	},
	{
		name:  "two writers of one file do not wait for each other",
		file:  "toolsys/schedule/footprint.go",
		old:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)",
		new:   "return overlap(a.Writes, b.Reads)",
		tests: []string{"./toolsys/schedule", "./property/effects"},
	},
	{
		name:  "a tree does not hold what is below it",
		file:  "toolsys/schedule/footprint.go",
		old:   "\tcase treeA:\n\t\treturn below(b, rootA)",
		new:   "\tcase treeA:\n\t\treturn b == rootA",
		tests: []string{"./toolsys/schedule", "./property/effects"},
	},
	{
		name:  "a call that says nothing touches nothing",
		file:  "toolsys/schedule/footprint.go",
		old:   "\tif a == nil || b == nil {\n\t\treturn true",
		new:   "\tif a == nil || b == nil {\n\t\treturn false",
		tests: []string{"./toolsys/schedule", "./property/effects"},
	},
	{
		name:  "a call's keys are taken before a cd has ended",
		file:  "toolsys/schedule/footprint.go",
		old:   "\tcase len(by.Shifts) == 0:\n\t\treturn false\n\t}",
		new:   "\tcase len(by.Shifts) >= 0:\n\t\treturn false\n\t}",
		tests: []string{"./toolsys/schedule", "./property/effects"},
	},
}
