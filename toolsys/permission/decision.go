package permission

import "encoding/json"

// Decision is what becomes of one call (SPEC F3). The zero value, Passthrough,
// is never the result of [Resolve].
type Decision struct {
	Behaviour Behaviour
	Reason    Reason
	// UpdatedInput is the input as a hook, the tool's check or the user
	// rewrote it; nil where nobody did. A rewritten input must be checked
	// again, by schema, rules and safety (SPEC G2).
	UpdatedInput json.RawMessage
}

// Answer turns a question into the user's answer. A decision that is no
// question stays as it is: no answer undoes a denial. text is the user's own
// word and may be empty, as may a rewritten input.
func (d Decision) Answer(approved bool, text string, updated json.RawMessage) Decision {
	if d.Behaviour != Ask {
		return d
	}
	reason := Reason{Kind: ByUser, Text: text}
	if !approved {
		return Decision{Behaviour: Deny, Reason: reason}
	}
	if updated == nil {
		updated = d.UpdatedInput
	}
	return Decision{Behaviour: Allow, Reason: reason, UpdatedInput: updated}
}

// Kind is who decided.
type Kind uint8

// Who can decide.
const (
	ByRule Kind = iota + 1
	ByHook
	ByTool
	ByMode
	ByClassifier
	ByUser
	ByWorktree // what is outside of it stays as it is
	ByNobody   // there was something to ask and nobody to answer
)

// String is the decider in a word.
func (k Kind) String() string {
	return [...]string{"unknown", "rule", "hook", "tool", "mode", "classifier", "user", "worktree", "nobody"}[min(k, ByNobody)]
}

// Reason is why a decision was made, in parts for a program and, by String, in
// a line for a trace.
type Reason struct {
	Kind Kind
	// Hit is the rule that decided, or that had to be asked about, where Kind
	// is ByRule or ByNobody and a rule was in it; else nil. Nobody may change it.
	Hit *Hit
	// Mode is the mode in force, where Kind is ByMode.
	Mode Mode
	// Text is the decider's own word, or what was to be asked.
	Text string
}

// String is one line: `deny rule Bash(rm *) of project, for "rm -rf x"`.
func (r Reason) String() string {
	var line string
	switch r.Kind {
	case ByRule:
		line = r.Hit.String()
	case ByMode:
		line = "mode " + r.Mode.String()
	case ByNobody:
		line = "nobody can answer"
		if r.Hit != nil {
			line += " " + r.Hit.String()
		}
	default:
		line = r.Kind.String()
	}
	if r.Text == "" {
		return line
	}
	return line + ": " + r.Text
}
