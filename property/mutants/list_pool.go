package main

// Slips in what the model is shown (D, E).
var pool = []mutant{
	{
		name: "a discovered tool stands in the cached prefix",
		file: "toolsys/pool/snapshot.go",
		old:  "\ts.place(found)\n",
		new:  "\ts.loaded = slices.Concat(found, s.loaded)\n",
	},
	{
		name: "a served tool takes a built-in's name",
		file: "toolsys/pool/assemble.go",
		old:  "case p.byName[t.Name] != nil:",
		new:  "case p.byName[t.Name] != nil && t.Origin == nil:",
	},
	{
		name: "served tools stand as servers connected",
		file: "toolsys/pool/assemble.go",
		old:  "\tslices.SortFunc(served, compare)\n",
		new:  "",
	},
	{
		name: "what a model claims counts as discovered",
		file: "toolsys/pool/discovery.go",
		old:  "if m.Role != message.User {",
		new:  "if m.Role == \"\" {",
	},
	{
		name: "the hint is given though the tool was discovered",
		file: "toolsys/pool/snapshot.go",
		old:  " && !s.discovered[t.Name]",
		new:  "",
	},
}
