package shell_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// ran is what a command does in these tests: what it prints and how it ends.
type ran struct {
	stdout, stderr string
	exit           shell.Exit
	err            error
}

// deps runs every command as r says, in a small tree, and notes the requests.
func deps(t *testing.T, r ran, asked *[]shell.Request) shell.Deps {
	t.Helper()
	fs := afero.NewMemMapFs()
	for _, file := range []string{"/repo/a.go", "/repo/sub/b.go", "/etc/shadow"} {
		require.NoError(t, afero.WriteFile(fs, file, []byte("one foo\ntwo foo\n"), 0o640))
	}
	return shell.Deps{FS: fs, Run: func(_ context.Context, req shell.Request) (shell.Exit, error) {
		*asked = append(*asked, req)
		io.WriteString(req.Stdout, r.stdout)
		io.WriteString(req.Stderr, r.stderr)
		return r.exit, r.err
	}}
}

func inRepo() *tool.Context {
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo", Env: map[string]string{"HOME": "/home/me", "OLD": "1"}}}
	c.CallID, c.Home, c.Roots = "toolu_1", "/home/me", []string{"/repo"}
	return c
}

func parse(t testing.TB, tl *tool.Tool, members map[string]any) tool.Input {
	t.Helper()
	raw, err := json.Marshal(members)
	require.NoError(t, err)
	in, problems := tl.Parse(raw)
	require.Empty(t, problems)
	return in
}

func command(t testing.TB, tl *tool.Tool, text string) tool.Input {
	t.Helper()
	return parse(t, tl, map[string]any{"command": text})
}

func run(t *testing.T, text string, r ran) tool.Output {
	t.Helper()
	var asked []shell.Request
	b := shell.Bash(deps(t, r, &asked))
	in := command(t, b, text)
	require.Nil(t, b.Validate(in, inRepo()))
	out, err := b.Call(t.Context(), in, inRepo())
	require.NoError(t, err)
	require.Len(t, asked, 1)
	assert.Equal(t, text, asked[0].Script)
	assert.Equal(t, "/repo", asked[0].Dir)
	assert.Equal(t, inRepo().State.Env, asked[0].Env)
	return out
}

func TestOutputIsStdoutThenStderrThenTheExitCode(t *testing.T) {
	for name, test := range map[string]struct {
		r    ran
		want string
	}{
		"all":      {ran{stdout: "out\n\n", stderr: "err\n", exit: shell.Exit{Code: 3}}, "out\nerr\n[exit code 3]"},
		"nothing":  {ran{}, "(no output)"},
		"stdout":   {ran{stdout: "  out"}, "  out"},
		"bad utf8": {ran{stdout: "a\xffb"}, "a\uFFFDb"},
	} {
		assert.Equal(t, test.want, message.PlainText(run(t, "make", test.r).Blocks), name)
	}
}

// Of a long result only the beginning is shown, so what is ours stands there.
func TestNotesComeBeforeALongOutput(t *testing.T) {
	out := run(t, "make", ran{stdout: strings.Repeat("x", shell.ResultChars+1), exit: shell.Exit{Code: 3}})
	assert.True(t, strings.HasPrefix(message.PlainText(out.Blocks), "[exit code 3]\nxxx"))
}

// A failure that the sandbox may have caused names it; another does not.
func TestAFailureInTheSandboxNamesIt(t *testing.T) {
	for text, named := range map[string]bool{"touch: cannot touch 'x': Read-only file system": true, "sh: x: Permission denied": true, "syntax error": false} {
		out := run(t, "make", ran{stderr: text, exit: shell.Exit{Code: 1, Forbidden: "writing outside of /repo"}})
		assert.Equal(t, named, strings.Contains(message.PlainText(out.Blocks), "the sandbox forbids writing outside of /repo"), text)
	}
	out := run(t, "make", ran{stdout: "Permission denied", exit: shell.Exit{Code: 1, Forbidden: "writing"}})
	assert.Contains(t, message.PlainText(out.Blocks), "the sandbox forbids writing", "some programs print their failures on stdout")
	out = run(t, "make", ran{stderr: "Permission denied", exit: shell.Exit{Forbidden: "writing"}})
	assert.NotContains(t, message.PlainText(out.Blocks), "sandbox", "it did not fail")
}

// reports keeps what a call reports.
type reports struct {
	tool.Running
	texts []string
}

func (r *reports) Progress(text string) { r.texts = append(r.texts, text) }

// Lines of both streams are reported while the command runs, gathered for a moment, the
// newest of many; a line without its end is none yet, and none comes after the result.
func TestLinesAreReportedWhileACommandRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := shell.Deps{FS: afero.NewMemMapFs(), Run: func(_ context.Context, r shell.Request) (shell.Exit, error) {
			io.WriteString(r.Stdout, "one\nha")
			io.WriteString(r.Stderr, "err\n")
			time.Sleep(time.Second)
			io.WriteString(r.Stdout, "lf\n"+strings.Repeat("many\n", 1000))
			time.Sleep(time.Second)
			io.WriteString(r.Stdout, "last\n")
			return shell.Exit{}, nil
		}}
		b, c, reported := shell.Bash(d), inRepo(), &reports{}
		c.Running = reported
		c.Clock = sleeping()
		out, err := b.Call(t.Context(), command(t, b, "make"), c)
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.Len(t, reported.texts, 2)
		assert.Equal(t, "one\nerr", reported.texts[0])
		assert.True(t, strings.HasPrefix(reported.texts[1], "... 3005 bytes left out ...\nmany\n") && strings.HasSuffix(reported.texts[1], "many\nmany"), reported.texts[1][:60])
		assert.Contains(t, message.PlainText(out.Blocks), "half\nmany")
	})
}

// A line that came in pieces is reported once, when its end has come, and never again with the line behind it.
func TestALineInPiecesIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := shell.Bash(shell.Deps{FS: afero.NewMemMapFs(), Run: func(_ context.Context, r shell.Request) (shell.Exit, error) {
			for _, piece := range []string{"o", "n", "e\n", "two\n", "thr"} {
				io.WriteString(r.Stdout, piece)
			}
			time.Sleep(time.Second)
			io.WriteString(r.Stdout, "ee\n")
			time.Sleep(time.Second)
			return shell.Exit{}, nil
		}})
		c, reported := inRepo(), &reports{}
		c.Running, c.Clock = reported, sleeping()
		_, err := b.Call(t.Context(), command(t, b, "make"), c)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, []string{"one\ntwo", "three"}, reported.texts)
	})
}

// chatty has the command write more whenever it is told of what was written, and waits until it has.
type chatty struct {
	tool.Running
	more    chan string
	written chan struct{}
	texts   []string
}

func (c *chatty) Progress(text string) {
	if c.texts = append(c.texts, text); len(c.texts) < 3 {
		c.more <- fmt.Sprintf("after %d\n", len(c.texts))
		<-c.written
	}
}

// What is written while lines are reported is in the next report.
func TestLinesThatComeDuringAReportAreReportedNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := &chatty{more: make(chan string), written: make(chan struct{})}
		b := shell.Bash(shell.Deps{FS: afero.NewMemMapFs(), Run: func(_ context.Context, r shell.Request) (shell.Exit, error) {
			io.WriteString(r.Stdout, "first\n")
			for range 2 {
				io.WriteString(r.Stdout, <-reported.more)
				reported.written <- struct{}{}
			}
			time.Sleep(time.Minute)
			return shell.Exit{}, nil
		}})
		c := inRepo()
		c.Running, c.Clock = reported, sleeping()
		_, err := b.Call(t.Context(), command(t, b, "make"), c)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, []string{"first", "after 1", "after 2"}, reported.texts)
	})
}

// sleeping is the clock of a bubble.
func sleeping() tool.Clock {
	return tool.Clock{Go: func(_ string, f func()) { go f() }, Sleep: func(ctx context.Context, _ string, d time.Duration) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	}}
}

func TestAnExitCodeFailsOnlyWhereItMeansFailure(t *testing.T) {
	for text, want := range map[string]bool{"make": true, "grep x a.go": false, "diff a b": false, "test -f x": false} {
		assert.Equal(t, want, run(t, text, ran{exit: shell.Exit{Code: 1}}).Failed, text)
	}
	assert.False(t, run(t, "make", ran{}).Failed)
	assert.True(t, shell.Bash(shell.Deps{}).Behaviour.FailureStopsSiblings)
}

func TestACommandThatDoesNotStartIsAnError(t *testing.T) {
	var asked []shell.Request
	broken := errors.New("no shell")
	b := shell.Bash(deps(t, ran{err: broken}, &asked))
	_, err := b.Call(t.Context(), command(t, b, "make"), inRepo())
	assert.ErrorIs(t, err, broken)
}

func TestCdBecomesAModifierWithinTheRoots(t *testing.T) {
	for name, test := range map[string]struct {
		text, to, want, note string
	}{
		"into a folder":      {"cd sub", "/repo/sub", "/repo/sub", ""},
		"out of the roots":   {"cd /etc", "/etc", "/repo", "[the working directory is /repo again: /etc is outside the allowed folders]"},
		"to no folder":       {"cd gone", "/repo/gone", "/repo", "is no folder"},
		"without cd":         {"make", "/repo/sub", "/repo", ""},
		"through a link":     {"cd link", "/repo/link", "/repo", "is outside the allowed folders"},
		"nowhere":            {"cd .", "/repo", "/repo", ""},
		"not known at all":   {"cd sub", "", "/repo", ""},
		"to another machine": {"cd //host/x", "//host/x", "/repo", "is outside the allowed folders"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []shell.Request
			d := deps(t, ran{exit: shell.Exit{Dir: test.to}}, &asked)
			d.Resolve = func(p string) string { return strings.Replace(p, "/repo/link", "/etc", 1) }
			b := shell.Bash(d)
			out, err := b.Call(t.Context(), command(t, b, test.text), inRepo())
			require.NoError(t, err)
			assert.Equal(t, test.want, out.Modify.Then(func(s tool.State) tool.State { return s })(inRepo().State).Dir)
			assert.Equal(t, test.want, out.Data.(shell.BashOut).Dir)
			if test.note == "" {
				test.note = "(no output)"
			}
			assert.Contains(t, message.PlainText(out.Blocks), test.note)
		})
	}
}

func TestExportsBecomeAModifierThatComposes(t *testing.T) {
	after := map[string]string{"HOME": "/home/me", "NEW": "2", "PWD": "/repo", "_": "x"}
	out := run(t, "export NEW=2; unset OLD", ran{exit: shell.Exit{Env: after}})
	state := out.Modify(tool.State{Dir: "/elsewhere", Env: map[string]string{"OLD": "1", "OTHER": "3"}})
	assert.Equal(t, map[string]string{"NEW": "2", "OTHER": "3"}, state.Env)
	assert.Equal(t, "/elsewhere", state.Dir)
	assert.Nil(t, run(t, "make", ran{exit: shell.Exit{Env: after}}).Modify, "only what says it changes the environment does")
	assert.Nil(t, run(t, "export NEW=2", ran{}).Modify, "an environment that is not known changes nothing")
}

func TestTheTimeLimitIsTheCallsOwn(t *testing.T) {
	b := shell.Bash(shell.Deps{})
	assert.Equal(t, 120*time.Second, b.Limit.Timeout(command(t, b, "make")))
	assert.Equal(t, 1500*time.Millisecond, b.Limit.Timeout(parse(t, b, map[string]any{"command": "make", "timeout": 1500})))
	assert.Equal(t, 2*time.Second, b.Limit.Heartbeat)
	assert.Equal(t, 30_000, b.Limit.ResultChars)
	_, problems := b.Parse(json.RawMessage(`{"command":"make","timeout":600001}`))
	assert.NotEmpty(t, problems)
}

// hanging prints something and then waits for the end of its context.
func hanging(_ context.Context, d shell.Deps) shell.Deps {
	d.Run = func(ctx context.Context, r shell.Request) (shell.Exit, error) {
		io.WriteString(r.Stdout, "so far\n")
		<-ctx.Done()
		return shell.Exit{}, ctx.Err()
	}
	return d
}

func TestWhatWasPrintedBeforeTheTimeWasUpIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := shell.Bash(hanging(t.Context(), shell.Deps{FS: afero.NewMemMapFs()}))
		in := parse(t, b, map[string]any{"command": "make", "timeout": 5000})
		ctx, cancel := context.WithTimeout(t.Context(), b.Limit.Timeout(in))
		defer cancel()
		began := time.Now()
		out, err := b.Call(ctx, in, inRepo())
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.True(t, out.Failed)
		assert.True(t, out.Data.(shell.BashOut).Interrupted)
		assert.Equal(t, "so far\n[stopped: the time limit of 5s was up; set timeout, or run it in the background]", message.PlainText(out.Blocks))
	})
}

func TestACancelledCommandSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := shell.Bash(hanging(t.Context(), shell.Deps{FS: afero.NewMemMapFs()}))
		why := errors.New("a sibling failed")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := b.Call(ctx, command(t, b, "make"), inRepo())
		assert.ErrorIs(t, err, why)
		assert.Equal(t, tool.Cancel, b.Behaviour.Interrupt)
	})
}

func TestAnImageOnStdoutBecomesAnImageBlock(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte("not really a picture"))
	out := run(t, "plot", ran{stdout: "data:image/png;base64," + data[:8] + "\n" + data[8:] + "\n", stderr: "drawn"})
	assert.Equal(t, []message.Block{message.Image("image/png", data), message.Text("drawn")}, out.Blocks)
	assert.Equal(t, "image/png", out.Data.(shell.BashOut).Image)

	for _, text := range []string{"see data:image/png;base64,AAAA", "data:image/png;base64,A", "data:text/plain;base64,AAAA"} {
		out := run(t, "plot", ran{stdout: text})
		assert.Equal(t, []message.Block{message.Text(text)}, out.Blocks)
	}
}

func TestGitAndFinishedIndexingAreNoticed(t *testing.T) {
	out := run(t, "git add . && git commit -m x", ran{})
	assert.Equal(t, []string{"add", "commit"}, out.Data.(shell.BashOut).Git)

	for line, want := range map[string]bool{
		"Indexing complete": true, "done\nfinished indexing 312 files": true, "> code index is done.": true,
		"indexing...": false, "the index was finished by hand": false,
	} {
		assert.Equal(t, want, run(t, "indexer", ran{stdout: line}).Data.(shell.BashOut).Indexed, line)
	}
	var told []string
	var asked []shell.Request
	b := shell.Bash(deps(t, ran{stderr: "Indexing complete"}, &asked))
	c := inRepo()
	c.Notify = func(text string) { told = append(told, text) }
	_, err := b.Call(t.Context(), command(t, b, "indexer"), c)
	require.NoError(t, err)
	assert.Equal(t, []string{"code indexing is finished"}, told)
}

func TestAStreamTooLongForMemoryKeepsItsEndsAndAFile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(r, "limit")
		pieces := rapid.SliceOfN(rapid.StringMatching(`[a-zé\n]{0,30}`), 0, 12).Draw(r, "pieces")
		whole := strings.Join(pieces, "")
		fs := afero.NewMemMapFs()
		b := shell.Bash(shell.Deps{FS: fs, KeepBytes: limit, OutputDir: "/tmp/out", Run: func(_ context.Context, req shell.Request) (shell.Exit, error) {
			for _, p := range pieces {
				n, err := io.WriteString(req.Stdout, p)
				if n != len(p) || err != nil {
					r.Fatalf("wrote %d of %d: %v", n, len(p), err)
				}
			}
			return shell.Exit{}, nil
		}})
		out, err := b.Call(t.Context(), command(t, b, "make"), inRepo())
		require.NoError(r, err)
		got := out.Data.(shell.BashOut)
		file, ferr := afero.ReadFile(fs, "/tmp/out/toolu_1.stdout")
		if len(whole) <= limit {
			assert.Equal(r, whole, got.Stdout)
			assert.Error(r, ferr, "nothing is written that is not needed")
			return
		}
		require.NoError(r, ferr)
		assert.Equal(r, whole, string(file))
		head, tail := strings.ToValidUTF8(whole[:limit/2], "\uFFFD"), strings.ToValidUTF8(whole[len(whole)-(limit-limit/2):], "\uFFFD")
		assert.Equal(r, fmt.Sprintf("%s\n... %d bytes left out ...\n%s", head, len(whole)-limit, tail), got.Stdout)
		require.Len(r, got.Notes, 1)
		assert.Contains(r, got.Notes[0], "all of it is in /tmp/out/toolu_1.stdout")
	})
}

// Exactly what is kept is whole, and no byte more.
func TestAStreamOfExactlyTheLimitIsWhole(t *testing.T) {
	for n, cut := range map[int]bool{19: false, 20: false, 21: true} {
		var asked []shell.Request
		d := deps(t, ran{stdout: strings.Repeat("x", n)}, &asked)
		d.KeepBytes = 20
		b := shell.Bash(d)
		out, err := b.Call(t.Context(), command(t, b, "make"), inRepo())
		require.NoError(t, err)
		assert.Equal(t, cut, strings.Contains(out.Data.(shell.BashOut).Stdout, "left out"), n)
	}
}

// Two agents may have calls of one id, whose outputs lie in one folder.
func TestLongOutputsOfOneIDAreKeptApart(t *testing.T) {
	fs := afero.NewMemMapFs()
	for i, want := range []string{"/tmp/out/toolu_1.stdout", "/tmp/out/toolu_1-2.stdout"} {
		text := strings.Repeat(string(rune('a'+i)), 20)
		b := shell.Bash(shell.Deps{FS: fs, KeepBytes: 4, OutputDir: "/tmp/out", Run: func(_ context.Context, req shell.Request) (shell.Exit, error) {
			_, err := io.WriteString(req.Stdout, text)
			return shell.Exit{}, err
		}})
		out, err := b.Call(t.Context(), command(t, b, "make"), inRepo())
		require.NoError(t, err)
		assert.Contains(t, message.PlainText(out.Blocks), want)
		kept, err := afero.ReadFile(fs, want)
		require.NoError(t, err)
		assert.Equal(t, text, string(kept))
	}
}

func TestAFileThatCannotBeWrittenLosesNoCall(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{stdout: strings.Repeat("x", 100)}, &asked)
	d.FS, d.KeepBytes, d.OutputDir = afero.NewReadOnlyFs(d.FS), 10, "/tmp/out"
	b := shell.Bash(d)
	out, err := b.Call(t.Context(), command(t, b, "make"), inRepo())
	require.NoError(t, err)
	assert.Equal(t, "xxxxx\n... 90 bytes left out ...\nxxxxx\n[stdout was 100 bytes long, 90 of them left out]", message.PlainText(out.Blocks))
}

func TestTheSandboxIsAskedFirstAndGoneRoundWithPermission(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{}, &asked)
	d.Sandbox = func(command string) string { return "it writes to " + command }
	b := shell.Bash(d)
	in := command(t, b, "/usr")
	_, err := b.Call(t.Context(), in, inRepo())
	assert.ErrorContains(t, err, "it writes to /usr")
	assert.Empty(t, asked)
	assert.Equal(t, permission.Passthrough, b.Permit(in, inRepo()).Behaviour)

	in = parse(t, b, map[string]any{"command": "/usr", "dangerouslyDisableSandbox": true})
	assert.Equal(t, permission.Ask, b.Permit(in, inRepo()).Behaviour)
	_, err = b.Call(t.Context(), in, inRepo())
	require.NoError(t, err)
	assert.True(t, asked[0].Unsandboxed)

	d.Start = func(*tool.Context, shell.Job) (string, error) { return "task_1", nil }
	background := shell.Bash(d)
	_, err = background.Call(t.Context(), parse(t, background, map[string]any{"command": "/usr", "run_in_background": true}), inRepo())
	assert.ErrorContains(t, err, "it writes to /usr", "the background is no way out")
	off := inRepo()
	off.State = off.State.WithOption(tool.OptionSandbox, "false")
	_, err = b.Call(t.Context(), command(t, b, "/usr"), off)
	require.NoError(t, err, "the user switched it off")
	assert.True(t, asked[1].Unsandboxed)

	p := shell.PowerShell(d)
	_, err = p.Call(t.Context(), command(t, p, "Get-Date"), inRepo())
	assert.ErrorContains(t, err, "it writes to Get-Date")
	_, err = p.Call(t.Context(), parse(t, p, map[string]any{"command": "Get-Date", "run_in_background": true}), inRepo())
	assert.ErrorContains(t, err, "it writes to Get-Date")

	planning := inRepo()
	planning.Mode = permission.Plan
	assert.Equal(t, permission.Passthrough, b.Permit(in, planning).Behaviour, "plan mode refuses it without a question")
}

// Two calls that do the same are equivalent, however their purpose is worded.
func TestCommandsAreEquivalentWhateverTheirDescription(t *testing.T) {
	b := shell.Bash(shell.Deps{})
	in := func(members map[string]any) tool.Input { return parse(t, b, members) }
	plain := in(map[string]any{"command": "make"})
	assert.True(t, b.Shape.Equivalent(plain, in(map[string]any{"command": "make", "description": "Build it"})))
	for name, value := range map[string]any{"command": "make x", "timeout": 5, "run_in_background": true, "dangerouslyDisableSandbox": true} {
		other := map[string]any{"command": "make"}
		other[name] = value
		assert.False(t, b.Shape.Equivalent(plain, in(other)), name)
	}
}

func TestABackgroundCommandIsATask(t *testing.T) {
	var asked []shell.Request
	d := deps(t, ran{stdout: "up\n", stderr: "warm\n", exit: shell.Exit{Code: 4}}, &asked)
	b := shell.Bash(d)
	in := parse(t, b, map[string]any{"command": "serve", "description": "Serve it", "run_in_background": true})
	_, err := b.Call(t.Context(), in, inRepo())
	assert.ErrorContains(t, err, "without run_in_background")

	var job shell.Job
	d.Start = func(_ *tool.Context, j shell.Job) (string, error) { job = j; return "task_7", nil }
	b = shell.Bash(d)
	out, err := b.Call(t.Context(), in, inRepo())
	require.NoError(t, err)
	assert.Empty(t, asked)
	assert.Equal(t, []tool.Observation{{Task: "task_7"}}, out.Observed)
	assert.Contains(t, message.PlainText(out.Blocks), "task_7")
	assert.Equal(t, "task_7", out.Data.(shell.BashOut).TaskID)

	var written strings.Builder
	code, err := job.Run(t.Context(), &written)
	require.NoError(t, err)
	assert.Equal(t, 4, code)
	assert.Equal(t, "up\nwarm\n", written.String())
	assert.Equal(t, "Serve it", job.Title)
	assert.Equal(t, "serve", job.Command)

	safe := b.Behaviour.Safe(parse(t, b, map[string]any{"command": "ls", "run_in_background": true}))
	assert.False(t, safe, "tasks get their ids in call order")
}

func TestAnEmptyCommandIsRefused(t *testing.T) {
	b := shell.Bash(shell.Deps{})
	for _, text := range []string{" \n", "ls\x00"} {
		refusal := b.Validate(command(t, b, text), inRepo())
		if assert.NotNil(t, refusal) {
			assert.Equal(t, shell.CodeNoCommand, refusal.Code)
		}
	}
}
