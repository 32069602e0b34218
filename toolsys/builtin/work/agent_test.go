package work_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

var deps = work.Deps{Agents: []work.AgentType{{Name: "general", When: "anything"}, {Name: "explore", When: "reading only"}}}

// spawning gives a context whose sub-agents note their jobs and answer with text.
func spawning(jobs *[]tool.Job, err error) *tool.Context {
	c := &tool.Context{}
	c.Spawn = func(_ context.Context, j tool.Job) (tool.Report, error) {
		*jobs = append(*jobs, j)
		return tool.Report{Text: "found it in a.go", Turns: 3, Calls: 5}, err
	}
	return c
}

// Nobody is asked about a change in the background where no agent may make it.
func TestNoChangeIsSuggestedThatNoAgentMayMake(t *testing.T) {
	suggest := work.SuggestBackgroundPR(deps)
	for rule, forbidden := range map[string]bool{"Agent": true, "Agent(general)": true, "Agent(explore)": false, "Skill": false} {
		rules, err := permission.Rules{}.Parse(permission.Project, permission.Deny, rule)
		require.NoError(t, err)
		c, asked := spawning(new([]tool.Job), nil), 0
		c.Rules = rules
		c.AskUser = func(_ context.Context, qs []tool.Question) ([]tool.Answer, error) {
			asked++
			return []tool.Answer{{Chosen: []string{qs[0].Options[1].Label}}}, nil
		}
		_, err = suggest.Call(t.Context(), parse(t, suggest, `{"title":"Fix it","reason":"It is wrong.","prompt":"Fix a.go."}`), c)
		if forbidden {
			assert.ErrorContains(t, err, "no agent may make the change", rule)
			assert.Zero(t, asked, rule)
		} else {
			assert.NoError(t, err, rule)
			assert.Equal(t, 1, asked, rule)
		}
	}
}

func TestAgentHandsOverTheTaskAndBringsTheAnswer(t *testing.T) {
	var asked []tool.Job
	a := work.Agent(deps)
	out, err := a.Call(t.Context(), parse(t, a, `{"description":"find it","prompt":"Find x.","subagent_type":"explore","model":"small"}`), spawning(&asked, nil))
	require.NoError(t, err)
	require.Len(t, asked, 1)
	assert.NotNil(t, asked[0].Progress, "what the agent calls is reported")
	asked[0].Progress = nil // functions are not compared
	assert.Equal(t, tool.Job{Description: "find it", Prompt: "Find x.", Type: "explore", Model: "small"}, asked[0])
	assert.Equal(t, "found it in a.go", message.PlainText(out.Blocks))
	assert.Equal(t, work.AgentOut{Text: "found it in a.go", Turns: 3, Calls: 5}, out.Data)
	assert.Nil(t, out.Modify, "a sub-agent's state is its own")
}

func TestTheFirstTypeIsTheDefault(t *testing.T) {
	var asked []tool.Job
	a := work.Agent(deps)
	in := parse(t, a, `{"description":"d","prompt":"p"}`)
	_, err := a.Call(t.Context(), in, spawning(&asked, nil))
	require.NoError(t, err)
	assert.Equal(t, "general", asked[0].Type)
	assert.Equal(t, "general", a.Subject(in, &tool.Context{}).Content)
}

func TestAnAgentThatFailsIsAnError(t *testing.T) {
	var asked []tool.Job
	broken := errors.New("no model")
	a := work.Agent(deps)
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
		a := work.Agent(d)
		c := &tool.Context{}
		c.Chain.Depth = test.depth
		refusal := a.Validate(parse(t, a, `{"description":"d","prompt":"p"}`), c)
		assert.Equal(t, test.refused, refusal != nil, test)
		if refusal != nil {
			assert.Equal(t, work.CodeTooDeep, refusal.Code)
		}
	}
}

func TestAnUnknownTypeNamesTheKnown(t *testing.T) {
	d := deps
	a := work.Agent(d)
	in := parse(t, a, `{"description":"d","prompt":"p","subagent_type":"wizard"}`)
	refusal := a.Validate(in, &tool.Context{})
	require.NotNil(t, refusal)
	assert.Contains(t, refusal.Message, `no agent type "wizard"; there are general, explore`)

	d.Agents = nil
	a = work.Agent(d)
	assert.Contains(t, a.Validate(in, &tool.Context{}).Message, "leave subagent_type out")
}

func TestABackgroundAgentIsATaskThatWritesItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []tool.Job
		d := deps
		d.Tasks, d.Inbox = newTasks(nil), newInbox()
		a := work.Agent(d)
		c := spawning(&asked, nil)
		c.AgentID = "agent_1"
		c.Enlist = func(p tool.Peer) (tool.Peer, error) {
			p.Agent, p.Parent = "agent_1.1", "agent_1"
			return d.Inbox.Join(p)
		}
		out, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p","run_in_background":true}`), c)
		require.NoError(t, err)
		assert.Equal(t, []tool.Observation{{Task: "task_1"}}, out.Observed)
		assert.Contains(t, message.PlainText(out.Blocks), "task_1")

		task, err := d.Tasks.Wait(t.Context(), "task_1", time.Minute)
		require.NoError(t, err)
		assert.Equal(t, tool.TaskSpec{Kind: "agent", Title: "look", Agent: "agent_1"}, task.TaskSpec)
		assert.Zero(t, task.Exit)
		assert.Len(t, asked, 1)
		written, _, err := d.Tasks.Output("task_1")
		require.NoError(t, err)
		assert.Equal(t, "found it in a.go", written)
	})
}

func TestWithoutBackgroundTasksTheErrorNamesTheRemedy(t *testing.T) {
	var asked []tool.Job
	a := work.Agent(deps)
	_, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p","run_in_background":true}`), spawning(&asked, nil))
	assert.ErrorContains(t, err, "without run_in_background")
}

func TestAgentsRunSideBySideAndAreAlwaysLoaded(t *testing.T) {
	a := work.Agent(deps)
	in := parse(t, a, `{"description":"d","prompt":"p"}`)
	safe := a.Behaviour.Safe(in)
	readOnly := a.Behaviour.ReadOnly(in)
	assert.True(t, safe)
	safe = a.Behaviour.Safe(parse(t, a, `{"description":"d","prompt":"p","run_in_background":true}`))
	assert.False(t, safe, "background agents start in call order, so that their ids do not depend on chance")
	assert.False(t, readOnly)
	assert.False(t, a.Loading.Deferrable)
	assert.True(t, a.Matches("Task"))
	assert.Contains(t, a.Prompt(tool.PromptOptions{}), "- explore: reading only\n")
	assert.Equal(t, permission.Allow, a.Permit(in, &tool.Context{}).Behaviour)
}

func TestWhereNothingRunsAgentsTheErrorSaysSo(t *testing.T) {
	a := work.Agent(deps)
	_, err := a.Call(t.Context(), parse(t, a, `{"description":"look","prompt":"p"}`), &tool.Context{})
	assert.ErrorContains(t, err, "do the work yourself")
}
