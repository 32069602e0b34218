package main

// Slips in the size of results (K).
var budget = []mutant{
	{
		name: "a decision that was sent is made anew",
		file: "toolsys/budget/message.go",
		old:  "fixed := it.sealed || it.limit < 0 || it.shown <= n",
		new:  "fixed := it.limit < 0 || it.shown <= n",
	},
	{
		name: "a tool that limits itself is chosen to shrink",
		file: "toolsys/budget/message.go",
		old:  "fixed := it.sealed || it.limit < 0 || it.shown <= n",
		new:  "fixed := it.sealed || it.shown <= n",
	},
	{
		name: "a result that could not be saved is said to be in a file",
		file: "toolsys/budget/ledger.go",
		old:  "if err := l.store.save(file, e.whole); err != nil {",
		new:  "if err := l.store.save(file, e.whole); err != nil && e == nil {",
	},
	{
		name: "a tool's own limit is not held",
		file: "toolsys/budget/ledger.go",
		old:  "case limit >= 0 && e.Chars > limit:",
		new:  "case limit >= 0 && e.Chars > 10*limit:",
	},
}
