package toolsys_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// calls is a model that makes these calls, one a turn, and ends. Sub-agents make the
// calls that follow.
type calls struct {
	next     [][2]string // a tool and its input
	requests []message.Request
}

func (c *calls) model(_ context.Context, req message.Request, on func(data []byte) error) error {
	c.requests = append(c.requests, req)
	events := []string{`{"type":"message_start","message":{"id":"m1","content":[]}}`}
	if len(c.next) > 0 {
		events = append(events,
			fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_%d","name":%q,"input":%s}}`, len(c.requests), c.next[0][0], c.next[0][1]),
			`{"type":"content_block_stop","index":0}`)
		c.next = c.next[1:]
	}
	for _, e := range append(events, `{"type":"message_stop"}`) {
		if err := on([]byte(e)); err != nil {
			return err
		}
	}
	return nil
}

// definition is a tool as the first request has it.
func (c *calls) definition(t *testing.T, name string) string {
	t.Helper()
	for _, raw := range c.requests[0].Tools {
		if strings.HasPrefix(string(raw), `{"name":"`+name+`"`) {
			return string(raw)
		}
	}
	t.Fatalf("%s is not in the request", name)
	return ""
}

// converse makes the calls through a system and gives the results of the main
// conversation, with the questions that were asked of the person, who denies each.
func converse(t *testing.T, cfg toolsys.Config, c *calls, mode permission.Mode) (results, asked []string) {
	t.Helper()
	system, err := toolsys.New(cfg)
	require.NoError(t, err)
	s := settings.External()
	s.ToolSearch.Kind = settings.Off
	open := loop.Config{Model: c.model, Settings: s, State: tool.State{Dir: "/repo", Root: "/repo", Mode: mode}}
	open.Handlers.Ask = func(_ context.Context, q pipeline.Question) (pipeline.Reply, error) {
		asked = append(asked, q.Tool)
		return pipeline.Reply{}, nil
	}
	session, err := system.Open(open)
	require.NoError(t, err)
	_, err = session.Send(t.Context(), message.UserText("go"))
	require.NoError(t, err)
	require.NoError(t, system.Close(t.Context()))
	for _, m := range session.History() {
		for _, r := range m.Results() {
			results = append(results, message.PlainText(r.Content))
		}
	}
	return results, asked
}

func TestKindsOfAgentsAndTheirDepthAreTheEmbedders(t *testing.T) {
	deps := builtin.Deps{Agents: []work.AgentType{{Name: "general", When: "anything"}, {Name: "explore", When: "reading only"}}}
	start := func(kind string) [2]string {
		return [2]string{"Agent", fmt.Sprintf(`{"description":"d","prompt":"p","subagent_type":%q}`, kind)}
	}
	for _, depth := range []int{0, 2} {
		deps.Depth = depth
		model := &calls{next: [][2]string{start("wizard"), start("explore"), start("general")}}
		results, _ := converse(t, toolsys.Config{Builtins: builtin.All(deps, "Agent")}, model, permission.Default)
		require.Len(t, results, 2)
		assert.Contains(t, results[0], "there are general, explore")
		assert.Contains(t, model.definition(t, "Agent"), "- explore: reading only")
		refused := 0
		for _, r := range model.requests {
			if strings.Contains(answers(r.Messages[len(r.Messages)-1]), "may not start another") {
				refused++
			}
		}
		assert.Equal(t, depth < 2, refused > 0, "depth %d", depth)
	}
}

func answers(m message.Message) string {
	text := ""
	for _, r := range m.Results() {
		text += message.PlainText(r.Content)
	}
	return text
}

func TestSkillsAreListedAndRemoteOnesFetched(t *testing.T) {
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/skills/review/SKILL.md", []byte("---\ndescription: Reviews a\n  change.\n---\nLook closely."), 0o644))
	require.NoError(t, afero.WriteFile(fs, "/skills/broken/SKILL.md", []byte("---\nno end"), 0o644))
	deps := builtin.Deps{
		FS:         fs,
		SkillDirs:  []string{"/skills"},
		FetchSkill: func(_ context.Context, ref string) (string, error) { return "Fetched " + ref + ".", nil },
	}
	model := &calls{next: [][2]string{{"Skill", `{"skill":"remote:team/deploy"}`}, {"Skill", `{"skill":"review"}`}}}
	results, _ := converse(t, toolsys.Config{Builtins: builtin.All(deps, "Skill")}, model, permission.Bypass)
	assert.Equal(t, []string{"The skill remote:team/deploy is loaded; its instructions follow.", "The skill review is loaded; its instructions follow."}, results)
	var def struct{ Description string }
	require.NoError(t, json.Unmarshal([]byte(model.definition(t, "Skill")), &def))
	assert.Contains(t, def.Description, "The skills there are:\n- review: Reviews a change.\n")
	assert.NotContains(t, def.Description, "broken")
}

func TestPagesAreSummarizedByTheEmbedder(t *testing.T) {
	deps := builtin.Deps{
		HTTP: func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("a long page")), Request: r}, nil
		},
		Summarize: func(_ context.Context, prompt, text string, _ *tool.Context) (string, error) {
			return prompt + " -> " + strings.ToUpper(text), nil
		},
	}
	fetch := &calls{next: [][2]string{{"WebFetch", `{"url":"https://example.com/","prompt":"What?"}`}}}
	results, _ := converse(t, toolsys.Config{Builtins: builtin.All(deps, "WebFetch")}, fetch, permission.Bypass)
	assert.Equal(t, []string{"What? -> A LONG PAGE"}, results)

	fetch = &calls{next: [][2]string{{"WebFetch", `{"url":"https://example.com/","prompt":"What?"}`}}}
	results, _ = converse(t, toolsys.Config{Builtins: builtin.All(builtin.Deps{}, "WebFetch")}, fetch, permission.Bypass)
	assert.Contains(t, results[0], "there is no network here")
}

func TestASandboxIsAskedAndGoneRoundWithPermission(t *testing.T) {
	var ran []shell.Request
	deps := builtin.Deps{Shell: func(_ context.Context, r shell.Request) (shell.Exit, error) {
		ran = append(ran, r)
		return shell.Exit{Dir: r.Dir}, nil
	}}
	try := func() (results, asked []string) {
		ran = nil
		model := &calls{next: [][2]string{{"Bash", `{"command":"ls"}`}, {"Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`}}}
		return converse(t, toolsys.Config{Builtins: builtin.All(deps, "Bash")}, model, permission.Default)
	}
	_, asked := try()
	assert.Empty(t, asked, "there is no sandbox to go round")
	assert.Len(t, ran, 2)

	deps.Sandbox = func(string) string { return "it reads /" }
	results, asked := try()
	assert.Contains(t, results[0], "the sandbox does not let this command run: it reads /")
	assert.Equal(t, []string{"Bash"}, asked)
	assert.Empty(t, ran)
}

func TestWithoutAShellBashGivesTheReason(t *testing.T) {
	model := &calls{next: [][2]string{{"Bash", `{"command":"ls"}`}}}
	results, _ := converse(t, toolsys.Config{Builtins: builtin.All(builtin.Deps{}, "Bash")}, model, permission.Default)
	assert.Contains(t, results[0], "there is no shell here")
}

func TestResourcesOfServersReachTheirTools(t *testing.T) {
	servers := tool.Servers{
		Served: func(context.Context) tool.Served { return tool.Served{Resources: true} },
		Resources: func(context.Context, string) ([]tool.Resource, error) {
			return []tool.Resource{{Server: "s", URI: "u://1", Name: "one"}}, nil
		},
		ReadResource: func(context.Context, string, string) ([]message.Block, error) { return nil, errors.New("it is gone") },
	}
	model := &calls{next: [][2]string{{"ListMcpResources", `{}`}, {"ReadMcpResource", `{"server":"s","uri":"u://1"}`}}}
	results, _ := converse(t, toolsys.Config{Servers: servers, Builtins: builtin.All(builtin.Deps{})}, model, permission.Bypass)
	require.Len(t, results, 2)
	assert.Contains(t, results[0], `"uri":"u://1"`)
	assert.Contains(t, results[1], "it is gone")
}
