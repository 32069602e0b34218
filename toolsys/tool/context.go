package tool

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
)

// Context is what a call may read and ask for. It is layered (B1), so that a
// reader of a tool sees which layer it depends on.
type Context struct {
	Core
	Security
	Presentation
	Extensions
	// State is the conversation's state when the call began.
	State State
}

// Core is what every call has.
type Core struct {
	CallID  string
	AgentID string
	Chain   Chain
	Turn    int
	Model   string
	// Thinking is how the model thinks.
	Thinking message.Thinking
	// NonInteractive means nobody can be asked.
	NonInteractive bool
	// Settings are the conversation's, shared by its calls; nil outside of one (see CurrentSettings).
	Settings *settings.Settings
	// Messages is the conversation up to the message that made this call: that one may
	// still be streaming while the call runs. What State.Snipped names of it was not sent.
	// FirstMessage is the number of the first, 1 unless the conversation was compacted.
	Messages     []message.Message
	FirstMessage int
	// Parent is the message that made this call, up to the call itself: what stands behind it may still have to come.
	Parent message.Message
	// Commands are what the user can ask for by a slash and a name; nil where there are none.
	Commands func(ctx context.Context) []Command
	// InProgress names the calls that run at this moment.
	InProgress func() []string
	Clock      Clock
	// Running is the call itself; nil outside of a pipeline.
	Running Running
}

// CurrentSettings gives the settings; the zero ones, in which nothing is switched on, where there are none.
func (c *Core) CurrentSettings() settings.Settings {
	if c.Settings == nil {
		return settings.Settings{}
	}
	return *c.Settings
}

// Chain places a sub-agent's conversation under its parent's.
type Chain struct {
	ID    string
	Depth int
	// Forked: the agent went on from its parent's conversation.
	Forked bool
}

// Command is a text that the user asks for by a slash and its name: a skill, or a prompt of an MCP server.
type Command struct {
	Name, About string
	// Expand fills the command in.
	Expand func(ctx context.Context, args string) (Expansion, error)
}

// Expansion is what a command stands for.
type Expansion struct {
	// Blocks are what the model reads in its place.
	Blocks []message.Block
	// Modify is what becomes of the state, Hooks are what is asked from then on. Both may be nil.
	Modify Modifier
	Hooks  []HookSpec
}

// Clock is the only way to time.
type Clock struct {
	Now func() time.Time
	// Sleep waits for d or until ctx ends, whose cause it then gives, also where d is 0. Actor names who waits: the
	// simulator orders equal instants by it, so it must be unique among those who wait.
	Sleep func(ctx context.Context, actor string, d time.Duration) error
	// Go starts f beside the caller; actor as for Sleep.
	Go func(actor string, f func())
	// Unnamed: nobody asks which actor does what, as by the clock on the wall, so that
	// calls may share goroutines that Go knows nothing of.
	Unnamed bool
}

// Security is what the permission system decided and decides by.
type Security struct {
	Rules permission.Rules
	Mode  permission.Mode
	// Roots are the folders the conversation may work in, as State.Roots has them.
	Roots []string
	Home  string
	// Approved is true when a person allowed this very call.
	Approved bool
}

// Running is the way of a running call to the system that runs it.
type Running interface {
	// Progress reports on the call; it does nothing after the call (H4).
	Progress(text string)
	// MayAlso reports whether a further call of a tool would be allowed, and if not why: hooks,
	// rules, mode and person decide as on any call. It is not made by that.
	MayAlso(ctx context.Context, tool string, input any) (allowed bool, why string)
}

// Progress reports on the call, where somebody runs it who listens (H4).
func (c *Context) Progress(text string) {
	if c.Running != nil {
		c.Running.Progress(text)
	}
}

// Decided is what was decided of one call.
type Decided struct {
	Call, Tool string
	Allowed    bool
	Reason     permission.Reason
}

// Presentation is the way to the person at the screen.
type Presentation struct {
	// Notify shows the user something outside the conversation.
	Notify func(text string)
	// AskUser puts questions; nil where nobody can answer.
	AskUser func(ctx context.Context, q []Question) ([]Answer, error)
}

// Question is one multiple-choice question to the user, as the model puts it.
type Question struct {
	Text     string   `json:"question" minLength:"1" jsonschema:"The whole question, ending with a question mark"`
	Header   string   `json:"header" minLength:"1" maxLength:"12" jsonschema:"A label of 12 characters at most"`
	Options  []Option `json:"options" minItems:"2" maxItems:"4" jsonschema:"The answers on offer; the user can always write another"`
	Multiple bool     `json:"multiSelect,omitempty" jsonschema:"More than one answer may be chosen"`
}

// Option is one answer on offer.
type Option struct {
	Label       string `json:"label" minLength:"1" jsonschema:"The answer in one to five words"`
	Description string `json:"description" jsonschema:"What choosing it means"`
}

// Answer is what the user chose, or wrote instead.
type Answer struct{ Chosen []string }

// Extensions reach what is outside the conversation.
type Extensions struct {
	// GlobLimit is how many files Glob lists; 0 means its own default.
	GlobLimit int
	// Overhead is what a request carries beside the messages, as things stand.
	Overhead func() Overhead
	// Search looks through the deferred tools of this conversation (E5).
	Search func(ctx context.Context, query string, max int) (Found, error)
	// Spawn runs a sub-agent and waits for it (B4). Enlist gives an agent that is to be run
	// in the background its id, and adds it to the peers.
	Spawn  func(ctx context.Context, job Job) (Report, error)
	Enlist func(Peer) (Peer, error)
	// Hook adds a hook for the rest of the session, in which it holds for every agent (B4); one of
	// a name that was added already takes its place. nil where none can be added.
	Hook func(HookSpec) error
	// Servers are the MCP servers of the conversation.
	Servers func() []ServerState
	// Decisions are what was decided of the conversation's calls whose results are out, the oldest first (F3).
	Decisions func() []Decided
	// Replaced gives the file that holds the result of a call in full whose beginning alone is
	// sent; "" for any other (K1).
	Replaced func(call string) (file string)
	// Inner makes calls of tools that a wrapper may call, one after the other: next gives each in view of what came
	// of those before it, until there is none or a hook ends the turn. nil within such a call.
	Inner func(ctx context.Context, next func(done []InnerResult) (InnerCall, bool)) InnerReport
	// Elicit puts an MCP server's question to hooks and the user, and gives the answer in the protocol's words: a
	// declined one where nobody can be asked (N5). nil for a tool that no server has, and outside of a pipeline.
	Elicit func(ctx context.Context, server string, params []byte) ([]byte, error)
}

// HookSpec is a command that is asked about calls.
type HookSpec struct {
	// Name is how traces name it; Event, Matcher and If choose the calls, as in package hook.
	Name, Event, Matcher, If string
	// Command is run by the system's shell.
	Command string
	Timeout time.Duration
}

// ServerState is an MCP server as a conversation sees it.
type ServerState struct {
	Name string
	// Tools is how many of its tools there are; Pending: it is being connected.
	Tools   int
	Pending bool
}

// Overhead is what a request carries beside its messages, in bytes: the system's text, the definitions of tools, the
// names of those that are deferred. Window is the model's context window, in tokens.
type Overhead struct{ System, Tools, Names, Window int }

// Found is what a search for tools came to.
type Found struct {
	// Names are the tools found, best first; Definitions are theirs, in order.
	Names       []string
	Definitions []Definition
	// Missing are names that were selected and do not exist.
	Missing []string
	// Deferred is how many tools there were to search; Pending are servers that are still connecting.
	Deferred int
	Pending  []string
	// References: the model takes tool_reference blocks.
	References bool
}

// Definition is a tool as it is described to the model.
type Definition struct {
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Job is a sub-agent's task.
type Job struct {
	Description, Prompt string
	// Type names a kind of agent, Model another model; both may be "".
	Type, Model string
	// Kind is what the type makes of the agent.
	Kind AgentKind
	// Isolate changes the state the sub-agent begins with; nil leaves the copy.
	Isolate Modifier
	// Agent is the id that Enlist gave; "" takes the next. Then whoever enlisted the agent marks its end as well.
	Agent string
	// History is what an agent begins with that is resumed, or goes on from its parent's
	// conversation, which Forked marks.
	History []message.Message
	Forked  bool
	// Call is the call that begins the agent; the session fills it in.
	Call string
	// Progress is given what the agent's calls are, Idle the last words of one that stays
	// before it waits for messages. Either may be nil.
	Progress func(text string)
	Idle     func(text string)
}

// Report is what a sub-agent came back with.
type Report struct {
	Text         string
	Turns, Calls int
	// History and State are what the agent ended with, to be resumed from; they are there
	// for one that failed as well.
	History []message.Message
	State   State
	// Results are those of the agent's calls, where its kind keeps them.
	Results []CallResult
}

// CallResult is what came of one call of a sub-agent.
type CallResult struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Status string `json:"status"`
	Text   string `json:"text"`
}

// Abs gives path as an absolute, cleaned one: relative to the working directory, `~` being the home folder, where
// there is one. A UNC path stays as it is; no filesystem call may be made for one (L6).
func (c *Context) Abs(path string) string {
	switch {
	case strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//"):
		return path
	case path == "~" && c.Home != "":
		return c.Home
	case strings.HasPrefix(path, "~/") && c.Home != "":
		return filepath.Join(c.Home, path[2:])
	case !filepath.IsAbs(path):
		return filepath.Join(c.State.Dir, path)
	}
	return filepath.Clean(path)
}

// AgentKind is what a kind of sub-agent is besides its name. The zero value is an agent like
// the one that starts it. A kind can only narrow what that one may do.
type AgentKind struct {
	// System is what the agent reads before its task, in place of the conversation's.
	System string
	// Tools are the names of the tools it has, mcp__SERVER standing for all of a server; nil
	// leaves it all. Without are rules that deny it calls, or tools as a whole.
	Tools   []string
	Without []permission.Rule
	// Servers are the MCP servers whose tools it has; nil leaves it all.
	Servers []string
	// Mode is its permission mode where that lets less run than its parent's; nil keeps the parent's.
	Mode *permission.Mode
	// Reminder is what the agent is told anew with each message, beside what those above it are.
	Reminder string
	// Preserve keeps the results of the agent's calls for its parent.
	Preserve bool
}

// InnerCall is a call that another call makes.
type InnerCall struct {
	Tool  string
	Input json.RawMessage
}

// InnerResult is what came of one: the tool that was found, how the call ended, and the content of its result.
type InnerResult struct {
	Tool, Status string
	Failed       bool
	Blocks       []message.Block
}

// InnerReport is what came of all that were made. Modify is what they changed, which the
// call that made them hands on with Messages as its own.
type InnerReport struct {
	Results  []InnerResult
	Modify   Modifier
	Messages []message.Message
}
