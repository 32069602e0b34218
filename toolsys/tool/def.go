// Package tool is the contract every tool meets, whatever its origin: built in,
// served over MCP, or brought by a user (A1).
//
// An author fills a Def, a struct of functions over the tool's own Go types, whose zero members are the safe ones.
// Build checks it once, erases the types and leaves no nil function behind; the result, a Tool, is a plain value that
// a decorator may copy and change. State is a value as well: a tool reads it and answers with a Modifier (B2) or with
// Observations (B5), and never reaches out to change anything of the conversation itself.
//
// The package depends on no particular tool, and neither the pool, the pipeline nor the scheduler that work with it.
package tool

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
)

// Def is what the author of a tool writes. In is the Go type of its input, from which the schema is derived; Out that
// of its data. Name, Call, Description and an input schema are required; all else has a safe default (A2).
type Def[In, Out any] struct {
	// Name is what the model calls; letters, digits, _ and -, 128 at most.
	Name string
	// Aliases are old names that still find the tool, in look-ups and in rules (F4).
	Aliases []string
	// Hint is 3-10 words for ToolSearch (E5).
	Hint string
	// Origin is set on tools that a server brought.
	Origin *Origin
	// LSP marks a tool of a language server.
	LSP bool

	// Description is one sentence on what the tool does.
	Description string
	// Describe words what this call does; the default is Description.
	Describe func(In) string
	// Prompt is the tool's description in a request; the default is Description.
	Prompt func(PromptOptions) string
	// Texts stand for Hint, Description and Prompt where those are left out.
	Texts Texts

	// InputSchema replaces the schema derived from In: a JSON Schema whose root is an object.
	InputSchema json.RawMessage
	// OutputSchema replaces the schema derived from Out.
	OutputSchema json.RawMessage
	// Strict asks the API to hold the model to the schema.
	Strict bool
	// Wire is what else the API is told of the tool.
	Wire Wire
	// Coordinates: who directs other agents and does no work itself may use the tool.
	Coordinates bool
	// Internal names input members that only the permission layer may set; they
	// are stripped from what the model sends (H3).
	Internal []string
	// Complete gives the input of a call with its internal members, once a person
	// approved the call; false leaves the input as it is.
	Complete func(in In, c *Context) (json.RawMessage, bool)

	// Call does the work. An error is an error result, not a broken run.
	Call func(ctx context.Context, in In, c *Context) (Result[Out], error)
	// Text turns data into the text of the result block; the default is JSON. Block is
	// for a tool whose result is more than one text.
	Text  func(Out) string
	Block func(Out) []message.Block

	// Validate looks at an input the schema allows, before permission.
	Validate func(in In, c *Context) *Refusal
	// Permit is the tool's own permission check; the default leaves the call to the general rules.
	Permit func(in In, c *Context) permission.Opinion
	// Subject is what rules and a hook's `if` match against.
	Subject func(in In, c *Context) Subject

	Traits  Traits[In]
	Loading Loading
	Shaping Shaping[In]
	Limits  Limits[In]
	View    View[In]
	Draw    Drawing[In, Out]
}

// Wire is what the API is told of a tool beside its name, description and schema.
type Wire struct {
	// Schema is what the API takes of the input schema, where that is not the whole.
	Schema json.RawMessage
	// Examples are inputs as calls should have them; each has to fit the schema.
	Examples []json.RawMessage
	// Callers are who may call the tool: message.Direct, and kinds of the API's own tools,
	// such as code_execution_20250825, in which a program of the model calls it. None stands
	// for message.Direct alone, and a call of anybody else is refused.
	Callers []string
	// Eager has the input streamed as it is written, whether or not it becomes valid.
	Eager bool
	// Type names a tool that the API knows: it is sent by its type and its name alone.
	Type string
}

// Takes reports whether a caller may call the tool.
func (w Wire) Takes(caller string) bool {
	if len(w.Callers) == 0 {
		return caller == message.Direct
	}
	return slices.Contains(w.Callers, caller)
}

// PromptOptions is what a tool's prompt may depend on.
type PromptOptions struct {
	Settings settings.Settings
	// Tools are the names in the pool, so that one tool may point to another. Nobody may change them.
	Tools []string
	// Broke is called when the tool's function panics and its description stands in for the prompt; it may be nil.
	Broke func(err error)
}

// Origin names where an MCP tool comes from.
type Origin = permission.Origin

// Refusal is why an input that fits the schema is still not acceptable.
type Refusal struct {
	Message string
	Code    int
}

// Subject is what a call is about, in the terms of permission rules. See
// permission.Query for what each member means to a rule.
type Subject struct {
	// Paths are the absolute files and folders the call touches; PathsUnknown
	// reports that there may be others, Tree that all below them is touched.
	Paths              []string
	PathsUnknown, Tree bool
	// Shell is the command of a call that runs one (F4).
	Shell *permission.Shell
	// Kin are tools whose rules with a content match this call too.
	Kin []string
	// Bound are tools whose rules with a content forbid this call too, and never allow it.
	Bound []string
	// Content is what a plain rule content matches: a domain, a skill's name. OthersUnknown reports that the
	// call may be about others.
	Content       string
	OthersUnknown bool
	// Servers are the MCP servers that a tool of another origin takes something from.
	Servers []string
}

// Class is how a call is folded on a screen (L3).
type Class struct{ Search, Read, List bool }

// Interrupt is what a call does when the user sends a new message (J4).
type Interrupt int

// Block lets a call that has begun its work end first; Cancel stops it. A call that
// only waits, for a permission or a hook, is stopped under both.
const (
	Block Interrupt = iota
	Cancel
)

func (i Interrupt) String() string {
	if i == Cancel {
		return "cancel"
	}
	return "block"
}

// Traits describe behaviour, each for a given input. A nil function means the
// safe value: enabled, exclusive, not read-only, not destructive, closed world.
type Traits[In any] struct {
	Enabled     func(settings.Settings) bool
	Safe        func(In) bool
	ReadOnly    func(In) bool
	Destructive func(In) bool
	OpenWorld   func(In) bool
	NeedsUser   func(In) bool
	Class       func(In) Class
	// Interrupt is what happens on the user's new message.
	Interrupt Interrupt
	// EditsFiles marks the class that accept-edits mode lets through (F2).
	EditsFiles bool
	// Wrapper lets the inner tool's call be shown in place of this one.
	Wrapper bool
	// FailureStopsSiblings: a failed run cancels the message's other calls (J3).
	FailureStopsSiblings bool
	// Effects is what the call reads and writes (J8); nil means everything.
	Effects func(in In, c *Context) Effects
}

// Effects is what a call reads and writes, as keys (paths, names); one that ends in "/**" stands for all below it
// (J8). The zero value touches nothing; Everything stands for a call that declares nothing.
//
// Whatever of the state other calls decide by - working directory, environment,
// permission mode, rules - only a call with Everything may change.
type Effects struct {
	Reads, Writes []string
	// Shifts are those of Writes that may stand for something else afterwards: names
	// that are removed, moved or linked.
	Shifts     []string
	Everything bool
}

// Loading reports whether the tool may be sent by name only (E1).
type Loading struct{ Deferrable, Always bool }

// Shaping changes what observers of an input see, never what is sent on (G2).
type Shaping[In any] struct {
	// Backfill adds derived members to a clone of the raw input; idempotent.
	Backfill func(raw map[string]any, c *Context)
	// Equivalent reports whether two inputs ask for the same.
	Equivalent func(a, b In) bool
	// Classifier is what the safety classifier reads; "" skips it (A2).
	Classifier func(In) string
}

// Unlimited is a result size without a limit: the tool limits itself (K1).
const Unlimited = -1

// Limits bound one call.
type Limits[In any] struct {
	// ResultChars is the largest result sent inline, in code points; 0 means 50,000, Unlimited means no limit (K1).
	ResultChars int
	// Timeout bounds the run itself; queue and permission time do not count. nil or 0 means none.
	Timeout func(In) time.Duration
	// Total, where it is more than Timeout, has each report of progress put the end of Timeout off, as far as Total
	// in all: a call that is at work may take long, one that only reports so may not take for ever.
	Total time.Duration
	// Asks is of a call that may put questions to a person while it runs: their time does not count as its own.
	Asks bool
	// Heartbeat makes the pipeline report progress this often while Call runs (L4).
	Heartbeat time.Duration
}

// View is how a call is named on a screen.
type View[In any] struct {
	// Title is the user-facing name; the default is Name. Color is a theme name.
	Title func(In) string
	Color string
	// Summary is one line of 50 characters at most.
	Summary func(In) string
	// Activity replaces the name while the call runs ("Reading a.go").
	Activity func(In) string
}

// Always is a predicate that holds for every input.
func Always[In any](In) bool { return true }

// Data makes a Call of a function that gives nothing but data.
func Data[In, Out any](f func(context.Context, In, *Context) (Out, error)) func(context.Context, In, *Context) (Result[Out], error) {
	return func(ctx context.Context, in In, c *Context) (Result[Out], error) {
		data, err := f(ctx, in, c)
		return Result[Out]{Data: data}, err
	}
}

// Looks are the traits of a tool that only looks at what reads gives: it runs beside
// others and stops when the user sends a message.
func Looks[In any](class Class, reads func(in In, c *Context) []string) Traits[In] {
	return Traits[In]{
		Safe: Always[In], ReadOnly: Always[In], Interrupt: Cancel,
		Class:   func(In) Class { return class },
		Effects: func(in In, c *Context) Effects { return Effects{Reads: reads(in, c)} },
	}
}

// Allows is the check of a tool whose calls need nobody's permission, with the reason.
func Allows[In any](why string) func(In, *Context) permission.Opinion {
	return func(In, *Context) permission.Opinion {
		return permission.Opinion{Behaviour: permission.Allow, Text: why}
	}
}

// Asks is the check of a tool whose calls are put to the user, with the question.
func Asks[In any](question string) func(In, *Context) permission.Opinion {
	return func(In, *Context) permission.Opinion {
		return permission.Opinion{Behaviour: permission.Ask, Text: question}
	}
}

// Titled is a view whose title and activity are the same for every call; summary may be nil.
func Titled[In any](title, activity string, summary func(In) string) View[In] {
	return View[In]{Title: func(In) string { return title }, Summary: summary, Activity: func(In) string { return activity }}
}

// Doing is [Titled] with an activity that the summary ends, as a path does "Reading ".
func Doing[In any](title, verb string, summary func(In) string) View[In] {
	view := Titled(title, verb, summary)
	view.Activity = func(in In) string { return verb + summary(in) }
	return view
}

// Colored is the view in a color.
func (v View[In]) Colored(color string) View[In] {
	v.Color = color
	return v
}

// Prompt is a prompt that depends on nothing.
func Prompt(text string) func(PromptOptions) string {
	return func(PromptOptions) string { return text }
}

// Prompts are the prompts of a family of tools, by the names of their files.
type Prompts map[string]string

// ReadPrompts reads the files NAME.md of a family.
func ReadPrompts(files embed.FS) Prompts {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := Prompts{}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(e.Name(), ".md")] = string(text)
	}
	return all
}

// Text is the prompt of a name. One that is not there is a programmer's mistake and panics.
func (p Prompts) Text(name string) string {
	text, ok := p[name]
	if !ok {
		panic("there is no prompt " + name + ".md")
	}
	return text
}

// Texts are a tool's words for models, as its file has them.
type Texts struct{ Hint, Description, Prompt string }

// Of are the texts of a name: the hint and the description between the lines that begin its file, and the
// prompt below.
func (p Prompts) Of(name string) Texts {
	head, prompt, _ := strings.Cut(strings.TrimPrefix(p.Text(name), "---\n"), "---\n")
	member := func(key string) string {
		_, text, _ := strings.Cut("\n"+head, "\n"+key+": ")
		text, _, _ = strings.Cut(text, "\n")
		return text
	}
	return Texts{member("hint"), member("description"), prompt}
}
