package hook

import (
	"context"
	"encoding/json"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// Event is the moment a hook is asked at (G1).
type Event string

// The events. PreToolUse comes before permission, PostToolUse and
// PostToolUseFailure after the run, PermissionDenied after a refusal (F3),
// Elicitation before a server's question reaches the user, and ElicitationResult
// before the user's answer reaches the server (N5).
const (
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PermissionDenied   Event = "PermissionDenied"
	Elicitation        Event = "Elicitation"
	ElicitationResult  Event = "ElicitationResult"
)

// DefaultTimeout is how long a hook that names no time may take.
const DefaultTimeout = 60 * time.Second

// Hook is one registration.
type Hook struct {
	// Name tells the hook from others in traces.
	Name  string
	Event Event
	// Matcher says for which tools, by name or alias: "" or "*" for all, else names
	// and globs with | between them, as in "Edit|Write|mcp__github__*".
	Matcher string
	// If is a permission rule, as in "Bash(git *)"; the hook runs only for calls it
	// matches. "" matches all.
	If string
	// Timeout is how long Run may take; 0 means DefaultTimeout.
	Timeout time.Duration
	// OnFailure is what becomes of the call when the hook fails: Run returns an error,
	// panics or outstays its time, or a part of its reply makes no sense. Allow lets the
	// call go on without the hook; Ask puts it to a person and Deny refuses it, both
	// only where a decision counts. After the run Deny withholds the output, since a
	// call that ran cannot be refused. The zero value is Allow; see Command for Deny.
	OnFailure permission.Behaviour
	// Run is asked. Its context ends with the timeout and with the call.
	Run func(ctx context.Context, in Input) (Output, error)
}

// Input is what a hook is told. It is the hook's own copy.
type Input struct {
	Event Event
	// Tool is the tool's name and Aliases its old ones; for the elicitation events
	// the name of the tool that was called.
	Tool    string
	Aliases []string
	Call    string
	Turn    int
	// Agent is "" in the main conversation.
	Agent string
	// Dir is the working directory.
	Dir  string
	Mode permission.Mode
	// Input is the call's input as observers see it (G2); for Elicitation the
	// server's question and for ElicitationResult the user's answer.
	Input json.RawMessage
	// Output is what the tool gave, after it ran.
	Output []message.Block
	// Error says what failed or why the call was denied.
	Error string
}

// Output is what a hook says; its zero value says nothing. Members that have no
// meaning at an event are ignored there, with a report.
type Output struct {
	// Input replaces the call's input, or the elicitation's question or answer: a
	// JSON object.
	Input json.RawMessage
	// Decision is on the call's permission, or on whether an elicitation is
	// answered; Passthrough leaves it to others.
	Decision permission.Behaviour
	// Reason explains the decision or the stop.
	Reason string
	// Stop ends the call before it ran, or the turn afterwards.
	Stop bool
	// Context is text for the model.
	Context string
	// Output replaces what the tool gave, of every tool alike; nil leaves it.
	Output []message.Block
	// Messages follow the results of the turn.
	Messages []message.Message
	// Garbled are parts of the hook's reply that made no sense; they are reported.
	Garbled []string
}

// Events are all events that hooks can be for.
func Events() []Event {
	return []Event{
		PreToolUse, PostToolUse, PostToolUseFailure, PermissionDenied, Elicitation,
		ElicitationResult,
	}
}
