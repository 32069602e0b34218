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
	// NonInteractive means nobody can be asked.
	NonInteractive bool
	Settings       settings.Settings
	// Messages is the conversation as it was sent, up to the message that made
	// this call: that one may still be streaming while the call runs.
	Messages []message.Message
	// InProgress names the calls that run at this moment.
	InProgress func() []string
	Clock      Clock
}

// Chain places a sub-agent's conversation under its parent's.
type Chain struct {
	ID    string
	Depth int
}

// Clock is the only way to time.
type Clock struct {
	Now func() time.Time
	// Sleep waits for d or until ctx ends. Actor names who waits: the simulator
	// orders equal instants by it, so it must be unique among those who wait.
	Sleep func(ctx context.Context, actor string, d time.Duration) error
	// Go starts f beside the caller; actor as for Sleep.
	Go func(actor string, f func())
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

// Presentation is the way to the person at the screen.
type Presentation struct {
	// Progress reports on a running call; it does nothing after the call (H4).
	Progress func(text string)
	// Notify shows the user something outside the conversation.
	Notify func(text string)
	// AskUser puts questions; nil where nobody can answer.
	AskUser func(ctx context.Context, q []Question) ([]Answer, error)
}

// Question is one multiple-choice question to the user.
type Question struct {
	Header   string
	Text     string
	Options  []Option
	Multiple bool
}

// Option is one answer on offer.
type Option struct{ Label, Description string }

// Answer is what the user chose, or wrote instead.
type Answer struct{ Chosen []string }

// Extensions reach what is outside the conversation.
type Extensions struct {
	// GlobLimit is how many files Glob lists; 0 means its own default.
	GlobLimit int
	// Search looks through the deferred tools of this conversation (E5).
	Search func(ctx context.Context, query string, max int) (Found, error)
	// Spawn runs a sub-agent and waits for it (B4).
	Spawn func(ctx context.Context, job Job) (Report, error)
	// Elicit puts an MCP server's question to hooks and the user, and gives the answer
	// in the protocol's words: a declined one where nobody can be asked (N5). nil
	// outside of a pipeline.
	Elicit func(ctx context.Context, server string, params []byte) ([]byte, error)
}

// Found is what a search for tools came to.
type Found struct {
	// Names are the tools found, best first; Definitions are theirs, in order.
	Names       []string
	Definitions []Definition
	// Missing are names that were selected and do not exist.
	Missing []string
	// Deferred is how many tools there were to search; Pending are servers that
	// are still connecting.
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
	// Isolate changes the state the sub-agent begins with; nil leaves the copy.
	Isolate Modifier
}

// Report is what a sub-agent came back with.
type Report struct {
	Text         string
	Turns, Calls int
}

// Abs gives path as an absolute, cleaned one: relative to the working directory,
// `~` being the home folder. A UNC path stays as it is; no filesystem call may be
// made for one (L6).
func (c *Context) Abs(path string) string {
	switch {
	case strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//"):
		return path
	case path == "~":
		return c.Home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(c.Home, path[2:])
	case !filepath.IsAbs(path):
		return filepath.Join(c.State.Dir, path)
	}
	return filepath.Clean(path)
}
