package agent

import (
	"cmp"
	"context"
	_ "embed" // the prompt beside this file
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

//go:embed agent.md
var agentPrompt string

// Why Agent refuses an input that fits its schema.
const (
	CodeTooDeep = iota + 1
	CodeUnknownType
)

// AgentIn is what Agent takes.
type AgentIn struct {
	Description     string `json:"description" minLength:"1" jsonschema:"The task in three to five words"`
	Prompt          string `json:"prompt" minLength:"1" jsonschema:"The whole task: the agent knows nothing else of this conversation"`
	SubagentType    string `json:"subagent_type,omitempty" jsonschema:"The kind of agent to use"`
	Model           string `json:"model,omitempty" jsonschema:"The model to use instead of this conversation's"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"Return at once; read the answer with TaskOutput later"`
}

// AgentOut is what Agent answers with. A background agent has a task id and
// nothing else yet.
type AgentOut struct {
	// Text is the agent's last message, which is its answer.
	Text string `json:"text,omitempty"`
	// Turns and Calls count the model's turns and the tool calls in them.
	Turns  int    `json:"turns,omitempty"`
	Calls  int    `json:"calls,omitempty"`
	TaskID string `json:"task_id,omitempty"`
}

// Agent hands a task to a sub-agent and gives back its answer (SPEC L, B4).
// Agents have states of their own, so several may run at once. The call allows
// itself, since each call the sub-agent makes is decided upon by itself.
func Agent(d Deps) *tool.Tool {
	return tool.Must(tool.Def[AgentIn, AgentOut]{
		Name:        "Agent",
		Aliases:     []string{"Task"},
		Hint:        "delegate a task to a sub-agent",
		Description: "Hands a task to a sub-agent that works on its own and reports back.",
		Describe:    func(in AgentIn) string { return in.Description },
		Prompt:      func(tool.PromptOptions) string { return agentPrompt + d.typesText() },
		Call: func(ctx context.Context, in AgentIn, c *tool.Context) (tool.Result[AgentOut], error) {
			switch {
			case c.Spawn == nil:
				return tool.Result[AgentOut]{}, errNoAgents
			case in.RunInBackground:
				return d.start(in, c)
			}
			return d.run(ctx, in, c)
		},
		Block:    func(out AgentOut) []message.Block { return []message.Block{message.Text(out.answer())} },
		Validate: d.validate,
		Permit: func(AgentIn, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Allow, Text: "each call the agent makes is decided upon by itself"}
		},
		Subject: func(in AgentIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: d.kind(in)} },
		Traits: tool.Traits[AgentIn]{
			// A background agent gets its id when it starts, so starts keep call order.
			Safe:      func(in AgentIn) bool { return !in.RunInBackground },
			Interrupt: tool.Cancel,
		},
		Shaping: tool.Shaping[AgentIn]{Classifier: func(in AgentIn) string { return in.Prompt }},
		View: tool.View[AgentIn]{
			Title:    func(in AgentIn) string { return cmp.Or(d.kind(in), "Agent") },
			Color:    "agent",
			Summary:  func(in AgentIn) string { return in.Description },
			Activity: func(in AgentIn) string { return in.Description },
		},
	})
}

// kind is the type the call asks for, or the default one.
func (d Deps) kind(in AgentIn) string {
	if in.SubagentType == "" && len(d.Types) > 0 {
		return d.Types[0].Name
	}
	return in.SubagentType
}

func (d Deps) validate(in AgentIn, c *tool.Context) *tool.Refusal {
	if limit := max(1, d.MaxDepth); c.Chain.Depth >= limit {
		return &tool.Refusal{Message: fmt.Sprintf("a sub-agent at depth %d may not start another; do the work yourself", c.Chain.Depth), Code: CodeTooDeep}
	}
	if in.SubagentType == "" || slices.Contains(d.typeNames(), in.SubagentType) {
		return nil
	}
	kinds := "there are no types here, leave subagent_type out"
	if len(d.Types) > 0 {
		kinds = "there are " + strings.Join(d.typeNames(), ", ")
	}
	return &tool.Refusal{Message: fmt.Sprintf("no agent type %q; %s", in.SubagentType, kinds), Code: CodeUnknownType}
}

func (d Deps) typeNames() []string {
	names := make([]string, len(d.Types))
	for i, t := range d.Types {
		names[i] = t.Name
	}
	return names
}

func (d Deps) typesText() string {
	var b strings.Builder
	for i, t := range d.Types {
		if i == 0 {
			b.WriteString("\nTypes of agent (the first is the default):\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", t.Name, t.When)
	}
	return b.String()
}

func (d Deps) job(in AgentIn) tool.Job {
	return tool.Job{Description: in.Description, Prompt: in.Prompt, Type: d.kind(in), Model: in.Model}
}

func (d Deps) run(ctx context.Context, in AgentIn, c *tool.Context) (tool.Result[AgentOut], error) {
	got, err := c.Spawn(ctx, d.job(in))
	if err != nil {
		return tool.Result[AgentOut]{}, fmt.Errorf("the agent %q did not finish: %w", in.Description, err)
	}
	return tool.Done(AgentOut{Text: got.Text, Turns: got.Turns, Calls: got.Calls}), nil
}

func (d Deps) start(in AgentIn, c *tool.Context) (tool.Result[AgentOut], error) {
	if d.Start == nil {
		return tool.Result[AgentOut]{}, errNoBackground
	}
	spawn := c.Spawn // outlives the call, as the job does
	id, err := d.Start(c, Job{Title: in.Description, Run: func(ctx context.Context, out io.Writer) (int, error) {
		got, err := spawn(ctx, d.job(in))
		if err != nil {
			return 1, err
		}
		_, err = io.WriteString(out, got.Text)
		return 0, err
	}})
	if err != nil {
		return tool.Result[AgentOut]{}, fmt.Errorf("the agent did not start: %w", err)
	}
	return tool.Result[AgentOut]{
		Data:     AgentOut{TaskID: id},
		Observed: []tool.Observation{{Task: id}},
	}, nil
}

func (out AgentOut) answer() string {
	switch {
	case out.TaskID != "":
		return fmt.Sprintf("The agent runs in the background as %s. Read its answer with TaskOutput; end it with TaskStop.", out.TaskID)
	case out.Text == "":
		return "The agent ended without an answer."
	}
	return out.Text
}

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
	// When is what to use it for, worded for the model.
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
