package work_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

const twoQuestions = `{"questions":[
	{"question":"Which database?","header":"Database","options":[{"label":"Postgres","description":"a server"},{"label":"SQLite","description":"a file"}]},
	{"question":"Which checks?","header":"Checks","multiSelect":true,"options":[{"label":"vet","description":""},{"label":"lint","description":""}]}]}`

func answering(asked *[]tool.Question, answers []tool.Answer, err error) *tool.Context {
	c := &tool.Context{}
	c.AskUser = func(_ context.Context, q []tool.Question) ([]tool.Answer, error) {
		*asked = q
		return answers, err
	}
	return c
}

func TestTheUserIsAskedAndTheAnswersComeBackInOrder(t *testing.T) {
	var asked []tool.Question
	c := answering(&asked, []tool.Answer{{Chosen: []string{"SQLite"}}, {Chosen: []string{"vet", "and my own"}}}, nil)
	q := work.AskUserQuestion()
	out, err := q.Call(t.Context(), parse(t, q, twoQuestions), c)
	require.NoError(t, err)

	require.Len(t, asked, 2)
	assert.Equal(t, tool.Question{Header: "Database", Text: "Which database?", Options: []tool.Option{
		{Label: "Postgres", Description: "a server"}, {Label: "SQLite", Description: "a file"},
	}}, asked[0])
	assert.True(t, asked[1].Multiple)
	assert.Equal(t, "The user answered:\n- Which database?\n  SQLite\n- Which checks?\n  vet; and my own", message.PlainText(out.Blocks))
}

func TestNobodyToAskIsAnErrorThatSaysSo(t *testing.T) {
	var asked []tool.Question
	silent := answering(&asked, nil, nil)
	silent.NonInteractive = true
	q := work.AskUserQuestion()
	for _, c := range []*tool.Context{{}, silent} {
		_, err := q.Call(t.Context(), parse(t, q, twoQuestions), c)
		assert.ErrorIs(t, err, work.ErrNobody)
	}
	assert.Nil(t, asked)
}

func TestAnAnswerThatDoesNotComeIsAnError(t *testing.T) {
	var asked []tool.Question
	gone := errors.New("the user left")
	q := work.AskUserQuestion()
	_, err := q.Call(t.Context(), parse(t, q, twoQuestions), answering(&asked, nil, gone))
	assert.ErrorIs(t, err, gone)
	_, err = q.Call(t.Context(), parse(t, q, twoQuestions), answering(&asked, []tool.Answer{{}}, nil))
	assert.ErrorContains(t, err, "1 answers came back to 2 questions")
}

func TestQuestionsHaveBounds(t *testing.T) {
	const good = `{"label":"a","description":""},{"label":"b","description":""}`
	for name, raw := range map[string]string{
		"no question":     `{"questions":[]}`,
		"one option":      `{"questions":[{"question":"q?","header":"h","options":[{"label":"a","description":""}]}]}`,
		"five options":    `{"questions":[{"question":"q?","header":"h","options":[` + good + `,` + good + `,{"label":"c","description":""}]}]}`,
		"header too long": `{"questions":[{"question":"q?","header":"1234567890123","options":[` + good + `]}]}`,
	} {
		_, problems := work.AskUserQuestion().Parse(json.RawMessage(raw))
		assert.NotEmpty(t, problems, name)
	}
}

func TestQuestionsAndOptionsAreTellable(t *testing.T) {
	q := work.AskUserQuestion()
	same := `{"question":"q?","header":"h","options":[{"label":"a","description":""},{"label":"b","description":""}]}`
	refusal := q.Validate(parse(t, q, `{"questions":[`+same+`,`+same+`]}`), &tool.Context{})
	require.NotNil(t, refusal)
	assert.Equal(t, work.CodeSameQuestion, refusal.Code)

	refusal = q.Validate(parse(t, q, `{"questions":[{"question":"q?","header":"h","options":[{"label":"a","description":""},{"label":"a","description":"x"}]}]}`), &tool.Context{})
	require.NotNil(t, refusal)
	assert.Equal(t, work.CodeSameOption, refusal.Code)
	assert.Nil(t, q.Validate(parse(t, q, twoQuestions), &tool.Context{}))
}

func TestPlanModeIsEnteredAndLeftByModifiers(t *testing.T) {
	enter, exit := work.EnterPlanMode(), work.ExitPlanMode()
	c := &tool.Context{State: tool.State{Mode: permission.AcceptEdits, Dir: "/repo"}}
	in := parse(t, enter, `{}`)
	require.Nil(t, enter.Validate(in, c))
	out, err := enter.Call(t.Context(), in, c)
	require.NoError(t, err)
	planning := out.Modify(c.State)
	assert.Equal(t, permission.Plan, planning.Mode)
	assert.Equal(t, permission.AcceptEdits, planning.Before)
	assert.Equal(t, "/repo", planning.Dir)
	assert.Equal(t, planning, out.Modify(planning), "entering twice does not forget the way back")

	c.State = planning
	in = parse(t, exit, `{"plan":"# Do it\nstep by step"}`)
	require.Nil(t, exit.Validate(in, c))
	out, err = exit.Call(t.Context(), in, c)
	require.NoError(t, err)
	done := out.Modify(planning)
	assert.Equal(t, permission.AcceptEdits, done.Mode)
	assert.Equal(t, permission.Default, done.Before)
	assert.Equal(t, "# Do it\nstep by step", done.Plan)
	assert.Contains(t, message.PlainText(out.Blocks), "mode acceptEdits")
	assert.Contains(t, message.PlainText(out.Blocks), "step by step")
	assert.Equal(t, "Do it", exit.Present.Summary(in))
}

func TestPlanModeOpensOnlyWhereItMakesSense(t *testing.T) {
	enter, exit := work.EnterPlanMode(), work.ExitPlanMode()
	child := &tool.Context{}
	child.Chain.Depth = 1
	for name, test := range map[string]struct {
		tool *tool.Tool
		raw  string
		c    *tool.Context
		code int
	}{
		"in while planning":    {enter, `{}`, &tool.Context{State: tool.State{Mode: permission.Plan}}, work.CodeAlreadyPlanning},
		"out without planning": {exit, `{"plan":"p"}`, &tool.Context{}, work.CodeNotPlanning},
		"in as a sub-agent":    {enter, `{}`, child, work.CodeSubAgent},
		"out as a sub-agent":   {exit, `{"plan":"p"}`, child, work.CodeSubAgent},
	} {
		refusal := test.tool.Validate(parse(t, test.tool, test.raw), test.c)
		if assert.NotNil(t, refusal, name) {
			assert.Equal(t, test.code, refusal.Code, name)
		}
	}
}

// Whatever the mode, a person approves a plan, and without a person it is denied.
func TestOnlyAPersonApprovesAPlan(t *testing.T) {
	exit := work.ExitPlanMode()
	in := parse(t, exit, `{"plan":"p"}`)
	for _, mode := range []permission.Mode{permission.Plan, permission.Auto, permission.Bypass} {
		inputs := permission.Inputs{
			Mode: mode, CanAsk: true, Check: exit.Permit(in, &tool.Context{}),
			Query:   permission.Query{Subject: permission.Subject{Tool: exit.Name}, Interactive: needsUser(t, exit, in)},
			Verdict: permission.Verdict{Ruling: permission.Clears},
		}
		assert.Equal(t, permission.Ask, permission.Resolve(inputs).Behaviour, mode)
		inputs.CanAsk = false
		assert.Equal(t, permission.Deny, permission.Resolve(inputs).Behaviour, mode)
	}
}

func needsUser(t *testing.T, tl *tool.Tool, in tool.Input) bool {
	needs := tl.Behaviour.NeedsUser(in)
	return needs
}

func TestWhichToolsThatAskAreDeferred(t *testing.T) {
	hints := map[string]string{}
	for _, tl := range []*tool.Tool{work.AskUserQuestion(), work.EnterPlanMode(), work.ExitPlanMode()} {
		if tl.Loading.Deferrable {
			hints[tl.Name] = tl.Hint
		}
		assert.NotEmpty(t, tl.Prompt(tool.PromptOptions{}))
	}
	assert.Equal(t, map[string]string{
		"EnterPlanMode": "enter planning mode for complex tasks", "ExitPlanMode": "exit planning mode and execute",
	}, hints)
}
