package builtin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

var update = flag.Bool("update", false, "write testdata/declared.txt anew")

// samples are an input of each tool that sets its members.
var samples = map[string]string{
	"Agent":               `{"description":"look","prompt":"Find x.","subagent_type":"explore","run_in_background":true}`,
	"AskUserQuestion":     `{"questions":[{"question":"Which?","header":"Colour","options":[{"label":"red","description":"r"},{"label":"red","description":"g"}]}]}`,
	"Bash":                `{"command":"rm -rf build && git status","description":"Clean","timeout":5000}`,
	"Brief":               `{"message":"Done: **all** pass.","status":"proactive"}`,
	"Config":              `{"setting":"theme","value":"light"}`,
	"CoordinatorMode":     `{"active":true}`,
	"CronCreate":          `{"cron":"*/15 9-17 * * 1-5","prompt":"Look at the build.","recurring":false}`,
	"CronDelete":          `{"id":"cron_1"}`,
	"CronList":            `{}`,
	"CtxInspect":          `{"top":3}`,
	"Edit":                `{"file_path":"a.go","old_string":"x","new_string":"x"}`,
	"EnterPlanMode":       `{}`,
	"EnterWorktree":       `{"name":"fix"}`,
	"ExitPlanMode":        `{"plan":"# The plan\n\n1. Do it."}`,
	"ExitWorktree":        `{"action":"remove","discard_changes":true}`,
	"Glob":                `{"pattern":"**/*.go","path":"/repo/sub"}`,
	"Grep":                `{"pattern":"x.*y","path":"sub","-C":2}`,
	"LSP":                 `{"operation":"references","file_path":"a.go","line":1,"symbol":"x"}`,
	"ListMcpResources":    `{"server":"docs"}`,
	"ListPeers":           `{}`,
	"Monitor":             `{"task_id":"task_1","pattern":"^error"}`,
	"NotebookEdit":        `{"notebook_path":"n.ipynb","cell_id":"c1","new_source":"1+1","edit_mode":"replace"}`,
	"OverflowTest":        `{"chars":60000}`,
	"PowerShell":          `{"command":"Get-ChildItem -Recurse src | Sort-Object Name","timeout":5000}`,
	"PushNotification":    `{"message":"All pass.","title":"Done","priority":"high"}`,
	"REPL":                `{"calls":[{"tool":"Read","input":{"file_path":"a.go"}},{"tool":"Read","input":{"file_path":"b.go"}},{"tool":"Bash","input":{"command":"go test"}}]}`,
	"Read":                `{"file_path":"~/a/very/long/path/that/does/not/fit/on/one/line/of/a/screen.txt","pages":"0-3"}`,
	"ReadMcpResource":     `{"server":"docs","uri":"file:///a"}`,
	"RemoteTrigger":       `{"action":"run","trigger_id":"t1"}`,
	"SendMessage":         `{"to":"main","message":"Look at a.go"}`,
	"SendUserFile":        `{"files":["a.go","/repo/none"],"caption":"The source"}`,
	"Skill":               `{"skill":"/review","args":"main.go"}`,
	"Sleep":               `{"seconds":1.5}`,
	"Snip":                `{}`,
	"SubscribePR":         `{"repo":"me/thing","number":7}`,
	"SuggestBackgroundPR": `{"title":"Fix the date","reason":"It is wrong in leap years.","prompt":"Fix date.go."}`,
	"SyntheticOutput":     `{"colour":"red"}`,
	"TaskCreate":          `{"subject":"Run the tests","description":"All of them.","activeForm":"Running the tests"}`,
	"TaskGet":             `{"taskId":"1"}`,
	"TaskList":            `{}`,
	"TaskOutput":          `{"task_id":"task_1"}`,
	"TaskStop":            `{"task_id":"task_1"}`,
	"TaskUpdate":          `{"taskId":"1","status":"in_progress","owner":"nobody"}`,
	"TeamCreate":          `{"team_name":"pair","description":"Two of us."}`,
	"TeamDelete":          `{}`,
	"TestingPermission":   `{"note":"one"}`,
	"TodoWrite":           `{"todos":[{"content":"a","status":"in_progress","activeForm":"Doing a"},{"content":"b","status":"in_progress","activeForm":"Doing b"}]}`,
	"ToolSearch":          `{"query":"send mail"}`,
	"Tungsten":            `{"text":"go test","keys":["Enter","C-c"]}`,
	"VerifyPlanExecution": `{"summary":"Did it all."}`,
	"WebBrowser":          `{"action":"navigate","url":"http://Example.com/a"}`,
	"WebFetch":            `{"url":"http://Example.com/a","prompt":"What?"}`,
	"WebSearch":           `{"query":"go generics","allowed_domains":["Go.dev"]}`,
	"Workflow":            `{"workflow":"release","args":{"version":"1"}}`,
	"Write":               `{"file_path":"/repo/new.txt","content":"x\n"}`,
}

// The whole declaration of every built-in tool, held byte for byte: what the model
// reads, and what rules, the scheduler and a screen ask it.
func TestToolsAreDeclaredAsBefore(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/repo/sub", 0o755))
	require.NoError(t, afero.WriteFile(fs, "/repo/a.go", []byte("x\n"), 0o644))
	deps := builtin.Deps{FS: fs, Agents: []work.AgentType{{Name: "general", When: "anything"}, {Name: "explore", When: "reading only"}}}
	kit, err := builtin.All(deps)(pool.Host{ResultsDir: "/results", Inbox: tool.NewInbox(tool.Clock{}, nil), Work: &tool.WorkList{}})
	require.NoError(t, err)
	var b strings.Builder
	for _, e := range kit.Entries {
		if e.Tool != nil {
			declare(t, &b, e.Tool)
		}
	}
	golden := filepath.Join("testdata", "declared.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

func declare(t *testing.T, b *strings.Builder, tl *tool.Tool) {
	t.Helper()
	line := func(name string, value any) { fmt.Fprintf(b, "%s: %+v\n", name, value) }
	fmt.Fprintf(b, "=== %s\n", tl.Name)
	line("aliases", tl.Aliases)
	line("hint", tl.Hint)
	line("lsp, strict, internal", []any{tl.LSP, tl.Strict, tl.Internal})
	line("description", tl.Description)
	line("prompt", tl.Prompt(tool.PromptOptions{Settings: settings.External(), Tools: []string{"Bash", "Edit", "Glob", "Grep", "Read"}}))
	raw, err := tl.Input.Raw()
	require.NoError(t, err)
	line("input", string(raw))
	if tl.Output != nil {
		raw, err = tl.Output.Raw()
		require.NoError(t, err)
		line("output", string(raw))
	}
	line("loading", tl.Loading)
	in, problems := tl.Parse(json.RawMessage(samples[tl.Name]))
	require.Empty(t, problems, tl.Name)
	traits := tl.Behaviour
	enabled, err := tl.Enabled(settings.External())
	require.NoError(t, err)
	line("enabled", enabled)
	line("safe", traits.Safe(in))
	line("read-only", traits.ReadOnly(in))
	line("destructive", traits.Destructive(in))
	line("open world", traits.OpenWorld(in))
	line("needs user", traits.NeedsUser(in))
	line("class", traits.Class(in))
	line("interrupt", traits.Interrupt)
	if tl.Coordinates {
		line("coordinates", true)
	}
	line("edits, wrapper, stops siblings", []bool{traits.EditsFiles, traits.Wrapper, traits.FailureStopsSiblings})
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo", Mode: permission.Plan}}
	c.Home, c.Roots = "/home/me", []string{"/repo"}
	line("effects", traits.Effects(in, c))
	if refusal := tl.Validate(in, c); refusal != nil {
		line("refusal", *refusal)
	}
	line("permit", tl.Permit(in, c))
	subject := tl.Subject(in, c)
	subject.Shell = nil
	line("subject", subject)
	line("takes content", tl.TakesContent)
	members := map[string]any{}
	require.NoError(t, json.Unmarshal(in.Raw, &members))
	if tl.Shape.Backfill != nil {
		tl.Shape.Backfill(members, c)
		line("backfilled", members)
	}
	line("classifier", tl.Shape.Classifier(in))
	line("limits", []any{tl.Limit.ResultChars, tl.Limit.Timeout(in), tl.Limit.Total, tl.Limit.Heartbeat})
	line("described", tl.Describe(in))
	line("shown", []string{tl.Present.Title(in), tl.Present.Color, tl.Present.Summary(in), tl.Present.Activity(in)})
}
