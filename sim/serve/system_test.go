package serve_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"toolbench/fixtures"
	"toolbench/scenarios"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/serve"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Our own system, in real time and over a real connection, makes the same calls and
// sends the same results as in the scenario's own replay.
func TestOurSystemIsTheClientItIsInReplay(t *testing.T) {
	sc, err := scenario.Load(scenarios.Files, "partition-headline.yaml")
	require.NoError(t, err)
	out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
	require.Equal(t, check.Passed, out.Status)
	var want []string
	for _, e := range out.Trace {
		if e.Kind() == trace.KindEmitted {
			want = append(want, e.Call+": "+e.Get("text"))
		}
	}

	tp, err := serve.FromScenario(sc, replay.DefaultPace())
	require.NoError(t, err)
	server := serve.New(tp, serve.Options{})
	at := httptest.NewServer(server)
	defer at.Close()
	tree, err := fixtures.Files.ReadFile(sc.World.Tree)
	require.NoError(t, err)
	disk := afero.NewMemMapFs()
	for _, f := range txtar.Parse(tree).Files {
		require.NoError(t, afero.WriteFile(disk, "/"+f.Name, f.Data, 0o644))
		require.NoError(t, disk.Chtimes("/"+f.Name, time.Unix(0, 0), time.Unix(0, 0))) // Glob sorts by age
	}
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{FS: disk}, sc.World.Only...)})
	require.NoError(t, err)
	session, err := system.Open(loop.Config{
		Model: api.New(api.Config{BaseURL: at.URL, Key: "none"}), Policy: schedule.Streaming, ModelName: "claude-sonnet-4-5",
		Settings: settings.External(), Home: "/home/dev",
		State: tool.State{Dir: "/repo", Root: "/repo", Mode: permission.AcceptEdits, Env: map[string]string{"HOME": "/home/dev"}},
	})
	require.NoError(t, err)
	_, err = session.Send(t.Context(), message.UserText(sc.Prompt))
	require.NoError(t, err)
	require.NoError(t, system.Close(t.Context()))
	var found []string
	for _, m := range session.History() {
		for _, r := range m.Results() {
			found = append(found, r.ToolUseID+": "+message.PlainText(r.Content))
		}
	}
	assert.Equal(t, want, found)
	s := requireHeld(t, server)
	assert.Equal(t, []int{3, 3, 7, 7}, []int{s.Requests, s.Answers, s.Calls, s.Results})
	for _, c := range s.Checks {
		if c.Name == "recorded" {
			assert.Equal(t, serve.Held, c.Status, c.Findings)
		}
	}
}
