package hook

import (
	"encoding/json"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// Merged is what all hooks of one event said together; see the package's rules.
type Merged struct {
	// Input is the rewritten input; nil when no hook rewrote it.
	Input json.RawMessage
	// Decision, with the reason and the name of the first hook that gave it.
	Decision permission.Behaviour
	Reason   string
	By       string
	// Stop ends the call (before) or the turn (after).
	Stop       bool
	StopReason string
	StopBy     string
	// Context is what to add for the model, in the order of the hooks.
	Context []string
	// Output is the replaced output; nil when no hook replaced it. One that is
	// empty and not nil was emptied.
	Output   []message.Block
	Messages []message.Message
	// Reports has one entry for each hook that was due, in order.
	Reports []Report
}

// Report is what one hook did, for the trace.
type Report struct {
	Hook string
	Took time.Duration
	// Did lists what of its reply counted: "input", "allow", "ask", "deny", "stop",
	// "context", "output", "messages"; empty when it was silent.
	Did []string
	// Trouble says what went wrong; "" when nothing did.
	Trouble string
}

// add merges what one hook said and names what counted.
func (m *Merged) add(name string, o Output) (did []string) {
	note := func(counts bool, what string) bool {
		if counts {
			did = append(did, what)
		}
		return counts
	}
	if note(o.Input != nil, "input") {
		m.Input = o.Input
	}
	if note(o.Decision != permission.Passthrough, o.Decision.String()) && o.Decision > m.Decision {
		m.Decision, m.Reason, m.By = o.Decision, o.Reason, name
	}
	if note(o.Stop, "stop") && !m.Stop {
		m.Stop, m.StopReason, m.StopBy = true, o.Reason, name
	}
	if note(o.Context != "", "context") {
		m.Context = append(m.Context, o.Context)
	}
	if note(o.Output != nil, "output") {
		m.Output = o.Output
	}
	if note(len(o.Messages) > 0, "messages") {
		m.Messages = append(m.Messages, o.Messages...)
	}
	return did
}
