package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

const sedCommand = `sed -i 's/foo/bar/' a.go`

func approved() *tool.Context {
	c := inRepo()
	c.Approved = true
	return c
}

// rewritten is the input as the permission layer completes it.
func rewritten(t *testing.T, d shell.Deps, b *tool.Tool, text string) tool.Input {
	t.Helper()
	raw, ok := shell.Rewrite(d.FS)(b, command(t, b, text), inRepo())
	require.True(t, ok)
	in, problems := b.Decode(raw)
	require.Empty(t, problems)
	return in
}

func TestTheModelCannotSendAnEdit(t *testing.T) {
	b := shell.Bash(shell.Deps{})
	_, problems := b.Parse(json.RawMessage(`{"command":"ls","_simulatedSedEdit":{"file":"/repo/a.go","before":"","content":"x"}}`))
	assert.NotEmpty(t, problems)
	raw, err := b.Input.Raw()
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "_simulatedSedEdit")
	assert.Equal(t, []string{"_simulatedSedEdit"}, b.Internal)
}

func TestAnApprovedSedEditIsAppliedAndSedIsNotRun(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{}, &asked)
	b := shell.Bash(d)
	in := rewritten(t, d, b, sedCommand)
	c := approved()
	c.State.Files = c.State.Files.Put(*tool.Seen("/repo/a.go", []byte("one foo\ntwo foo\n")).Read)

	out, err := b.Call(t.Context(), in, c)
	require.NoError(t, err)
	assert.Empty(t, asked)
	got, err := afero.ReadFile(d.FS, "/repo/a.go")
	require.NoError(t, err)
	assert.Equal(t, "one bar\ntwo bar\n", string(got))
	info, err := d.FS.Stat("/repo/a.go")
	require.NoError(t, err)
	assert.Equal(t, "-rw-r-----", info.Mode().String())
	assert.Equal(t, "/repo/a.go", out.Data.(shell.BashOut).Edited)
	assert.Equal(t, []tool.Observation{tool.Seen("/repo/a.go", got)}, out.Observed, "who had read the file may go on editing it")

	other, err := shell.Bash(d).Call(t.Context(), rewritten(t, d, b, `sed -i s/bar/baz/ a.go`), approved())
	require.NoError(t, err)
	assert.Empty(t, other.Observed, "who had not read it has still not read it")
}

func TestAnEditIsAppliedOnlyAsItWasApproved(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{}, &asked)
	b := shell.Bash(d)
	in := rewritten(t, d, b, sedCommand)
	_, err := b.Call(t.Context(), in, inRepo())
	assert.ErrorContains(t, err, "only after the user has approved it")

	require.NoError(t, afero.WriteFile(d.FS, "/repo/a.go", []byte("other foo\n"), 0o644))
	_, err = b.Call(t.Context(), in, approved())
	assert.ErrorContains(t, err, "it has changed since")
	got, err := afero.ReadFile(d.FS, "/repo/a.go")
	require.NoError(t, err)
	assert.Equal(t, "other foo\n", string(got))
}

func TestOnlyOneSedEditOfOneFileIsRewritten(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{}, &asked)
	require.NoError(t, afero.WriteFile(d.FS, "/repo/binary", []byte("foo\xff"), 0o644))
	b := shell.Bash(d)
	for _, text := range []string{"ls", "sed s/a/b/ a.go", "sed -i s/a/b/ gone", "sed -i s/a/b/ //host/x", "sed -i s/foo/b/ binary"} {
		_, ok := shell.Rewrite(d.FS)(b, command(t, b, text), inRepo())
		assert.False(t, ok, text)
	}
}

func TestSimulateIsSedsOwnSubstitution(t *testing.T) {
	edit, err := shell.Simulate(shellcmd.SedEdit{Script: "2s/foo/b&r/g"}, "/x", []byte("foo\nfoo foo\nfoo"))
	require.NoError(t, err)
	assert.Equal(t, "foo\nbfoor bfoor\nfoo", edit.Content)
	assert.Equal(t, tool.HashOf([]byte("foo\nfoo foo\nfoo")), edit.Before)

	for _, script := range []string{"d", "s/a/b/w /tmp/x", "s/a", "s/a/b/;s/c/d/"} {
		_, err := shell.Simulate(shellcmd.SedEdit{Script: script}, "/x", []byte("a"))
		assert.Error(t, err, script)
	}
	_, err = shell.Simulate(shellcmd.SedEdit{Script: "s/a/b/"}, "/x", []byte("\xff"))
	assert.ErrorContains(t, err, "not UTF-8")
}
