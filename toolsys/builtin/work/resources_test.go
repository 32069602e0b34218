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

func run(t *testing.T, tl *tool.Tool, raw string) (string, error) {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems)
	out, err := tl.Call(t.Context(), in, &tool.Context{})
	return message.PlainText(out.Blocks), err
}

func TestAListIsALineForEachResource(t *testing.T) {
	asked := "?"
	d := tool.Servers{Resources: func(_ context.Context, server string) ([]tool.Resource, error) {
		asked = server
		return []tool.Resource{{Server: "s", URI: "u://1", Name: "one"}, {Server: "s", URI: "u://2", Name: "two", Description: "The second.", MediaType: "text/plain"}}, nil
	}}
	text, err := run(t, work.ListMcpResources(d), `{"server":"s"}`)
	require.NoError(t, err)
	assert.Equal(t, "s", asked)
	assert.Equal(t, `{"server":"s","uri":"u://1","name":"one"}`+"\n"+`{"server":"s","uri":"u://2","name":"two","description":"The second.","mimeType":"text/plain"}`, text)
	d.Resources = func(context.Context, string) ([]tool.Resource, error) { return nil, nil }
	text, err = run(t, work.ListMcpResources(d), `{}`)
	require.NoError(t, err)
	assert.Equal(t, "There are no resources.", text)
}

func TestAResourceIsReadAsItIs(t *testing.T) {
	d := tool.Servers{ReadResource: func(_ context.Context, server, uri string) ([]message.Block, error) {
		if uri == "u://none" {
			return nil, nil
		}
		return []message.Block{message.Text(server + " " + uri)}, nil
	}}
	text, err := run(t, work.ReadMcpResource(d), `{"server":"s","uri":"u://1"}`)
	require.NoError(t, err)
	assert.Equal(t, "s u://1", text)
	text, err = run(t, work.ReadMcpResource(d), `{"server":"s","uri":"u://none"}`)
	require.NoError(t, err)
	assert.Equal(t, "The resource is empty.", text)
}

func TestWhatTheServersSayIsHandedOn(t *testing.T) {
	broken := errors.New("broken")
	d := tool.Servers{
		Resources:    func(context.Context, string) ([]tool.Resource, error) { return nil, broken },
		ReadResource: func(context.Context, string, string) ([]message.Block, error) { return nil, broken },
	}
	_, err := run(t, work.ListMcpResources(d), `{}`)
	assert.ErrorIs(t, err, broken)
	_, err = run(t, work.ReadMcpResource(d), `{"server":"s","uri":"u"}`)
	assert.ErrorIs(t, err, broken)
	_, err = run(t, work.ListMcpResources(tool.Servers{}), `{}`)
	assert.ErrorIs(t, err, work.ErrNoServers)
	_, err = run(t, work.ReadMcpResource(tool.Servers{}), `{"server":"s","uri":"u"}`)
	assert.ErrorIs(t, err, work.ErrNoServers)
	_, problems := work.ReadMcpResource(d).Parse(json.RawMessage(`{"uri":"u"}`))
	assert.NotEmpty(t, problems, "the server must be named")
}

// The two go by name and hint until they are wanted, as the deferrable built-ins do.
func TestResourceToolsAreDeferredAndDescribeTheirAnswers(t *testing.T) {
	for _, c := range []struct {
		tool *tool.Tool
		hint string
	}{
		{work.ListMcpResources(tool.Servers{}), "list available MCP resources"},
		{work.ReadMcpResource(tool.Servers{}), "read MCP resource content"},
	} {
		assert.True(t, c.tool.Loading.Deferrable)
		assert.Equal(t, c.hint, c.tool.Hint)
		require.NotNil(t, c.tool.Output)
		raw, err := c.tool.Output.Raw()
		require.NoError(t, err)
		assert.Contains(t, string(raw), `"type":"object"`)
	}
}

// What a call gives back fits the schema that the tool gives of it.
func TestResourcesFitTheirOutputSchemas(t *testing.T) {
	s := tool.Servers{
		Resources: func(context.Context, string) ([]tool.Resource, error) {
			return []tool.Resource{{Server: "s", URI: "u://1", Name: "one"}}, nil
		},
		ReadResource: func(context.Context, string, string) ([]message.Block, error) {
			return []message.Block{message.Text("hello"), message.Image("image/png", "AA==")}, nil
		},
	}
	for _, c := range []struct {
		tool *tool.Tool
		in   string
	}{{work.ListMcpResources(s), `{}`}, {work.ReadMcpResource(s), `{"server":"s","uri":"u://1"}`}} {
		in, problems := c.tool.Parse(json.RawMessage(c.in))
		require.Empty(t, problems)
		out, err := c.tool.Call(t.Context(), in, &tool.Context{})
		require.NoError(t, err)
		raw, err := json.Marshal(out.Data)
		require.NoError(t, err)
		compiled, err := c.tool.Output.Schema()
		require.NoError(t, err)
		assert.Empty(t, compiled.Validate(raw), string(raw))
	}
}

// Where no server is named, a list leaves out those that rules forbid or want asked about. A rule about the
// tool itself was applied before the call and leaves out nothing.
func TestAListOfAllServersLeavesOutWhatRulesForbid(t *testing.T) {
	d := tool.Servers{Resources: func(context.Context, string) ([]tool.Resource, error) {
		return []tool.Resource{{Server: "free", URI: "a://"}, {Server: "shut", URI: "b://"}, {Server: "asked", URI: "c://"}}, nil
	}}
	list := work.ListMcpResources(d)
	listed := func(input string, rules permission.Rules) string {
		in, problems := list.Parse(json.RawMessage(input))
		require.Empty(t, problems)
		out, err := list.Call(t.Context(), in, &tool.Context{Security: tool.Security{Rules: rules}})
		require.NoError(t, err)
		return message.PlainText(out.Blocks)
	}
	all := listed(`{}`, permission.Rules{})
	assert.Contains(t, all, "b://")
	for _, text := range [][2]string{{"mcp__shut", "mcp__asked__*"}, {"ListMcpResources(shut)", "ListMcpResources(ask*)"}} {
		rules, err := permission.Rules{}.Parse(permission.Project, permission.Deny, text[0])
		require.NoError(t, err)
		rules, err = rules.Parse(permission.Project, permission.Ask, text[1], "ListMcpResources")
		require.NoError(t, err)
		assert.Equal(t, `{"server":"free","uri":"a://","name":""}`, listed(`{}`, rules), text)
		assert.Equal(t, all, listed(`{"server":"asked"}`, rules), "it was asked about")
	}
}

func TestRulesOfAServerBindWhatItOffers(t *testing.T) {
	of := func(tl *tool.Tool, raw string) tool.Subject {
		in, problems := tl.Parse(json.RawMessage(raw))
		require.Empty(t, problems)
		return tl.Subject(in, &tool.Context{})
	}
	want := tool.Subject{Content: "s", Servers: []string{"s"}}
	assert.Equal(t, want, of(work.ListMcpResources(tool.Servers{}), `{"server":"s"}`))
	assert.Equal(t, tool.Subject{}, of(work.ListMcpResources(tool.Servers{}), `{}`))
	assert.Equal(t, want, of(work.ReadMcpResource(tool.Servers{}), `{"server":"s","uri":"u://1"}`))
	skill := work.Skill(work.SkillDeps{})
	assert.Equal(t, tool.Subject{Content: "greet"}, of(skill, `{"skill":"/greet"}`))
	assert.Equal(t, tool.Subject{Content: "mcp__s__p", Servers: []string{"s"}}, of(skill, `{"skill":"/mcp__s__p"}`))
	assert.Equal(t, []string{"git", "git__hub"}, of(skill, `{"skill":"mcp__git__hub__p"}`).Servers)
}
