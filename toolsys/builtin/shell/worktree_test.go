package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/tool"
)

func TestNamesOfWorktreesThatAreNoneAreRefused(t *testing.T) {
	enter := shell.EnterWorktree(nil)
	for _, name := range []string{"..", "a/b", "-f", ".git", "a b", "a..b", "a.lock", "a.", "$(id)", "a\n", "ä", "'"} {
		raw, err := json.Marshal(map[string]string{"name": name})
		require.NoError(t, err)
		in, problems := enter.Parse(raw)
		require.Empty(t, problems, name)
		refusal := enter.Validate(in, &tool.Context{})
		require.NotNil(t, refusal, name)
		assert.Equal(t, shell.CodeBadName, refusal.Code, name)
	}
	for _, raw := range []string{`{}`, `{"name":""}`, `{"name":1}`} {
		_, problems := enter.Parse(json.RawMessage(raw))
		assert.NotEmpty(t, problems, raw)
	}
	for _, raw := range []string{`{}`, `{"action":"drop"}`, `{"action":"keep","discard_changes":"yes"}`} {
		_, problems := shell.ExitWorktree(nil).Parse(json.RawMessage(raw))
		assert.NotEmpty(t, problems, raw)
	}
}

func TestOnlyDiscardingIsDestructive(t *testing.T) {
	exit := shell.ExitWorktree(nil)
	for raw, want := range map[string]bool{
		`{"action":"keep"}`: false, `{"action":"keep","discard_changes":true}`: false,
		`{"action":"remove"}`: false, `{"action":"remove","discard_changes":true}`: true,
	} {
		in, problems := exit.Parse(json.RawMessage(raw))
		require.Empty(t, problems)
		assert.Equal(t, want, exit.Behaviour.Destructive(in), raw)
	}
}
