package main

// Slips in reading streams and commands (H2, L2, O2).
var formats = []mutant{
	{
		name: "a call cut off within its input is an empty call",
		file: "toolsys/message/assemble.go",
		old:  "\tcase text[0] != '{' || !json.Valid(text):\n\t\treturn json.RawMessage(\"{}\"), string(text)",
		new:  "\tcase text[0] != '{' || !json.Valid(text):\n\t\treturn json.RawMessage(\"{}\"), \"\"",
	},
	{
		name: "data over two chunks loses its first half",
		file: "sim/stream/decode.go",
		old:  "\tif len(d.line) > 0 {\n\t\td.line = append(d.line, line...)\n\t\tline = d.line\n\t}",
		new:  "\tif len(d.line) > 0 {\n\t\td.line = append(d.line[:0], line...)\n\t\tline = d.line\n\t}",
	},
	{
		name: "a line feed of its own after a carriage return ends an event",
		file: "sim/stream/decode.go",
		old:  "\t\t\tif chunk[0] == '\\n' {",
		new:  "\t\t\tif chunk[0] == 0 {",
	},
	{
		name:  "a redirection into a file is read-only",
		file:  "toolsys/shellcmd/class_walk.go",
		old:   "\t\tif r.Write {\n\t\t\ta.harmful()\n",
		new:   "\t\tif r.Write {\n",
		tests: []string{"-run", "^TestReadOnlyAndSafe$", "./toolsys/shellcmd"},
	},
	{
		name:  "a cd is safe",
		file:  "toolsys/shellcmd/classify.go",
		old:   "c.Safe = c.ReadOnly && c.Changes.none() && !a.leftRunning",
		new:   "c.Safe = c.ReadOnly && !a.leftRunning",
		tests: []string{"-run", "^TestReadOnlyAndSafe$", "./toolsys/shellcmd"},
	},
	{
		name:  "what does not parse is read-only",
		file:  "toolsys/shellcmd/classify.go",
		old:   "return Class{Err: err}",
		new:   "return Class{Err: err, ReadOnly: true, Safe: true}",
		tests: []string{"-run", "^TestWhatDoesNotParseIsNothing$", "./toolsys/shellcmd"},
	},
}
