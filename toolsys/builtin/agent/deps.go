package agent

import (
	"context"
	"errors"
	"io"

	"toolbench/toolsys/tool"
)

// Deps is what the agent tools need from outside.
type Deps struct {
	// Types are the kinds of sub-agent on offer, the first being the default.
	// Without any, a call may not name one.
	Types []Type
	// MaxDepth is how deep agents may start agents: 0 and 1 mean that only the
	// main conversation does.
	MaxDepth int
	// Spawn runs a sub-agent to its end, with a state of its own (B4). Required.
	Spawn func(ctx context.Context, r SpawnRequest, c *tool.Context) (SpawnResult, error)
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

// SpawnRequest is what a sub-agent is to do.
type SpawnRequest struct {
	// Description is 3-5 words for the screen; Prompt is the whole task.
	Description, Prompt string
	// Type names one of Deps.Types, or is empty where there are none.
	Type string
	// Model is the model to use; empty means the parent's.
	Model string
}

// SpawnResult is what a sub-agent came back with.
type SpawnResult struct {
	// Text is its last message, which is its answer.
	Text string
	// Turns and Calls count the model's turns and the tool calls in them.
	Turns, Calls int
	// InputTokens and OutputTokens are as the API counted them, over all turns.
	InputTokens, OutputTokens int
}

// Job is an agent that runs in the background. Run writes the answer to out.
type Job struct {
	Title string
	Run   func(ctx context.Context, out io.Writer) (code int, err error)
}

// errNoBackground is the error of a background run where there is none.
var errNoBackground = errors.New("agents cannot run in the background here; call again without run_in_background")
