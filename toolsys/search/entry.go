package search

// Entry is a tool as the search sees it.
type Entry struct {
	// Name is what the model calls: mcp__server__tool for most MCP tools.
	Name string
	// Hint says in 3 to 10 words what it is good for.
	Hint string
	// Description is the whole text the model would get.
	Description string
	// MCP marks a tool of an MCP server, Server names it.
	MCP    bool
	Server string
	// Deferrable and AlwaysLoad are the tool's own wishes (SPEC A1, E1).
	Deferrable, AlwaysLoad bool
	// Params are its parameters, "name" or "name: description" each, as
	// [Parameters] lists them, for rankers that read them; the baseline does not.
	Params []string
	// Tokens is what its whole definition costs.
	Tokens int
}

// Flags are the features that change what is deferred (SPEC E1).
type Flags struct {
	ForkSubagent bool // FORK_SUBAGENT
	Kairos       bool // KAIROS
	Bridge       bool // KAIROS with an active bridge to the user
	DeferAgent   bool // DEFER_AGENT: Agent, which is whole by default
	DeferBrief   bool // DEFER_BRIEF: Brief, likewise
}

// ToolName is the search tool's own name, which can never be deferred.
const ToolName = "ToolSearch"

// Deferred tells whether a tool goes by name only until it is discovered. The
// order of the questions is the rule (SPEC E1): even an MCP tool named
// ToolSearch is deferred, and an always-loaded one is not.
func Deferred(e Entry, f Flags) bool {
	switch {
	case e.AlwaysLoad:
		return false
	case e.MCP:
		return true
	case e.Name == ToolName:
		return false
	case f.ForkSubagent && e.Name == "Agent":
		return false
	case f.Kairos && e.Name == "Brief":
		return false
	case f.Kairos && f.Bridge && e.Name == "SendUserFile":
		return false
	case f.DeferAgent && e.Name == "Agent", f.DeferBrief && e.Name == "Brief":
		return true
	}
	return e.Deferrable
}

// Split parts a pool into what is deferred and what is sent whole, in the
// order given (SPEC E1).
func Split(entries []Entry, f Flags) (deferred, loaded []Entry) {
	for _, e := range entries {
		if Deferred(e, f) {
			deferred = append(deferred, e)
		} else {
			loaded = append(loaded, e)
		}
	}
	return deferred, loaded
}

// Tokens is what the definitions of these tools cost together, the figure that
// automatic mode compares (SPEC E3).
func Tokens(entries []Entry) int {
	sum := 0
	for _, e := range entries {
		sum += e.Tokens
	}
	return sum
}
