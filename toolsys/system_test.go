package toolsys_test

import (
	"context"
	"debug/buildinfo"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func names(s *toolsys.System) []string {
	var out []string
	for _, e := range s.Catalogue.Entries() {
		out = append(out, e.Name)
	}
	return out
}

func builtins(names ...string) func(pool.Host) (pool.Kit, error) {
	return builtin.All(builtin.Deps{}, names...)
}

func TestTheBuiltinsAreHandedOver(t *testing.T) {
	s, err := toolsys.New(toolsys.Config{})
	require.NoError(t, err)
	assert.Empty(t, names(s))
	s, err = toolsys.New(toolsys.Config{Builtins: builtins()})
	require.NoError(t, err)
	assert.Len(t, names(s), 55)
	for _, e := range s.Catalogue.Entries() {
		assert.NotNil(t, e.Tool, e.Name)
	}
}

func TestWhichToolsThereAre(t *testing.T) {
	s, err := toolsys.New(toolsys.Config{Builtins: builtins("Read", "Glob"), Tools: []*tool.Tool{queryOrder}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Glob", "Read", "queryOrder"}, names(s))

	read := *queryOrder
	read.Name = "Read"
	for text, bad := range map[string]toolsys.Config{
		"claimed":              {Builtins: builtins(), Tools: []*tool.Tool{&read}},
		"tool 2 is nil":        {Tools: []*tool.Tool{queryOrder, nil}},
		`built-in tool "Raed"`: {Builtins: builtins("Raed")},
	} {
		_, err := toolsys.New(bad)
		require.ErrorIs(t, err, toolsys.ErrConfig)
		assert.ErrorContains(t, err, text)
	}
}

// A program with its own tools and nothing else links few modules and does its work.
func TestTheSmallestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "minimal")
	out, err := exec.Command("go", "build", "-o", program, "./testdata/minimal").CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command(program).Output()
	require.NoError(t, err)
	assert.Equal(t, "Order 7 is shipped.\n", string(out))
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(info.Deps), 8)
}

func TestDecoratorsWrapEveryTool(t *testing.T) {
	wrapped := 0
	_, err := toolsys.New(toolsys.Config{Builtins: builtins("Read"), Tools: []*tool.Tool{queryOrder}, Decorate: func(t *tool.Tool) *tool.Tool {
		wrapped++
		return t
	}})
	require.NoError(t, err)
	assert.Equal(t, 2, wrapped)
}

// Conversations share the system's trace and clock; each has times from its start.
func TestConversationsAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log trace.Log
		s, err := toolsys.New(toolsys.Config{Tools: []*tool.Tool{queryOrder}, Trace: log.Add})
		require.NoError(t, err)
		time.Sleep(time.Second)
		session, err := s.Open(loop.Config{Model: scripted})
		require.NoError(t, err)
		_, err = session.Send(t.Context(), message.UserText("go"))
		require.NoError(t, err)
		events := log.Events()
		require.NotEmpty(t, events)
		assert.Equal(t, trace.KindTurnStart, events[0].Kind())
		assert.Equal(t, time.Second, events[0].At)
	})
}

func TestClosingStopsBackgroundTasks(t *testing.T) {
	var log trace.Log
	s, err := toolsys.New(toolsys.Config{Trace: log.Add})
	require.NoError(t, err)
	s.Tasks.Start(tool.TaskSpec{Kind: "bash", Title: "for ever"}, func(ctx context.Context, _ io.Writer) (int, error) {
		<-ctx.Done()
		return 1, ctx.Err()
	})
	require.NoError(t, s.Close(t.Context()))
	var kinds []trace.Kind
	for _, e := range log.Events() {
		kinds = append(kinds, e.Kind())
	}
	assert.Equal(t, []trace.Kind{trace.KindTaskStarted, trace.KindTaskEnded}, kinds)
}

func TestTheRealClock(t *testing.T) {
	clock := toolsys.RealClock()
	ctx, cancel := context.WithCancel(t.Context())
	assert.NoError(t, clock.Sleep(ctx, "a", 0))
	assert.NoError(t, clock.Sleep(ctx, "a", time.Nanosecond))
	cancel()
	assert.ErrorIs(t, clock.Sleep(ctx, "a", time.Hour), context.Canceled)
	done := make(chan struct{})
	clock.Go("a", func() { close(done) })
	<-done
}

func TestPromptsOfServersAreCommands(t *testing.T) {
	review := tool.ServerPrompt{Server: "docs", Name: "review", Description: "Reviews a file.", Arguments: []tool.PromptArgument{
		{Name: "file", Description: "the file", Required: true}, {Name: "how", Description: "in which way"},
	}}
	var asked []map[string]string
	var sent []message.Request
	s, err := toolsys.New(toolsys.Config{Builtins: builtins("Skill"), Servers: tool.Servers{
		Prompts: func(context.Context) ([]tool.ServerPrompt, error) { return []tool.ServerPrompt{review}, nil },
		Prompt: func(_ context.Context, server, name string, args map[string]string) ([]message.Block, error) {
			asked = append(asked, args)
			return []message.Block{message.Text("Review " + args["file"] + " of " + server + "/" + name)}, nil
		},
	}})
	require.NoError(t, err)
	assert.Equal(t, "mcp__docs__review", s.Commands(t.Context())[0].Name)
	session, err := s.Open(loop.Config{Model: func(_ context.Context, req message.Request, on func([]byte) error) error {
		sent = append(sent, req)
		events := []string{`{"type":"message_start","message":{"id":"m"}}`, `{"type":"message_stop"}`}
		if len(sent) == 1 {
			events = slices.Insert(events, 1, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"Skill","input":{"skill":"mcp__docs__review","args":"b.go\nin a hurry"}}}`, `{"type":"content_block_stop","index":0}`)
		}
		for _, e := range events {
			if err := on([]byte(e)); err != nil {
				return err
			}
		}
		return nil
	}, State: tool.State{Mode: permission.Bypass}})
	require.NoError(t, err)
	_, err = session.Send(t.Context(), message.UserText("/mcp__docs__review"))
	require.ErrorContains(t, err, "it needs file: the file")
	_, err = session.Send(t.Context(), message.UserText("/mcp__docs__review  a.go"))
	require.NoError(t, err)
	assert.Equal(t, []map[string]string{{"file": "a.go"}, {"file": "b.go", "how": "in a hurry"}}, asked)
	require.Len(t, sent, 2)
	assert.Equal(t, "<command-name>/mcp__docs__review</command-name>\nReview a.go of docs/review", message.PlainText(sent[0].Messages[0].Content))
	last := sent[1].Messages[len(sent[1].Messages)-1]
	assert.Contains(t, message.PlainText(last.Content), "Review b.go of docs/review", "the model may ask for it as well")
}

// A name alone does not tell where the server's ends, so the strictest of what it may mean counts.
func TestANameOfSeveralServersIsDecidedStrictly(t *testing.T) {
	s, err := toolsys.New(toolsys.Config{})
	require.NoError(t, err)
	for _, c := range []struct {
		name, rule  string
		allow, deny permission.Behaviour
	}{
		{"mcp__my__srv__tool", "mcp__my__srv", permission.Ask, permission.Deny},
		{"mcp__my__srv__tool", "mcp__my", permission.Ask, permission.Deny},
		{"mcp__my__srv__tool", "mcp__my__srv__tool", permission.Allow, permission.Deny},
		{"mcp__my__srv__tool", "mcp__my__other", permission.Ask, permission.Ask},
		{"mcp__my__tool", "mcp__my", permission.Allow, permission.Deny},
		{"mcp__my", "mcp__my", permission.Allow, permission.Deny},
		{"Unknown", "Unknown", permission.Allow, permission.Deny},
		{"Un__known", "mcp__Un", permission.Ask, permission.Ask},
	} {
		for list, want := range map[permission.Behaviour]permission.Behaviour{permission.Allow: c.allow, permission.Deny: c.deny} {
			rules, err := permission.Rules{}.Parse(permission.Project, list, c.rule)
			require.NoError(t, err)
			decision, _, err := s.Decide(c.name, nil, &tool.Context{Security: tool.Security{Rules: rules}})
			require.NoError(t, err)
			assert.Equal(t, want, decision.Behaviour, "%s: %s rule %s", c.name, list, c.rule)
		}
	}
}
