package shell_test

import (
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	simshell "toolbench/sim/shell"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// inProcess is Bash on the in-process shell, in the bubble's time.
func inProcess(t testing.TB, files map[string]string) (*tool.Tool, afero.Fs) {
	t.Helper()
	fs := afero.NewMemMapFs()
	for file, text := range files {
		require.NoError(t, fs.MkdirAll(path.Dir(file), 0o755))
		require.NoError(t, afero.WriteFile(fs, file, []byte(text), 0o644))
	}
	sh := simshell.Shell{FS: fs, Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	}}
	return shell.Bash(shell.Deps{FS: fs, Run: func(ctx context.Context, r shell.Request) (shell.Exit, error) {
		exit, err := sh.Run(ctx, simshell.Command{Script: r.Script, Dir: r.Dir, Env: r.Env, Stdout: r.Stdout, Stderr: r.Stderr})
		return shell.Exit{Code: exit.Code, Dir: exit.Dir, Env: exit.Env}, err
	}}), fs
}

// A session's commands see what the ones before them left behind, through the
// state and through nothing else.
func TestCommandsFollowEachOtherThroughTheState(t *testing.T) {
	b, _ := inProcess(t, map[string]string{"/repo/a.go": "one\ntwo\n", "/repo/sub/b.go": "three\n"})
	c := inRepo()
	for _, step := range []struct {
		command, want string
		failed        bool
	}{
		{"cat a.go | wc -l", "2", false},
		{"cd sub && export NAME=Ada", "(no output)", false},
		{"pwd; echo $NAME; cat b.go", "/repo/sub\nAda\nthree", false},
		{"grep four b.go", "[exit code 1]", false},
		{"cd ..; echo x > c.txt; exit 3", "[exit code 3]", true},
		{"ls", "a.go\nc.txt\nsub", false},
		{"unset NAME; cd /", "[the working directory is /repo again: / is outside the allowed folders]", false},
		{"pwd; echo \"<$NAME>\"", "/repo\n<>", false},
		{"no_such_command", "bash: line 1: no_such_command: command not found\n[exit code 127]", true},
	} {
		out, err := b.Call(t.Context(), command(t, b, step.command), c)
		require.NoError(t, err, step.command)
		assert.Equal(t, step.want, message.PlainText(out.Blocks), step.command)
		assert.Equal(t, step.failed, out.Failed, step.command)
		if out.Modify != nil {
			c.State = out.Modify(c.State)
		}
	}
}

func TestASleepThatTakesTooLongEndsInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := inProcess(t, map[string]string{"/repo/a.go": ""})
		in := parse(t, b, map[string]any{"command": "echo begun; sleep 3600 | cat", "timeout": 60_000})
		ctx, cancel := context.WithTimeout(t.Context(), b.Limit.Timeout(in))
		defer cancel()
		began := time.Now()
		out, err := b.Call(ctx, in, inRepo())
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.True(t, out.Failed)
		assert.Contains(t, message.PlainText(out.Blocks), "begun\n[stopped: the time limit of 1m0s was up")
	})
}

func TestAnApprovedEditIsWhatSedWouldHaveDone(t *testing.T) {
	const text = "one foo\ntwo foo foo\nthree"
	for _, script := range []string{"s/foo/bar/", "s/foo/bar/g", "2s/o\\+/<&>/2", "s|f\\(o*\\)|\\1f|", "s/x*$/!/", "/two/,$s/e/E/g"} {
		cmd := "sed -i '" + script + "' a.txt"
		b, plain := inProcess(t, map[string]string{"/repo/a.txt": text})
		_, err := b.Call(t.Context(), command(t, b, cmd), inRepo())
		require.NoError(t, err)
		want, err := afero.ReadFile(plain, "/repo/a.txt")
		require.NoError(t, err)

		b, simulated := inProcess(t, map[string]string{"/repo/a.txt": text})
		raw, ok := shell.Rewrite(simulated)(b, command(t, b, cmd), inRepo())
		require.True(t, ok, script)
		in, problems := b.Decode(raw)
		require.Empty(t, problems)
		_, err = b.Call(t.Context(), in, approved())
		require.NoError(t, err)
		got, err := afero.ReadFile(simulated, "/repo/a.txt")
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), script)
		assert.NotEqual(t, text, string(got), script)
	}
}

func BenchmarkBash(b *testing.B) {
	bash, _ := inProcess(b, map[string]string{"/repo/a.go": "x\n"})
	in := command(b, bash, "grep -n x a.go | head -n 1")
	c := inRepo()
	for b.Loop() {
		if _, err := bash.Call(b.Context(), in, c); err != nil {
			b.Fatal(err)
		}
	}
}

// Two commands in turn, so that none is known from before.
func BenchmarkFirstLookAtACommand(b *testing.B) {
	bash, _ := inProcess(b, map[string]string{"/repo/a.go": "x\n"})
	const text = "cd sub && grep -rn 'func Test' --include '*_test.go' . | sort | head -n 20"
	ins := []tool.Input{command(b, bash, text), command(b, bash, text+" ")}
	c := inRepo()
	for i := 0; b.Loop(); i++ {
		bash.Behaviour.Safe(ins[i%2])
		bash.Subject(ins[i%2], c)
		bash.Behaviour.ReadOnly(ins[i%2])
	}
}
