package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/agent"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

func parse(t *testing.T, tl *tool.Tool, raw string) tool.Input {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems, raw)
	return in
}

var deps = agent.Deps{Types: []agent.Type{{Name: "general", When: "anything"}, {Name: "explore", When: "reading only"}}}

// spawning gives a context whose sub-agents note their jobs and answer with text.
func spawning(jobs *[]tool.Job, err error) *tool.Context {
	c := &tool.Context{}
	c.Spawn = func(_ context.Context, j tool.Job) (tool.Report, error) {
		*jobs = append(*jobs, j)
		return tool.Report{Text: "found it in a.go", Turns: 3, Calls: 5}, err
	}
	return c
}

func TestAgentHandsOverTheTaskAndBringsTheAnswer(t *testing.T) {
	var asked []tool.Job
	a := agent.Agent(deps)
	out, err := a.Call(t.Context(), parse(t, a, `{"description":"find it","prompt":"Find x.","subagent_type":"explore","model":"small"}`), spawning(&asked, nil))
	require.NoError(t, err)
	assert.Equal(t, []tool.Job{{Description: "find it", Prompt: "Find x.", Type: "explore", Model: "small"}}, asked)
	assert.Equal(t, "found it in a.go", message.PlainText(out.Blocks))
	assert.Equal(t, agent.AgentOut{Text: "found it in a.go", Turns: 3, Calls: 5}, out.Data)
	assert.Nil(t, out.Modify, "a sub-agent's state is its own")
}

func TestTheFirstTypeIsTheDefault(t *testing.T) {
	var asked []tool.Job
	a := agent.Agent(deps)
	in := parse(t, a, `{"description":"d","prompt":"p"}`)
	_, err := a.Call(t.Context(), in, spawning(&asked, nil))
	require.NoError(t, err)
	assert.Equal(t, "general", asked[0].Type)
	assert.Equal(t, "general", a.Subject(in, &tool.Context{}).Content)
}

func TestAnAgentThatFailsIsAnError(t *testing.T) {
	var asked []tool.Job
	broken := errors.New("no model")
	a := agent.Agent(deps)
	_, err := a.Call(t.Context(), parse(t, a, `{"description":"find it","prompt":"p"}`), spawning(&asked, broken))
	assert.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "find it")
}

func TestAgentsGoOneLevelDeepUnlessToldOtherwise(t *testing.T) {
	for _, test := range []struct {
		max, depth int
		refused    bool
	}{{0, 0, false}, {0, 1, true}, {1, 1, true}, {3, 2, false}, {3, 3, true}} {
		d := deps
		d.MaxDepth = test.max
		a := agent.Agent(d)
		c := &tool.Context{}
		c.Chain.Depth = test.depth
		refusal := a.Validate(parse(t, a, `{"description":"d","prompt":"p"}`), c)
		assert.Equal(t, test.refused, refusal != nil, test)
		if refusal != nil {
			assert.Equal(t, agent.CodeTooDeep, refusal.Code)
		}
	}
}

func TestAnUnknownTypeNamesTheKnown(t *testing.T) {
	d := deps
	a := agent.Agent(d)
	in := parse(t, a, `{"description":"d","prompt":"p","subagent_type":"wizard"}`)
	refusal := a.Validate(in, &tool.Context{})
	require.NotNil(t, refusal)
	assert.Contains(t, refusal.Message, `no agent type "wizard"; there are general, explore`)

	d.Types = nil
	a = agent.Agent(d)
	assert.Contains(t, a.Validate(in, &tool.Context{}).Message, "leave subagent_type out")
}

func TestABackgroundAgentIsATaskThatWritesItsAnswer(t *testing.T) {
	var asked []tool.Job
	var job agent.Job
	d := deps
	d.Start = func(_ *tool.Context, j agent.Job) (string, error) { job = j; return "task_4", nil }
	a := agent.Agent(d)
	out, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p","run_in_background":true}`), spawning(&asked, nil))
	require.NoError(t, err)
	assert.Empty(t, asked, "it does not run in the call")
	assert.Equal(t, []tool.Observation{{Task: "task_4"}}, out.Observed)
	assert.Contains(t, message.PlainText(out.Blocks), "task_4")

	var written bytes.Buffer
	code, err := job.Run(t.Context(), &written)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, "look", job.Title)
	assert.Equal(t, "found it in a.go", written.String())
}

func TestWithoutBackgroundTasksTheErrorNamesTheRemedy(t *testing.T) {
	var asked []tool.Job
	a := agent.Agent(deps)
	_, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p","run_in_background":true}`), spawning(&asked, nil))
	assert.ErrorContains(t, err, "without run_in_background")
}

func TestAgentsRunSideBySideAndAreAlwaysLoaded(t *testing.T) {
	a := agent.Agent(deps)
	in := parse(t, a, `{"description":"d","prompt":"p"}`)
	safe, err := a.Behaviour.Safe(in)
	require.NoError(t, err)
	readOnly, err := a.Behaviour.ReadOnly(in)
	require.NoError(t, err)
	assert.True(t, safe)
	safe, err = a.Behaviour.Safe(parse(t, a, `{"description":"d","prompt":"p","run_in_background":true}`))
	require.NoError(t, err)
	assert.False(t, safe, "background agents start in call order, so that their ids do not depend on chance")
	assert.False(t, readOnly)
	assert.False(t, a.Loading.Deferrable)
	assert.True(t, a.Matches("Task"))
	assert.Contains(t, a.Prompt(tool.PromptOptions{}), "- explore: reading only\n")
	assert.Equal(t, permission.Allow, a.Permit(in, &tool.Context{}).Behaviour)
}

func TestWhereNothingRunsAgentsTheErrorSaysSo(t *testing.T) {
	a := agent.Agent(deps)
	_, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p"}`), &tool.Context{})
	assert.ErrorContains(t, err, "do the work yourself")
}
