package shell_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	simshell "toolbench/sim/shell"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// watched notes what is opened outside /repo, and what is written anywhere.
type watched struct {
	afero.Fs
	broken []string
}

func (w *watched) Open(name string) (afero.File, error) { return w.OpenFile(name, os.O_RDONLY, 0) }

func (w *watched) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	inside := name == "/repo" || strings.HasPrefix(name, "/repo/") || strings.HasPrefix(name, "/dev/")
	if !inside || flag != os.O_RDONLY {
		w.broken = append(w.broken, name)
	}
	return w.Fs.OpenFile(name, flag, perm)
}

// words are drawn from what could lead a reader out of the roots.
var (
	readers = rapid.SampledFrom([]string{
		"cat", "ls", "ls -R", "head -n 1", "tail -c 3", "wc", "grep", "grep -r", "grep -rn -e", "grep -f", "grep -nf", "rg", "rg --files", "rg -g",
		"find", "find -name x", "sed -n", "sed -e", "awk", "awk -F /", "jq", "jq -n", "sort", "sort -k", "uniq", "cut -d / -f 1", "cut -f", "diff", "diff -q",
		"stat", "file", "du", "tree", "xargs cat", "echo", "cd", "cd --", "test -f", "comm", "paste", "nl", "tac", "rev", "basename", "readlink", "realpath",
		"timeout 5 cat", "command cat", "env cat", "nohup cat", "bash -c", "sh -c", "md5sum", "base64", "cmp", "pushd", "git -C", "git status", "printf %s", "time cat",
	})
	operand = rapid.SampledFrom([]string{
		"a.go", "sub", "sub/b.go", ".", "..", "../x", "sub/..", "sub/../..", "/", "/etc", "/etc/shadow", "/etc/*", "*.go", "*", "s*/../../etc/shadow", "{a.go,/etc/shadow}",
		"~", "~/x", "~/.ssh/id", "$HOME", "$HOME/x", "\"$OLD\"", "$(cat a.go)", "$(echo /etc/shadow)", "`pwd`/../etc/shadow", "'/etc/shadow'", "\"/etc/shadow\"", "/e\"t\"c/shadow", "\\/etc/shadow",
		"-e", "-f", "-r", "--", "-", "-f/etc/shadow", "--file=/etc/shadow", "-nf../etc/shadow", "-exec cat /etc/shadow \\;", "-files0-from /etc/list", "--files0-from=/etc/list",
		"'r /etc/shadow'", "'BEGIN{while((getline l<\"/etc/shadow\")>0)print l}'", "'{print > \"x\"}'", "1p", "/x/p", "s/a/b/", "'{print $1}'", "BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}1",
		"--slurpfile x /etc/shadow", "input", "x=/etc/shadow", "'cat /etc/shadow'", "'cat < /etc/shadow'", "< a.go", "< /etc/shadow", "<<< /etc/shadow", "2>/dev/null", "2>&1", "&>/dev/null", "$'/etc/shadow'",
		"/repo/../etc/shadow", "/repo/a.go", "//etc/shadow", "./sub", "?.go", "[a]*", "/proc/self/environ", "<(cat /etc/shadow)", "${X:-/etc/shadow}", "/etc/shado?",
	})
	joint = rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", " | xargs ", "\n"})
	frame = rapid.SampledFrom([]string{"%", "%", "%", "(%)", "{ %; }", "if %; then cat a.go; fi", "for f in a.go /etc/shadow; do %; cat $f; done", "X=/etc/shadow; %; cat $X", "HOME=/etc %", "f() { %; }; f", "f() { %; echo $1; }; f '/etc/*'", "for f in '/etc/*'; do %; echo $f; done", "for f in /etc/*; do %; done", "! %", "echo $(%)", "eval '%'", "while read l; do cat $l; done < a.go; %"})
)

func commands() *rapid.Generator[string] {
	simple := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(append([]string{readers.Draw(t, "reader")}, rapid.SliceOfN(operand, 0, 4).Draw(t, "operands")...), " ")
	})
	return rapid.Custom(func(t *rapid.T) string {
		text := simple.Draw(t, "command")
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			text += joint.Draw(t, "joint") + simple.Draw(t, "command")
		}
		return strings.ReplaceAll(frame.Draw(t, "frame"), "%", text)
	})
}

// The promise of default mode (F2, L6): a command that nobody was asked about
// opens nothing outside the roots and writes nothing. What is allowed is run, on a
// filesystem that watches.
func TestWhatRunsUnaskedStaysInside(t *testing.T) {
	allowed := 0
	rapid.Check(t, func(r *rapid.T) {
		text := commands().Draw(r, "script")
		if decide(t, text) != permission.Allow {
			return
		}
		allowed++
		fs := &watched{Fs: afero.NewMemMapFs()}
		for _, dir := range []string{"/repo/sub", "/etc", "/home/me"} {
			require.NoError(r, fs.MkdirAll(dir, 0o755))
		}
		for file, content := range map[string]string{"/repo/a.go": "/etc/shadow\n", "/repo/sub/b.go": "x\n", "/etc/shadow": "SECRET\n", "/home/me/x": "SECRET\n", "/x": "SECRET\n"} {
			require.NoError(r, afero.WriteFile(fs.Fs, file, []byte(content), 0o644))
		}
		sh := simshell.Shell{FS: fs, Now: time.Now, Sleep: func(context.Context, time.Duration) error { return nil }}
		b := shell.Bash(shell.Deps{FS: fs, Run: func(ctx context.Context, q shell.Request) (shell.Exit, error) {
			exit, err := sh.Run(ctx, simshell.Command{Script: q.Script, Dir: q.Dir, Env: q.Env, Stdout: q.Stdout, Stderr: q.Stderr})
			return shell.Exit{Code: exit.Code, Dir: exit.Dir, Env: exit.Env}, err
		}})
		out, err := b.Call(t.Context(), command(t, b, text), inRepo())
		if len(fs.broken) > 0 {
			r.Fatalf("%s\nopened %q", text, fs.broken)
		}
		if err == nil && strings.Contains(message.PlainText(out.Blocks), "SECRET") {
			r.Fatalf("%s\nshowed what lies outside", text)
		}
	})
	require.Positive(t, allowed, "some commands have to run, or this promises nothing")
	t.Logf("%d commands ran", allowed)
}
