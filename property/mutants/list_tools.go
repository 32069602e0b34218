package main

import "slices"

// toolsFaults are slips in built-in and served tools and in the reading of streams and
// commands.
var toolsFaults = slices.Concat(
	in("toolsys/builtin/file",
		fault("files that are changed out of order are listed so", "Deps.changes",
			"append(d.keys(name, c), footprint.Order)",
			"append(d.keys(name, c), footprint.Order+name)", "./property", "-run", "OutOfOrder", "-scenarios", "300"),
		fault("a file that was not read may be edited", "unseen",
			"case !ok:",
			`case !ok && p.abs == "":`),
		fault("a file that changed since may be edited", "unseen",
			"case seen.Hash != tool.HashOf(content):",
			`case seen.Hash == "":`),
		fault("a part that was read is enough to replace the whole", "unseenInPart",
			"seen, _ := remembered(p, c); seen.Partial {",
			`seen, _ := remembered(p, c); seen.Partial && p.abs == "" {`),
	),
	in("toolsys/mcptool",
		fault("a served tool is safe unless it declares otherwise", "template",
			"Safe: is[in](notes.ReadOnlyHint)",
			"Safe: is[in](true)"),
		fault("a server that is lost is given up one attempt too soon", "FleetConfig.complete",
			"c.Attempts = 5",
			"c.Attempts = 4"),
	),
	in("toolsys/message",
		fault("a call cut off within its input is an empty call", "completeInput",
			`case text[0] != '{' || !json.Valid(text):
				return json.RawMessage("{}"), string(text)`,
			`case text[0] != '{' || !json.Valid(text):
				return json.RawMessage("{}"), ""`),
	),
	in("sim/stream",
		fault("data over two chunks loses its first half", "Decoder.endLine",
			`if len(d.line) > 0 {
					d.line = append(d.line, line...)
					line = d.line
				}`,
			`if len(d.line) > 0 {
					d.line = append(d.line[:0], line...)
					line = d.line
				}`),
		fault("a line feed of its own after a carriage return ends an event", "Decoder.feed",
			"if chunk[0] == '\\n' {",
			"if chunk[0] == 0 {"),
	),
)
