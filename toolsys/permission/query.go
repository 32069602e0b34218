package permission

// Subject is a tool as rules see it.
type Subject struct {
	// Tool is the name the model calls it by.
	Tool string
	// Aliases are its old names, which keep working in rules (SPEC F4).
	Aliases []string
	// MCP is where it comes from, nil for a built-in. An MCP tool is matched by
	// its origin even if it keeps a bare name (SPEC D1, N1).
	MCP *Origin
}

// Origin is a tool's place among MCP servers.
type Origin struct{ Server, Tool string }

// Query describes one call (SPEC F1).
type Query struct {
	Subject

	// Kin are other tools whose rules with a content speak of this call too: a
	// rule for Edit covers paths that Write changes, one for Read what Grep
	// searches. A blanket rule never reaches further than its own tool.
	Kin []string
	// Shell is the command, for a tool that runs one.
	Shell *Shell
	// Paths are the files the call touches: absolute, cleaned, symlinks
	// resolved. Where resolving changed a path, give both: a forbidding rule
	// speaks if it covers either, an allow rule has to cover both.
	Paths []string
	// PathsUnknown says that the call may touch files that are not listed.
	PathsUnknown bool
	// Content is what else a rule's parentheses may name, such as
	// domain:example.com; it is looked at where Shell and Paths are empty.
	Content string

	// Dir is the working directory and Home the user's, for relative and ~ rules.
	Dir, Home string
	// Roots are the allowed directories: the working directory and the additional ones.
	Roots []string

	// ReadOnly, Edits (changes files and does nothing else), Destructive and
	// OpenWorld (reaches beyond the machine) are the call's class. A call said
	// to be destructive is never taken for read-only.
	ReadOnly, Edits, Destructive, OpenWorld bool
	// Interactive marks a tool that exists to ask the user, so that its own
	// ask is answered by nobody else.
	Interactive bool
}

// Shell is a parsed command (SPEC F4).
type Shell struct {
	// Command is the whole text.
	Command string
	// Parts are its simple commands, those of substitutions included. A
	// redirection that writes is a part of its own ("> out.txt"), so that a
	// rule for echo does not permit writing any file with it.
	Parts []Part
	// Known is false where the command could not be taken apart; then no allow
	// rule with a content covers it.
	Known bool
}

// Part is one simple command, assignments in front of it included.
type Part struct {
	Text string
	// ReadOnly tells that it only reads, so that it needs no allow rule of its
	// own beside parts that have one.
	ReadOnly bool
}

// reads tells whether the call only reads.
func (q *Query) reads() bool { return q.ReadOnly && !q.Destructive }

// within tells whether all that the call touches lies in the allowed roots. A
// call that touches no files does, unless it reaches out.
func (q *Query) within() bool {
	if q.OpenWorld || q.PathsUnknown {
		return false
	}
	for _, p := range q.Paths {
		if !Within(p, q.Roots) {
			return false
		}
	}
	return true
}
