package main

// Slips in what tools guard (B5, N2).
var tools = []mutant{
	{
		name: "a file that was not read may be edited",
		file: "toolsys/builtin/file/seen.go",
		old:  "\tcase !ok:\n",
		new:  "\tcase !ok && p.abs == \"\":\n",
	},
	{
		name: "a file that changed since may be edited",
		file: "toolsys/builtin/file/seen.go",
		old:  "case seen.Hash != tool.HashOf(content):",
		new:  "case seen.Hash == \"\":",
	},
	{
		name: "a part that was read is enough to replace the whole",
		file: "toolsys/builtin/file/seen.go",
		old:  "seen, _ := remembered(p, c); seen.Partial {",
		new:  "seen, _ := remembered(p, c); seen.Partial && p.abs == \"\" {",
	},
	{
		name: "a served tool is safe unless it says otherwise",
		file: "toolsys/mcptool/build.go",
		old:  "Safe: is[in](notes.ReadOnlyHint)",
		new:  "Safe: is[in](true)",
	},
}
