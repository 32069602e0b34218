package work_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// step is a call of a tool, by an agent, and the text that it answers or fails with.
type step struct {
	tool       func(work.Deps) *tool.Tool
	agent      string
	input      string
	want, fail string
}

func play(t *testing.T, d work.Deps, steps ...step) {
	t.Helper()
	for _, s := range steps {
		tl, c := s.tool(d), as(s.agent)
		in := parse(t, tl, s.input)
		var err error
		var out tool.Output
		if refusal := tl.Validate(in, c); refusal != nil {
			assert.Contains(t, refusal.Message, s.fail, s.input)
			assert.NotEmpty(t, s.fail, "%s was refused: %s", s.input, refusal.Message)
			continue
		}
		if out, err = tl.Call(t.Context(), in, c); s.fail != "" {
			assert.ErrorContains(t, err, s.fail, s.input)
			continue
		}
		require.NoError(t, err, s.input)
		assert.Equal(t, s.want, message.PlainText(out.Blocks), s.input)
	}
}

func TestAgentsShareAListOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		d.Work = &tool.WorkList{}
		play(t, d,
			step{work.TaskList, "", `{}`, "The task list is empty.", ""},
			step{work.TaskCreate, "", `{"subject":"Write it","description":"All of it."}`, "Task 1 is on the list: Write it", ""},
			step{work.TaskCreate, "", `{"subject":"Test it","description":"Twice.","activeForm":"Testing it"}`, "Task 2 is on the list: Test it", ""},
			step{work.TaskUpdate, "", `{"taskId":"1","addBlocks":["2"]}`, "Task 1 (Write it) is pending.", ""},
			step{work.TaskUpdate, "agent_1", `{"taskId":"2","status":"in_progress"}`, "", "cannot begin before 1 is completed"},
			step{work.TaskUpdate, "", `{"taskId":"2","owner":"right"}`, "Task 2 (Test it) is pending, owner right, and waits for 1.", ""},
			step{work.TaskUpdate, "", `{"taskId":"2","owner":"nobody"}`, "", `no agent "nobody" to own it; you are main, and there are left (working), right (working), gone (ended)`},
			step{work.TaskUpdate, "agent_1", `{"taskId":"1","owner":"agent_1","status":"in_progress"}`, "Task 1 (Write it) is in_progress, owner left.", ""},
			step{work.TaskGet, "", `{"taskId":"2"}`, "Task 2: Test it\nStatus: pending\nOwner: right\nWaits for: 1\nOf these open: 1\nDescription: Twice.", ""},
			step{work.TaskList, "", `{}`, "1. [in_progress] Write it (left)\n2. [pending] Test it (right) waits for 1", ""},
			step{work.TaskUpdate, "agent_1", `{"taskId":"1","status":"completed"}`, "Task 1 (Write it) is completed, owner left; 2 can begin now.", ""},
			step{work.TaskUpdate, "agent_1", `{"taskId":"1","subject":"Wrote it"}`, "Task 1 (Wrote it) is completed, owner left.", ""},
			step{work.TaskGet, "", `{"taskId":"1"}`, "Task 1: Wrote it\nStatus: completed\nOwner: left\nBlocks: 2\nDescription: All of it.", ""},
			step{work.TaskUpdate, "", `{"taskId":"2","owner":""}`, "Task 2 (Test it) is pending.", ""},
			step{work.TaskUpdate, "", `{"taskId":"2","status":"deleted"}`, "Task 2 (Test it) is deleted.", ""},
			step{work.TaskGet, "", `{"taskId":"2"}`, "", `no task "2"; there are 1`},
		)
		assert.Equal(t, []string{"Task 2 is yours: Test it"}, mails(d, "agent_2"), "who gets a task is written to")
		assert.Empty(t, mails(d, "agent_1"), "but not who takes one")
	})
}

func mails(d work.Deps, agent string) (texts []string) {
	for _, m := range d.Inbox.Take(agent) {
		texts = append(texts, m.Text)
	}
	return texts
}

// A task that several others are before is free when the last of them is done.
func TestATaskCanBeginWhenAllBeforeItAreDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		d.Work = &tool.WorkList{}
		for range 11 {
			d.Work.Add(tool.WorkItem{Subject: "x"})
		}
		play(t, d,
			step{work.TaskUpdate, "", `{"taskId":"3","addBlockedBy":["10","2","11"]}`, "Task 3 (x) is pending, and waits for 2, 10, 11.", ""},
			step{work.TaskUpdate, "", `{"taskId":"2","status":"in_progress"}`, "Task 2 (x) is in_progress, owner main.", ""},
			step{work.TaskUpdate, "", `{"taskId":"2","status":"completed"}`, "Task 2 (x) is completed, owner main.", ""},
			step{work.TaskUpdate, "", `{"taskId":"11","status":"deleted"}`, "Task 11 (x) is deleted.", ""},
			step{work.TaskUpdate, "", `{"taskId":"10","status":"in_progress"}`, "Task 10 (x) is in_progress, owner main.", ""},
			step{work.TaskUpdate, "", `{"taskId":"10","status":"completed"}`, "Task 10 (x) is completed, owner main; 3 can begin now.", ""},
		)
	})
}

func TestATeamIsMadeAndEndedByItsLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		play(t, d,
			step{work.ListPeers, "agent_1", `{}`, "main: working\nleft: working, team pair, id agent_1 (you)\nright: working, team pair, id agent_2\ngone: ended, id agent_3", ""},
			step{work.TeamDelete, "", `{}`, "", "you lead no team; make one with TeamCreate"},
			step{work.TeamCreate, "", `{"team_name":"1st"}`, "", `"1st" is no name for a team`},
			step{work.TeamCreate, "", `{"team_name":"crew","description":"For all."}`, "The team crew is there and you lead it, as main. Start its members with Agent, each with a name.", ""},
			step{work.TeamCreate, "agent_3", `{"team_name":"crew"}`, "", `there is a team "crew" already`},
			step{work.TeamCreate, "", `{"team_name":"other"}`, "", "who leads one ends it with TeamDelete"},
			step{work.TeamDelete, "agent_3", `{}`, "", "you lead no team"},
		)
		_, err := d.Inbox.Join(tool.Peer{Agent: "agent_4", Name: "hand", Team: "crew"})
		require.NoError(t, err)
		play(t, d, step{work.TeamDelete, "", `{}`, "", "hand still work for the team crew; let them finish"})
		d.Inbox.Ended("agent_4", nil)
		play(t, d,
			step{work.TeamDelete, "", `{}`, "The team crew is deleted. Its members were hand.", ""},
			step{work.TeamCreate, "", `{"team_name":"crew"}`, "The team crew is there and you lead it, as main. Start its members with Agent, each with a name.", ""},
			step{work.TeamDelete, "", `{}`, "The team crew is deleted. It had no members.", ""},
		)
	})
}

func TestSettingsAreShownAndChanged(t *testing.T) {
	config := work.Config()
	c := &tool.Context{}
	c.Model = "claude-x"
	shown := message.PlainText(call(t, config, `{}`, c).Blocks)
	assert.Contains(t, shown, "model: claude-x\npermissionMode: default (of default, acceptEdits, plan)\n")
	assert.Contains(t, shown, "thinking: off (of off, 1024, 2048, 4096, adaptive)\n")
	assert.Equal(t, "theme: dark (of dark, light, dark-daltonized, light-daltonized, dark-ansi, light-ansi)\n",
		message.PlainText(call(t, config, `{"setting":"theme"}`, c).Blocks))
	for input, want := range map[string]string{
		`{"setting":"theme","value":"light"}`:                "theme is light now; it was dark.",
		`{"setting":"verbose","value":true}`:                 "verbose is true now; it was false.",
		`{"setting":"verbose","value":"true"}`:               "verbose is true now; it was false.",
		`{"setting":"model","value":"claude-y[1m]"}`:         "model is claude-y[1m] now; it was claude-x.",
		`{"setting":"permissionMode","value":"plan"}`:        "permissionMode is plan now; it was default.",
		`{"setting":"thinking","value":"2048"}`:              "thinking is 2048 now; it was off.",
		`{"setting":"permissionMode","value":"default"}`:     "permissionMode is default now; it was default.",
		`{"setting":"permissionMode","value":"acceptEdits"}`: "permissionMode is acceptEdits now; it was default.",
	} {
		out := call(t, config, input, c)
		assert.Equal(t, want, message.PlainText(out.Blocks), input)
		after := out.Modify(tool.State{Dir: "/repo"})
		assert.Equal(t, "/repo", after.Dir)
		in := parse(t, config, input)
		assert.Equal(t, permission.Ask, config.Permit(in, c).Behaviour, "a change is asked about: %s", input)
		assert.False(t, config.Behaviour.ReadOnly(in), input)
	}
	look := parse(t, config, `{"setting":"model"}`)
	assert.Equal(t, permission.Allow, config.Permit(look, c).Behaviour)
	assert.True(t, config.Behaviour.ReadOnly(look))
}

func TestSettingsThatWouldPermitMoreAreRefused(t *testing.T) {
	config := work.Config()
	nested, planning := &tool.Context{}, &tool.Context{}
	nested.Chain.Depth = 1
	planning.State.Mode = permission.Plan
	for input, test := range map[string]struct {
		c    *tool.Context
		code int
		want string
	}{
		`{"setting":"permissionMode","value":"bypassPermissions"}`: {&tool.Context{}, work.CodeBadValue, "use default, acceptEdits, plan"},
		`{"setting":"permissionMode","value":"auto"}`:              {&tool.Context{}, work.CodeBadValue, "use default, acceptEdits, plan"},
		`{"setting":"permissionMode","value":"acceptEdits"}`:       {nested, work.CodeNotHere, "only the main conversation"},
		`{"setting":"permissionMode","value":"default"}`:           {planning, work.CodeNotHere, "it is left with ExitPlanMode"},
		`{"setting":"verbose","value":1}`:                          {&tool.Context{}, work.CodeBadValue, "use true, false"},
		`{"setting":"verbose","value":{}}`:                         {&tool.Context{}, work.CodeBadValue, "use true, false"},
		`{"setting":"model","value":"a b"}`:                        {&tool.Context{}, work.CodeBadValue, "use the name of a model"},
		`{"setting":"model","value":""}`:                           {&tool.Context{}, work.CodeBadValue, "use the name of a model"},
		`{"setting":"them"}`:                                       {&tool.Context{}, work.CodeNoSetting, "did you mean theme?"},
		`{"value":"dark"}`:                                         {&tool.Context{}, work.CodeNoSetting, "there is no setting"},
	} {
		refusal := config.Validate(parse(t, config, input), test.c)
		if assert.NotNil(t, refusal, input) {
			assert.Equal(t, test.code, refusal.Code, input)
			assert.Contains(t, refusal.Message, test.want, input)
		}
	}
}

func TestCoordinatorModeIsEnteredAndLeftOnce(t *testing.T) {
	mode := work.CoordinatorMode()
	c := &tool.Context{}
	out := call(t, mode, `{"active":true}`, c)
	assert.Contains(t, message.PlainText(out.Blocks), "Coordinator mode is on")
	c.State = out.Modify(c.State)
	assert.True(t, c.State.Coordinates())
	assert.Equal(t, work.CodeAlreadySo, mode.Validate(parse(t, mode, `{"active":true}`), c).Code)
	out = call(t, mode, `{"active":false}`, c)
	assert.Contains(t, message.PlainText(out.Blocks), "Coordinator mode is off")
	c.State = out.Modify(c.State)
	assert.False(t, c.State.Coordinates())
	assert.Equal(t, work.CodeAlreadySo, mode.Validate(parse(t, mode, `{"active":false}`), c).Code)
	c.Chain.Depth = 1
	assert.Equal(t, work.CodeSubAgent, mode.Validate(parse(t, mode, `{"active":true}`), c).Code)
	_, problems := mode.Parse(json.RawMessage(`{}`))
	assert.NotEmpty(t, problems)
	_, err := mode.Call(context.Background(), parse(t, mode, `{"active":true}`), c)
	assert.NoError(t, err)
}
