package tool

import (
	"context"
	"encoding/json"
	"slices"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schema"
	"toolbench/toolsys/settings"
)

// Tool is a built tool: Def with its types erased and every function in place.
// It is a value; a decorator copies it and replaces a function.
type Tool struct {
	Name    string
	Aliases []string
	Hint    string
	Origin  *Origin
	LSP     bool
	Strict  bool
	Wire    Wire
	// Coordinates: who directs other agents and does no work itself may use the tool.
	Coordinates bool
	// Internal names input members the model may not send (H3). Complete gives the input of a call with them once a
	// person approved it; false leaves the input as it is.
	Internal []string
	Complete func(Input, *Context) (json.RawMessage, bool)

	Description string
	Describe    func(Input) string
	Prompt      func(PromptOptions) string

	// Input and Output are the schemas, resolved on first use. Output is nil for a tool whose data is no object.
	Input, Output *schema.Lazy

	// Parse holds a raw input against the schema and turns it into the tool's own
	// type, or gives the problems, worded for the model.
	Parse func(json.RawMessage) (Input, schema.Problems)
	// Decode reads an input without the schema: for one that the permission layer
	// completed with internal members (H3).
	Decode func(json.RawMessage) (Input, schema.Problems)
	Call   func(ctx context.Context, in Input, c *Context) (Output, error)

	Validate func(Input, *Context) *Refusal
	Permit   func(Input, *Context) permission.Opinion
	Subject  func(Input, *Context) Subject
	// TakesContent reports whether a rule with a content can be about the tool's calls.
	TakesContent bool

	// Enabled is Traits.Enabled, with an error where it panics.
	Enabled func(settings.Settings) (bool, error)
	// What follows is the definition's own, of any input. Each function has a value; one
	// that panics gives the safe one (A5).
	Behaviour Traits[Input]
	Loading   Loading
	Shape     Shaping[Input]
	Limit     Limits[Input]
	Present   View[Input]
	Draw      Drawing[Input, any]
	// Partly reads as much of an input as there is, for drawing: of one that streams, or
	// that does not fit the schema. It decides nothing.
	Partly func(json.RawMessage) Input
}

// Input is a checked input: the bytes the model sent and the value they mean.
type Input struct {
	Raw   json.RawMessage
	Value any

	broke func(member string, err error)
}

// Reporting gives in such that broke is called with each member of a tool that panics
// when it is asked about it. The member's safe value counts in its place (A5).
func (in Input) Reporting(broke func(member string, err error)) Input {
	in.broke = broke
	return in
}

// report hands on that a member panicked; err may be nil.
func (in Input) report(member string, err error) {
	if err != nil && in.broke != nil {
		in.broke(member, err)
	}
}

// Output is a Result with its type erased and its data turned into blocks.
type Output struct {
	Data     any
	Blocks   []message.Block
	Failed   bool
	Messages []message.Message
	Modify   Modifier
	Observed []Observation
	Meta     *Meta
}

// DefaultResultChars is the largest inline result of a tool that names no limit.
const DefaultResultChars = 50_000

// SummaryChars is the longest one-line summary.
const SummaryChars = 50

// Names are the names of tools.
func Names(tools []*Tool) []string { return Each(tools, func(t *Tool) string { return t.Name }) }

// Each gives what f makes of each thing; of none, a list that is empty and not nil.
func Each[T, U any](all []T, f func(T) U) []U {
	made := make([]U, len(all))
	for i, one := range all {
		made[i] = f(one)
	}
	return made
}

// Count counts those of a list that are something.
func Count[T any](all []T, are func(T) bool) (n int) {
	for _, one := range all {
		if are(one) {
			n++
		}
	}
	return n
}

// IsMCP reports whether a server brought the tool.
func (t *Tool) IsMCP() bool { return t.Origin != nil }

// RuleSubject is the tool as permission rules see it.
func (t *Tool) RuleSubject() permission.Subject {
	return permission.Subject{Tool: t.Name, Aliases: t.Aliases, MCP: t.Origin}
}

// Matches reports whether name is the tool's name or an alias of it.
func (t *Tool) Matches(name string) bool { return t.Name == name || slices.Contains(t.Aliases, name) }

// OtherNames are the names by which the tool is known beside its own: its old ones and, of one that a
// server brought, that which says so, where it has a shorter one or another tool came first.
func (t *Tool) OtherNames() []string {
	if t.Origin == nil || t.Origin.Name() == t.Name {
		return t.Aliases
	}
	return append(slices.Clip(t.Aliases), t.Origin.Name())
}

// Result is what a call gives back (A3).
type Result[Out any] struct {
	// Data is the tool's answer.
	Data Out
	// Failed marks an answer that reports a failure of the tool's own run: the block is sent with is_error.
	Failed bool
	// Messages are added after the results of the turn (H5).
	Messages []message.Message
	// Modify changes the state; honoured for exclusive calls (B3).
	Modify Modifier
	// Observed is what a safe call learned; committed in call order (B5).
	Observed []Observation
	// Meta is what an MCP server sent beside the content.
	Meta *Meta
}

// Meta is the MCP side of a result.
type Meta struct {
	Meta       json.RawMessage
	Structured json.RawMessage
}

// Done is a Result of data alone.
func Done[Out any](data Out) Result[Out] { return Result[Out]{Data: data} }
