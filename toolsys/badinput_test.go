package toolsys_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// badInput is an input that a tool has to refuse, with what the model has to read of the
// reason.
type badInput struct{ tool, input, reason string }

// badInputs are for a user of the provider's own, with every feature on; badInputsOutside
// for tools that only others have.
var (
	badInputs = []badInput{
		{"Agent", `{"description":"d","prompt":"p","subagent_type":"wizard"}`, `no agent type "wizard"`},
		{"AskUserQuestion", `{"questions":[]}`, `must have at least 1 item`},
		{"Bash", `{"command":""}`, `must have at least 1 character`},
		{"Bash", `{"command":"sleep 1","timeout":99999999}`, `must be at most 600000`},
		{"Brief", `{"message":"","status":"proactive"}`, `must have at least 1 character`},
		{"Config", `{"setting":"colour"}`, `there is no setting "colour"; there are model,`},
		{"Config", `{"setting":"theme","value":"plaid"}`, `theme cannot be "plaid"; use dark, light,`},
		{"CronCreate", `{"cron":"61 * * * *","prompt":"p"}`, `end of range (61) above maximum (59)`},
		{"CronCreate", `{"cron":"every day","prompt":"p"}`, `is no line of five fields`},
		{"CronDelete", `{"id":"cron_9"}`, `no job "cron_9"`},
		{"CtxInspect", `{"top":-1}`, `must be at least 1`},
		{"Edit", `{"file_path":"/repo/missing.go","old_string":"a","new_string":"b"}`, `/repo/missing.go does not exist.`},
		{"Edit", `{"file_path":"/repo/dir","old_string":"a","new_string":"b"}`, `is a folder, not a file`},
		{"Edit", `{"file_path":"//server/share/a.txt","old_string":"a","new_string":"b"}`, `is a UNC path`},
		{"EnterWorktree", `{"name":"../out"}`, `is no name of a worktree`},
		{"ExitPlanMode", `{"plan":""}`, `must have at least 1 character`},
		{"ExitWorktree", `{"action":"remove"}`, `you are in no worktree`},
		{"LSP", `{"operation":"references","file_path":"/repo/a.go"}`, `There is no language server here`},
		{"LSP", `{"operation":"dance","file_path":"/repo/a.go"}`, `must be one of "definition"`},
		{"Monitor", `{"task_id":"task_9","pattern":"x"}`, `no task "task_9"`},
		{"Monitor", `{"task_id":"task_9","pattern":"("}`, `is no regular expression`},
		{"NotebookEdit", `{"notebook_path":"/repo/broken.ipynb","new_source":"x"}`, `cell_id is needed`},
		{"NotebookEdit", `{"notebook_path":"/repo/a.go","new_source":"x"}`, `is not a notebook`},
		{"OverflowTest", `{"chars":-5}`, `must be at least 0`},
		{"PowerShell", `{"command":""}`, `must have at least 1 character`},
		{"PushNotification", `{"message":""}`, `must have at least 1 character`},
		{"Read", `{"file_path":"/repo/missing.go"}`, `/repo/missing.go does not exist.`},
		{"Read", `{"file_path":"/repo/dir"}`, `is a folder, not a file`},
		{"Read", `{"file_path":"/repo/binary"}`, `is a binary file of 5 bytes`},
		{"Read", `{"file_path":"//server/share/a.txt"}`, `is a UNC path`},
		{"Read", `{"file_path":"/repo/a.go","offset":-3}`, `must be at least 0`},
		{"RemoteTrigger", `{"action":"run"}`, `run needs a trigger_id`},
		{"RemoteTrigger", `{"action":"run","trigger_id":"../admin"}`, `run needs a trigger_id`},
		{"SendMessage", `{"to":"nobody","message":"x"}`, `no agent "nobody"`},
		{"SendUserFile", `{"files":["/repo/missing.go"]}`, `/repo/missing.go does not exist.`},
		{"SendUserFile", `{"files":[]}`, `must have at least 1 item`},
		{"SendUserFile", `{"files":["/repo/dir"]}`, `is a folder, not a file`},
		{"Skill", `{"skill":"juggling"}`, `no skill "juggling"`},
		{"Sleep", `{"seconds":-1}`, `must be at least 0`},
		{"Snip", `{"from":"x"}`, `a range needs both its ends`},
		{"SubscribePR", `{"repo":"thing","number":7}`, `is no repository; write owner/name`},
		{"SubscribePR", `{"repo":"me/thing","number":0}`, `must be at least 1`},
		{"SuggestBackgroundPR", `{"title":"","reason":"r","prompt":"p"}`, `must have at least 1 character`},
		{"TaskCreate", `{"subject":"","description":"d"}`, `must have at least 1 character`},
		{"TaskGet", `{"taskId":"99"}`, `there is no task "99"`},
		{"TaskOutput", `{"task_id":"task_9"}`, `no task "task_9"`},
		{"TaskStop", `{"task_id":"task_9"}`, `no task "task_9"`},
		{"TaskUpdate", `{"taskId":"99","status":"completed"}`, `there is no task "99"`},
		{"TaskUpdate", `{"taskId":"1","status":"halfway"}`, `must be one of "pending"`},
		{"TeamCreate", `{"team_name":""}`, `must have at least 1 character`},
		{"TeamDelete", `{}`, `you lead no team`},
		{"TodoWrite", `{"todos":[{"content":"","status":"pending","activeForm":"x"}]}`, `must have at least 1 character`},
		{"Tungsten", `{"keys":["Hyper-Q"]}`, `must be one of "Enter"`},
		{"VerifyPlanExecution", `{"summary":"Did it."}`, `no plan was approved`},
		{"WebBrowser", `{"action":"navigate","url":"file:///etc/passwd"}`, `there is no browser here`},
		{"WebFetch", `{"url":"file:///etc/passwd","prompt":"p"}`, `must begin with http:// or https://`},
		{"WebFetch", `{"url":"not an address","prompt":"p"}`, `must begin with http:// or https://`},
		{"WebSearch", `{"query":"x","allowed_domains":["a.b"],"blocked_domains":["c.d"]}`, `must have at least 2 characters`},
		{"Workflow", `{"workflow":"nothing"}`, `no workflow "nothing"`},
		{"Write", `{"file_path":"/repo/dir","content":"x"}`, `is a folder, not a file`},
		{"Write", `{"file_path":"/repo/a.go","content":"x"}`, `was not read yet`},
		{"Write", `{"file_path":"//server/share/a.txt","content":"x"}`, `is a UNC path`},
	}
	badInputsOutside = []badInput{
		{"Glob", `{"pattern":"[","path":"/repo"}`, `is no glob that can be parsed`},
		{"Glob", `{"pattern":"*","path":"/repo/missing"}`, `The folder /repo/missing does not exist`},
		{"Grep", `{"pattern":"("}`, `is not a regular expression that can be used`},
		{"Grep", `{"pattern":"x","path":"/repo/missing"}`, `The folder /repo/missing does not exist`},
		{"ListMcpResources", `{"server":"nobody"}`, `there is no such server`},
		{"ReadMcpResource", `{"server":"nobody","uri":"u://1"}`, `there is no such server`},
		{"ToolSearch", `{"query":""}`, `must have at least 1 character`},
		{"Read", `{"file_path":"/etc/passwd"}`, `/etc/passwd does not exist`},
		{"WebFetch", `{"url":"http://example.com","prompt":"p"}`, `there is no network here`},
	}
)

// refused puts the inputs to the tools, one a turn, and holds each result to its reason.
func refused(t *testing.T, set settings.Settings, list []badInput) {
	t.Helper()
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/repo/dir", 0o755))
	for name, text := range map[string]string{"a.go": "package a\n", "binary": "\x00\x01\x02\xff\xfe", "broken.ipynb": "{"} {
		require.NoError(t, afero.WriteFile(fs, "/repo/"+name, []byte(text), 0o644))
	}
	c := &calls{}
	for _, b := range list {
		c.next = append(c.next, [2]string{b.tool, b.input})
	}
	none := errors.New("there is no such server")
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{FS: fs}), Servers: tool.Servers{
		Served:       func(context.Context) tool.Served { return tool.Served{Resources: true} },
		Resources:    func(context.Context, string) ([]tool.Resource, error) { return nil, none },
		ReadResource: func(context.Context, string, string) ([]message.Block, error) { return nil, none },
	}})
	require.NoError(t, err)
	session, err := system.Open(loop.Config{Model: c.model, Settings: set, State: tool.State{Dir: "/repo", Root: "/repo", Mode: permission.Bypass}})
	require.NoError(t, err)
	_, err = session.Send(t.Context(), message.UserText("go"))
	require.NoError(t, err)
	i := 0
	for _, m := range session.History() {
		for _, r := range m.Results() {
			require.Less(t, i, len(list), "each call has one result")
			b, text := list[i], message.PlainText(r.Content)
			assert.True(t, r.IsError, "%s %s", b.tool, b.input)
			assert.Contains(t, text, b.reason, "%s %s", b.tool, b.input)
			assert.NotContains(t, text, "panic", "%s %s", b.tool, b.input)
			i++
		}
	}
	assert.Equal(t, len(list), i, "each call has one result")
}

func TestBadInputIsRefusedInWordsForTheModel(t *testing.T) {
	inside := settings.EveryFlag().Without(settings.ReplMode, settings.CoordinatorMode)
	inside.UserType, inside.ToolSearch.Kind = settings.Ant, settings.Off
	refused(t, inside, badInputs)
	refused(t, settings.External(), badInputsOutside)
}

// No tool takes a member that it does not have, nor what is no object, and each says so.
func TestNoToolTakesWhatItDoesNotKnow(t *testing.T) {
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	require.NoError(t, err)
	for _, e := range system.Catalogue.Entries() {
		for _, input := range []string{`[]`, `"x"`, `7`, `null`, `{`, ``, `{"nonsense":1}`} {
			if e.Name == "SyntheticOutput" && input == `{"nonsense":1}` {
				continue // it takes what the caller's schema has
			}
			_, problems := e.Tool.Parse(json.RawMessage(input))
			assert.NotEmpty(t, problems, "%s %s", e.Name, input)
			if strings.Contains(input, "nonsense") {
				assert.Contains(t, problems.String(), "nonsense", e.Name)
			}
		}
	}
}
