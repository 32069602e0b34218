// Package loop is the conversation: it makes a request, reads the stream, has the calls scheduled and run, sends the
// results back, and does so again while there are calls (H5). It owns the State: modifiers and observations are
// applied here and nowhere else. Sub-agents are conversations of the same kind with a state of their own (B4).
package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// Model sends one request and hands on the data of each stream event as it comes, in order, until the stream ends. It
// returns nil at the end of the bytes, whether or not the message was complete: the loop looks at the events itself.
// An error of on ends the stream and is returned.
type Model func(ctx context.Context, req message.Request, on func(data []byte) error) error

// Config makes a Session.
type Config struct {
	// Model and Catalogue are required.
	Model     Model
	Catalogue *pool.Catalogue
	// Served is asked before each request; nil means no servers. The context ends when the
	// conversation is stopped or the user sends a message: then nobody waits for servers (J4).
	Served   func(context.Context) tool.Served
	Settings settings.Settings
	// Policy is how calls are run; the zero value is Serial, Streaming the fast one.
	Policy schedule.Policy
	// ModelName is sent with each request and decides on deferral (E3).
	ModelName string
	// MaxTokens bounds one reply; 0 means 8,192.
	MaxTokens int
	System    []message.Block
	Betas     []string
	// Thinking is how the model may think, unless that was changed in the session; Editing has
	// the API clear old results out of long requests.
	Thinking message.Thinking
	Editing  message.Editing
	// Diagnose asks the API with each request why its cache could not read more.
	Diagnose bool
	Handlers pipeline.Handlers
	// State is what the conversation starts from, History its earlier messages, and Reader the
	// model that they were sent to; "" means the one that reads them now.
	State   tool.State
	History []message.Message
	Reader  string
	// Watch, if set, is given the data of each stream event as it comes, with the id of the
	// agent whose model sends it: that of a sub-agent, or "".
	Watch func(agent string, data []byte)
	// Journal receives what a session that goes on after a kill needs, each entry before it is acted on; Reopen gives
	// the History back from them. An error stops the conversation. It is never called twice at once.
	Journal func(Entry) error
	// MaxTurns ends a conversation that goes on for ever; 0 means 100.
	MaxTurns int
	// Retries is how often an abandoned stream is tried again (J5); 0 means none.
	Retries int
	// Idle is how long a stream may make no progress before it is abandoned (J5); 0
	// means for ever. Pings are no progress.
	Idle time.Duration
	// Grace is how long calls that were asked to stop, for the user's message or the session's end, are waited for;
	// then they are answered and left to themselves (J4). 0 means schedule.DefaultGrace.
	Grace time.Duration
	Style pool.Style
	// Inbox has the messages to the conversation's agent, which are read before each
	// request; nil where there are none.
	Inbox *tool.Inbox
	// Stay is how long a conversation whose turn has ended waits for a message while one
	// is due, to go on with it; 0 ends it at once.
	Stay time.Duration
	// Compact is asked before each request whether the history is to be cut, and
	// what stands in its place; nil never cuts (E6).
	Compact func(ctx context.Context, history []message.Message) (sum Summary, due bool, err error)
	// Output is a JSON schema that the answer has to fit, an object; nil leaves the answer to be text. It is asked
	// for through a tool of its own, and comes as Completion.Output.
	Output json.RawMessage
	// Reminder is what the model is told anew with each message, so that it is never far up; "" tells it nothing.
	Reminder string
	// Commands are what the user can ask for by a slash and a name, with Send; nil has none.
	Commands func(ctx context.Context) []tool.Command
	// HookExec runs commands of hooks that are added in the session; nil takes none.
	HookExec hook.Exec
	// NonInteractive: nobody can be asked anything.
	NonInteractive bool
	Home           string
	GlobLimit      int
	// Definitions may be shared between sessions, to write each tool once.
	Definitions *pool.Definitions
	// Agent and Depth are set in a sub-agent's conversation.
	Agent string
	Depth int

	// progress and idle are a sub-agent's Job.Progress and Job.Idle, kinds its Job.Kind behind
	// those of the agents above it.
	progress, idle func(text string)
	kinds          []tool.AgentKind
	// above gives the mode that binds the conversation which began a sub-agent; nil in the main one.
	above func() permission.Mode
	// began is the call that began the sub-agent.
	began string
	// forked: the conversation goes on from its parent's. preserve keeps the results of calls for it.
	forked, preserve bool
}

// ErrConfig is wrapped by errors of New.
var ErrConfig = errors.New("invalid session")

func (c *Config) complete() error {
	c.MaxTokens = cmp.Or(c.MaxTokens, 8192)
	switch n := c.Thinking.Budget; {
	case c.Model == nil:
		return fmt.Errorf("%w: no model", ErrConfig)
	case c.Catalogue == nil:
		return fmt.Errorf("%w: no catalogue", ErrConfig)
	case c.Handlers.Clock.Now == nil || c.Handlers.Clock.Sleep == nil || c.Handlers.Clock.Go == nil:
		return fmt.Errorf("%w: the clock lacks a door", ErrConfig)
	case c.Settings.MaxConcurrency < 1:
		return fmt.Errorf("%w: at most %d calls at once; it must be at least 1", ErrConfig, c.Settings.MaxConcurrency)
	case n != 0 && (n < minThinking || n >= c.MaxTokens):
		return fmt.Errorf("%w: %d tokens to think with; it must be at least %d and less than the %d of a reply", ErrConfig, n, minThinking, c.MaxTokens)
	}
	c.Handlers.Hooks = c.Handlers.Hooks.Open(c.Handlers.Clock)
	if c.Served == nil {
		c.Served = func(context.Context) tool.Served { return tool.Served{} }
	}
	c.Grace = cmp.Or(c.Grace, schedule.DefaultGrace)
	c.MaxTurns = cmp.Or(c.MaxTurns, 100)
	c.Definitions = cmp.Or(c.Definitions, pool.NewDefinitions())
	return nil
}

// minThinking is the least an API takes as a budget.
const minThinking = 1024
