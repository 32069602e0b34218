// Package pipeline takes one call from its name to its result block (H). The stages are: find, schema, validate,
// classify, strip, backfill, pre hooks, permission, run, post hooks, budget, block. Each has its own error result,
// its own trace event and its own duration, and whatever happens, exactly one Result comes out (H2).
//
// The pipeline handles one call. The order in which calls run is not its concern, and
// it does not change state: a modifier leaves with the Result.
package pipeline

import (
	"context"
	"encoding/json"
	"time"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Call is one tool_use block with its place in the conversation.
type Call struct {
	ID, Name string
	Input    json.RawMessage
	// Invalid is what the model sent when it was no JSON object (H2).
	Invalid string
	Turn    int
	// Caller is who made the call, in the API's words; "" stands for message.Direct.
	Caller string
	// Inner reports whether another call made it: its result is that one's to use.
	Inner bool
}

// Result is the one outcome of a call (H2).
type Result struct {
	Status Status
	// Tool is the name of the tool that was found, or the name asked for.
	CallID, Tool string
	// Content is what the model reads; Error marks it as a failure.
	Content []message.Block
	Error   bool
	// Fails: the call's own run failed and its tool stops siblings (J3).
	Fails bool
	// StopTurn: a post hook ended the turn, for Reason.
	StopTurn bool
	// Denied and Allowed move the denial count (F3).
	Denied, Allowed bool
	// Decided reports whether a permission decision was made; Why is its reason.
	Decided bool
	Why     permission.Reason
	Reason  string
	// Limit is the tool's result size, for the message's budget (K2).
	Limit    int
	Modify   tool.Modifier
	Observed []tool.Observation
	// Messages follow the results of the turn (H5).
	Messages []message.Message
	// Data is the tool's answer in its own type, for drawing; nil where the text that the
	// model gets is no longer the tool's.
	Data any
}

// Block is the result as it is sent.
func (r *Result) Block() message.Block { return message.ToolResult(r.CallID, r.Error, r.Content...) }

// Emitted is the result as the trace has it.
func (r *Result) Emitted() trace.Emitted {
	return trace.Emitted{
		Status: string(r.Status), Error: r.Error, Text: message.PlainText(r.Content), Blocks: len(r.Content),
		Data: r.Data, Content: r.Content,
	}
}

// Question is what a person is asked before a call may run.
type Question struct {
	CallID, Tool string
	Input        json.RawMessage
	Reason       permission.Reason
	// Inputs is what was decided by, to see what other rules would make of the call.
	Inputs permission.Inputs
}

// Reply is a person's answer. Input, when set, replaces the call's input.
type Reply struct {
	Allow bool
	Text  string
	Input json.RawMessage
}

// Handlers are the functions that connect the pipeline to its host, each optional unless noted otherwise.
type Handlers struct {
	// Clock is required.
	Clock tool.Clock
	// Since gives the time of a trace event; required when Trace is set.
	Since func() time.Duration
	Trace trace.Sink
	Hooks hook.Set
	// Ask puts a question to a person. nil: nobody can allow a call, so it is denied.
	Ask func(ctx context.Context, q Question) (Reply, error)
	// Classify classifies a call beside the other stages; used in auto mode (H1).
	Classify func(ctx context.Context, toolName, input string) (permission.Verdict, error)
	// Resolve gives what a path leads to when links are followed (L6). It is never called for a UNC path.
	Resolve func(path string) string
	// Budget keeps large results out of the conversation; nil sends all inline.
	Budget *Ledger
	// AskUser and Notify reach the person from inside a tool.
	AskUser func(ctx context.Context, callID string, q []tool.Question) ([]tool.Answer, error)
	Notify  func(text string)
	// Elicit puts an MCP server's question to the person and gives the answer in the
	// protocol's words (N5). nil: nobody is there, so it is declined.
	Elicit func(ctx context.Context, q Elicitation) (json.RawMessage, error)
}

// Env is what one call is run in: the request's tools, the state when the call began and the layers of context the
// session fills. It is the call's own: Run fills in the parts of Context that the pipeline provides.
type Env struct {
	Snapshot *pool.Snapshot
	// Nearest names tools like an unknown one (C4).
	Nearest func(name string) []string
	// Gone gives the reason why a tool of that name is not there any more; "" or nil when it never was (N6).
	Gone    func(name string) string
	Context tool.Context
}

// Pipeline runs calls with its handlers. It has no state of its own.
type Pipeline struct{ Handlers Handlers }

// Status is how a call ended. The names appear in traces and reports.
type Status string

// The ways a call ends.
const (
	OK          Status = "ok"
	Failed      Status = "failed"       // the tool ran and reports a failure
	Unknown     Status = "unknown_tool" // no tool has that name
	BadJSON     Status = "bad_json"     // the input was no JSON object
	Invalid     Status = "invalid"      // the input breaks the schema
	Refused     Status = "refused"      // the tool's own validation refused it
	Stopped     Status = "stopped"      // a hook stopped the call
	Denied      Status = "denied"       // permission was denied
	TimedOut    Status = "timeout"      // its own time limit passed
	Panicked    Status = "panic"        // the tool's code panicked
	Cancelled   Status = "cancelled"    // a sibling failed (J3)
	Interrupted Status = "interrupted"  // the user's new message (J4)
	Aborted     Status = "aborted"      // the conversation was stopped
	Discarded   Status = "discarded"    // the stream was abandoned (J5)
)

// Statuses are all ways a call ends.
func Statuses() []Status {
	return []Status{
		OK, Failed, Unknown, BadJSON, Invalid, Refused, Stopped, Denied, TimedOut, Panicked,
		Cancelled, Interrupted, Aborted, Discarded,
	}
}
