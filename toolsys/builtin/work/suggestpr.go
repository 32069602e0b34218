package work

import (
	"context"
	"fmt"
	"slices"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// SuggestIn is what SuggestBackgroundPR takes.
type SuggestIn struct {
	Title  string `json:"title" minLength:"1" maxLength:"100" jsonschema:"The change in a few words, as the pull request's title"`
	Reason string `json:"reason" minLength:"1" maxLength:"1000" jsonschema:"Why the change is worth a pull request of its own"`
	Prompt string `json:"prompt" minLength:"1" jsonschema:"The whole task for the agent that makes the change; it knows nothing of this conversation"`
}

// SuggestOut is what SuggestBackgroundPR answers with.
type SuggestOut struct {
	Accepted bool `json:"accepted"`
	// Answer is what the user chose or wrote; TaskID the background task, once accepted.
	Answer string `json:"answer"`
	TaskID string `json:"task_id,omitempty"`
}

// The answers on offer.
const (
	suggestYes = "Yes, in the background"
	suggestNo  = "No"
)

// SuggestBackgroundPR suggests to the user that a change beside the task at hand is made by an
// agent in the background, as a pull request of its own (SPEC L). The user's answer decides;
// only the first of the two answers on offer begins the agent.
func SuggestBackgroundPR(d Deps) *tool.Tool {
	return tool.Must(tool.Def[SuggestIn, SuggestOut]{
		Name:     "SuggestBackgroundPR",
		Describe: func(in SuggestIn) string { return "Suggest a pull request: " + in.Title },
		Texts:    prompts.Of("suggestpr"),
		Call:     d.suggest,
		Text:     SuggestOut.text,
		Validate: func(in SuggestIn, c *tool.Context) *tool.Refusal {
			return d.validateAgent(AgentIn{Description: in.Title, Prompt: in.Prompt}, c)
		},
		Permit: tool.Allows[SuggestIn]("it asks the user itself"),
		Traits: tool.Traits[SuggestIn]{NeedsUser: tool.Always[SuggestIn], Interrupt: tool.Cancel},
		View:   tool.Titled("Suggestion", "Waiting for an answer", func(in SuggestIn) string { return in.Title }),
	})
}

func (d Deps) suggest(ctx context.Context, in SuggestIn, c *tool.Context) (tool.Result[SuggestOut], error) {
	if c.Spawn == nil {
		return tool.Result[SuggestOut]{}, errNoAgents
	}
	if rule := agentRule(d.kind(AgentIn{}), c); rule != nil && rule.Behaviour == permission.Deny {
		return tool.Result[SuggestOut]{}, fmt.Errorf("no agent may make the change: %s", rule)
	}
	answers, err := askUser(ctx, QuestionIn{Questions: []tool.Question{{
		Header: "Pull request", Text: fmt.Sprintf("Make this change in the background, as a pull request: %s? %s", in.Title, in.Reason),
		Options: []tool.Option{
			{Label: suggestYes, Description: "an agent makes the change beside this conversation"},
			{Label: suggestNo, Description: "nothing is done about it"},
		},
	}}}, c)
	if err != nil {
		return tool.Result[SuggestOut]{}, err
	}
	out := SuggestOut{Answer: suggestNo}
	if chosen := answers.Answers[0].Chosen; len(chosen) > 0 {
		out.Answer, out.Accepted = chosen[0], slices.Equal(chosen, []string{suggestYes})
	}
	if !out.Accepted {
		return tool.Done(out), nil
	}
	began, err := d.startAgent(AgentIn{Description: in.Title, Prompt: in.Prompt + suggestTask}, c)
	out.TaskID = began.Data.TaskID
	return tool.Result[SuggestOut]{Data: out, Observed: began.Observed}, err
}

// suggestTask is what the agent is asked for beside the change itself.
const suggestTask = "\n\nWork on a branch of its own. Make this change and nothing else, run the tests that concern it, " +
	"open a pull request, and end with its address, or with what kept you from opening it."

func (out SuggestOut) text() string {
	switch {
	case out.Accepted:
		return fmt.Sprintf("The user accepted. An agent makes the change in the background as %s; go on with your own task and leave the change to it.", out.TaskID)
	case out.Answer == suggestNo:
		return "The user declined. Leave the change alone, and do not suggest it again."
	}
	return "The user did not accept, and wrote: " + out.Answer
}
