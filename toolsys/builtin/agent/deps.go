package agent

import (
	"context"
	"errors"
	"io"

	"toolbench/toolsys/tool"
)

// Deps is what the agent tools need from outside. How an agent is run comes with
// each call, in its context (Spawn), since the child descends from the caller.
type Deps struct {
	// Types are the kinds of sub-agent on offer, the first being the default.
	// Without any, a call may not name one.
	Types []Type
	// MaxDepth is how deep agents may start agents: 0 and 1 mean that only the
	// main conversation does.
	MaxDepth int
	// Start runs a job beside the conversation and gives its task id; nil where
	// there are no background tasks.
	Start func(c *tool.Context, j Job) (id string, err error)
}

// Type is one kind of sub-agent.
type Type struct {
	Name string
	// When says, for the model, what to use it for.
	When string
}

// Job is an agent that runs in the background. Run writes the answer to out.
type Job struct {
	Title string
	Run   func(ctx context.Context, out io.Writer) (code int, err error)
}

// errNoAgents is the error where nothing can run a sub-agent.
var errNoAgents = errors.New("sub-agents cannot run here; do the work yourself")

// errNoBackground is the error of a background run where there is none.
var errNoBackground = errors.New("agents cannot run in the background here; call again without run_in_background")
