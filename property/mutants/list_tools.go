package main

// toolsFaults are slips in built-in and served tools and in the reading of streams and
// commands.
var toolsFaults = []mutant{
	{
		name:  "files that are changed out of order are listed so",
		pkg:   "toolsys/builtin/file",
		in:    "Deps.changes",
		old:   "append(d.keys(name, c), footprint.Order)",
		new:   "append(d.keys(name, c), footprint.Order+name)",
		tests: []string{"./property", "-run", "OutOfOrder", "-scenarios", "300"},
	},
	{
		name: "a file that was not read may be edited",
		pkg:  "toolsys/builtin/file",
		in:   "unseen",
		old:  "case !ok:",
		new:  `case !ok && p.abs == "":`,
	},
	{
		name: "a file that changed since may be edited",
		pkg:  "toolsys/builtin/file",
		in:   "unseen",
		old:  "case seen.Hash != tool.HashOf(content):",
		new:  `case seen.Hash == "":`,
	},
	{
		name: "a part that was read is enough to replace the whole",
		pkg:  "toolsys/builtin/file",
		in:   "unseenInPart",
		old:  "seen, _ := remembered(p, c); seen.Partial {",
		new:  `seen, _ := remembered(p, c); seen.Partial && p.abs == "" {`,
	},
	{
		name: "a served tool is safe unless it declares otherwise",
		pkg:  "toolsys/mcptool",
		in:   "template",
		old:  "Safe: is[in](notes.ReadOnlyHint)",
		new:  "Safe: is[in](true)",
	},
	{
		name: "a server that is lost is given up one attempt too soon",
		pkg:  "toolsys/mcptool",
		in:   "FleetConfig.complete",
		old:  "c.Attempts = 5",
		new:  "c.Attempts = 4",
	},
	{
		name: "a call cut off within its input is an empty call",
		pkg:  "toolsys/message",
		in:   "completeInput",
		old: `case text[0] != '{' || !json.Valid(text):
			return json.RawMessage("{}"), string(text)`,
		new: `case text[0] != '{' || !json.Valid(text):
			return json.RawMessage("{}"), ""`,
	},
	{
		name: "data over two chunks loses its first half",
		pkg:  "sim/stream",
		in:   "Decoder.endLine",
		old: `if len(d.line) > 0 {
				d.line = append(d.line, line...)
				line = d.line
			}`,
		new: `if len(d.line) > 0 {
				d.line = append(d.line[:0], line...)
				line = d.line
			}`,
	},
	{
		name: "a line feed of its own after a carriage return ends an event",
		pkg:  "sim/stream",
		in:   "Decoder.feed",
		old:  "if chunk[0] == '\\n' {",
		new:  "if chunk[0] == 0 {",
	},
}
