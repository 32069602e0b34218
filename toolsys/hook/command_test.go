package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// prints is a command that writes stdout and stderr and exits with code.
func prints(stdout, stderr string, code int) hook.Exec {
	return func(context.Context, string, []byte, string, []string) ([]byte, []byte, int, error) {
		return []byte(stdout), []byte(stderr), code, nil
	}
}

func reply(t *testing.T, event hook.Event, exec hook.Exec) hook.Merged {
	t.Helper()
	return replyOf(t, hook.Hook{Name: "cmd", Event: event}, exec)
}

// replyOf is what comes of a hook that is made a command.
func replyOf(t *testing.T, h hook.Hook, exec hook.Exec) hook.Merged {
	t.Helper()
	event := h.Event
	s := set(t, hook.Command(h, "check", exec))
	m := s.Run(t.Context(), hook.Input{Event: event, Tool: "Bash", Input: json.RawMessage(`{"a":1}`)}, nil)
	require.Len(t, m.Reports, 1)
	return m
}

func TestACommandIsToldTheCallInJSON(t *testing.T) {
	var stdin []byte
	var line, where string
	var vars []string
	exec := func(_ context.Context, l string, in []byte, dir string, env []string) ([]byte, []byte, int, error) {
		line, stdin, where, vars = l, in, dir, env
		return nil, nil, 0, nil
	}
	out, err := hook.Command(hook.Hook{}, "audit --fast", exec).Run(t.Context(), hook.Input{
		Event: hook.PostToolUse, Tool: "Edit", Call: "c1", Turn: 3, Agent: "agent_1", Dir: "/repo", Mode: permission.Plan,
		Input: json.RawMessage(`{"file":"a.go"}`), Output: []message.Block{message.Text("done <ok>")},
	})
	require.NoError(t, err)
	assert.Equal(t, hook.Output{}, out, "silence says nothing")
	assert.Equal(t, "audit --fast", line)
	assert.Equal(t, "/repo", where)
	assert.Equal(t, []string{"HOOK_EVENT=PostToolUse", "HOOK_TOOL=Edit"}, vars)
	assert.JSONEq(t, `{"event":"PostToolUse","tool":"Edit","call":"c1","turn":3,"agent":"agent_1","dir":"/repo","mode":"plan",
		"input":{"file":"a.go"},"output":[{"type":"text","text":"done <ok>"}]}`, string(stdin))
}

func TestACommandSpeaksInJSON(t *testing.T) {
	m := reply(t, hook.PreToolUse, prints(` {"decision":"ask","reason":"who knows","input":{"a":2},"context":"careful","stop":null} `, "", 0))
	assert.Equal(t, permission.Ask, m.Decision)
	assert.Equal(t, "who knows", m.Reason)
	assert.JSONEq(t, `{"a":2}`, string(m.Input))
	assert.Equal(t, []string{"careful"}, m.Context)
	assert.False(t, m.Stop)
	assert.Empty(t, m.Reports[0].Trouble)

	m = reply(t, hook.PostToolUse, prints(`{"output":"new text","stop":true,"reason":"enough"}`, "", 0))
	assert.Equal(t, []message.Block{message.Text("new text")}, m.Output)
	assert.Equal(t, "enough", m.StopReason)
	m = reply(t, hook.PostToolUse, prints(`{"output":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "", 0))
	assert.Len(t, m.Output, 2)
}

func TestExitCodeTwoRefuses(t *testing.T) {
	m := reply(t, hook.PreToolUse, prints(`{"decision":"allow"}`, " not on Fridays\n", 2))
	assert.Equal(t, permission.Deny, m.Decision)
	assert.Equal(t, "not on Fridays", m.Reason)
	assert.False(t, m.Stop)
	m = reply(t, hook.PostToolUse, prints("", "tests are red", 2))
	assert.True(t, m.Stop)
	assert.Equal(t, "tests are red", m.StopReason)
	assert.Empty(t, m.Reports[0].Trouble)
}

// The longest reply that is read is read to its last byte.
func TestAReplyMayBeAsLongAsIsRead(t *testing.T) {
	const begin = `{"decision":"deny"`
	m := reply(t, hook.PreToolUse, prints(begin+strings.Repeat(" ", hook.MaxReply-len(begin)-1)+"}", "", 0))
	assert.Equal(t, permission.Deny, m.Decision)
	assert.Empty(t, m.Reports[0].Trouble)
}

func TestAGuardThatFailsCountsAsItsOnFailureSays(t *testing.T) {
	for name, c := range map[string]struct {
		exec    hook.Exec
		trouble string
	}{
		"exit 1":      {prints(`{"decision":"deny"}`, "oops\nmore", 1), "exit code 1: oops more"},
		"exit 127":    {prints("", "", 127), "exit code 127: (it wrote nothing)"},
		"text":        {prints("All good!", "", 0), "no JSON object: All good!"},
		"array":       {prints(`["deny"]`, "", 0), "no JSON object"},
		"null":        {prints(`null`, "", 0), "no JSON object"},
		"two objects": {prints(`{"decision":"deny"}{}`, "", 0), "no JSON object"},
		"binary":      {prints("\x00\xff\xfe", "", 0), "no JSON object"},
		"endless":     {prints(strings.Repeat("x", hook.MaxReply+1), "", 0), "bytes"},
		"does not start": {func(context.Context, string, []byte, string, []string) ([]byte, []byte, int, error) {
			return nil, nil, 0, errors.New("no such shell")
		}, "no such shell"},
		"two decisions":    {prints(`{"decision":"deny","reason":"no rm x","d\u0065cision":"allow","context":"y"}`, "", 0), `has "decision" more than once`},
		"unknown decision": {prints(`{"decision":"block"}`, "", 0), "block"},
		"another format":   {prints(`{"permissionDecision":"deny"}`, "", 0), "permissionDecision"},
	} {
		for said, want := range map[permission.Behaviour]permission.Behaviour{
			permission.Passthrough: permission.Deny, // the default of a command before the call
			permission.Deny:        permission.Deny,
			permission.Ask:         permission.Ask,
			permission.Allow:       permission.Passthrough, // as if it had not been there
		} {
			m := replyOf(t, hook.Hook{Name: "cmd", Event: hook.PreToolUse, OnFailure: said}, c.exec)
			assert.Contains(t, m.Reports[0].Trouble, c.trouble, name)
			assert.Equal(t, want, m.Decision, "%s, %s", name, said)
			assert.Nil(t, m.Input, name)
			if want != permission.Passthrough {
				assert.Contains(t, m.Reason, c.trouble, name)
				assert.Contains(t, m.Reason, "the hook cmd failed", name)
				assert.Equal(t, []string{want.String()}, m.Reports[0].Did, name)
			}
		}
	}
}

func TestAfterTheRunAFailureDeniesNothingUnlessToldTo(t *testing.T) {
	broken := prints("", "oops", 1)
	m := replyOf(t, hook.Hook{Name: "cmd", Event: hook.PostToolUse}, broken)
	assert.Equal(t, permission.Passthrough, m.Decision)
	assert.Nil(t, m.Output)
	m = replyOf(t, hook.Hook{Name: "cmd", Event: hook.PostToolUse, OnFailure: permission.Deny}, broken)
	assert.Equal(t, permission.Passthrough, m.Decision, "it ran: there is nothing left to deny")
	assert.Contains(t, message.PlainText(m.Output), "The call ran.")
	assert.Contains(t, message.PlainText(m.Output), "withheld")
}

func TestADenialIsHeardEvenBesideNonsense(t *testing.T) {
	m := reply(t, hook.PreToolUse, prints(`{"decision":"deny","reason":"no","stop":"yes","input":7,"colour":"red","output":3}`, "", 0))
	assert.Equal(t, permission.Deny, m.Decision)
	assert.Equal(t, "no", m.Reason)
	assert.False(t, m.Stop)
	for _, said := range []string{"stop", "colour", "output", "no JSON object"} {
		assert.Contains(t, m.Reports[0].Trouble, said)
	}
	m = reply(t, hook.PreToolUse, prints(`{"decision":"block","context":"kept"}`, "", 0))
	assert.Equal(t, permission.Deny, m.Decision, "what a guard wants is not guessed")
	assert.Contains(t, m.Reports[0].Trouble, `"block"`)
	assert.Equal(t, []string{"kept"}, m.Context)
}

func TestARealShellCanBeAHook(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell on this machine")
	}
	run := func(ctx context.Context, line string, stdin []byte, dir string, env []string) ([]byte, []byte, int, error) {
		cmd := exec.CommandContext(ctx, sh, "-c", line)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
		cmd.Env = append(cmd.Environ(), env...)
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return out.Bytes(), errs.Bytes(), exit.ExitCode(), nil
		}
		return out.Bytes(), errs.Bytes(), 0, err
	}
	line := `if grep -q '"a":1'; then echo "one is not allowed to $HOOK_TOOL" >&2; exit 2; fi`
	s := set(t, hook.Command(hook.Hook{Name: "sh", Event: hook.PreToolUse}, line, run))
	m := s.Run(t.Context(), pre("Bash"), nil)
	assert.Equal(t, permission.Deny, m.Decision, "%+v", m.Reports)
	assert.Equal(t, "one is not allowed to Bash", m.Reason)
}

func FuzzReplyNeverLosesTheCall(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"decision":"deny"}`, `{"input":{"b":[]}}`, `{"output":[{"type":"text"}]}`, "rubbish", `{"decision":3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		m := reply(t, hook.PreToolUse, prints(stdout, "", 0))
		if m.Input != nil {
			var members map[string]any
			require.NoError(t, json.Unmarshal(m.Input, &members))
		}
		require.LessOrEqual(t, m.Decision, permission.Deny)
		require.Nil(t, m.Output)
	})
}
