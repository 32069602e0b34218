package main

// Slips in what hooks may say (G).
var hook = []mutant{
	{
		name: "a later hook's milder word wins",
		file: "toolsys/hook/merge.go",
		old:  "&& o.Decision > m.Decision {",
		new:  "{",
	},
	{
		name: "the next hook sees the input before it was rewritten",
		file: "toolsys/hook/run.go",
		old:  "\t\tin = in.after(m)\n",
		new:  "",
	},
	{
		name: "a hook that hangs is waited for a hundred times as long",
		file: "toolsys/hook/run.go",
		old:  "actor+\"/timeout\", h.Timeout)",
		new:  "actor+\"/timeout\", 100*h.Timeout)",
	},
}
