package host_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// powershell calls the tool on the machine's shell.
func powershell(t *testing.T, env map[string]string, script string) tool.Output {
	t.Helper()
	p := shell.PowerShell(shell.Deps{Run: newShell(t, host.ShellConfig{}).Run})
	raw, err := json.Marshal(map[string]string{"command": script})
	require.NoError(t, err)
	in, problems := p.Parse(raw)
	require.Empty(t, problems)
	out, err := p.Call(t.Context(), in, &tool.Context{State: tool.State{Dir: t.TempDir(), Env: env}})
	require.NoError(t, err)
	return out
}

// No shell in between reads anything into a script: pwsh gets it as it is.
func TestPowerShellGetsTheScriptAsItIs(t *testing.T) {
	bin := t.TempDir()
	fake := "#!/bin/sh\necho \"$1 $2 $3\"\nprintf %s \"$5\" | base64 -d | tr -d '\\000'\nexit 3\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "pwsh"), []byte(fake), 0o755))
	env := maps.Clone(theirs)
	env["PATH"] = bin + string(os.PathListSeparator) + env["PATH"]
	script := "Write-Output 'a; $(touch x) `b` \"c\"' \n$x"
	out := powershell(t, env, script)
	text := message.PlainText(out.Blocks)
	assert.Contains(t, text, "-NoLogo -NoProfile -NonInteractive\n"+script)
	assert.Contains(t, text, "[exit code 3]")
	assert.True(t, out.Failed)
}

func TestPowerShellOfTheMachine(t *testing.T) {
	if _, err := exec.LookPath("pwsh"); err != nil {
		out := powershell(t, theirs, "Get-Date")
		assert.True(t, out.Failed)
		assert.Contains(t, message.PlainText(out.Blocks), "looked for as pwsh")
		return
	}
	out := powershell(t, theirs, "1 + 1; exit 4")
	assert.Contains(t, message.PlainText(out.Blocks), "2")
	assert.Contains(t, message.PlainText(out.Blocks), "[exit code 4]")
}
