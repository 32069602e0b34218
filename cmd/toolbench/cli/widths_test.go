package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
	"toolbench/reports"
)

// No command writes a line that is wider than asked for, nor a colour into a pipe, nor, with
// --ascii, a character beyond ASCII. Commands that are to be copied are not broken.
func TestEveryCommandFitsTheScreen(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	bench := cli.Scenarios()
	bench.Suite = fstest.MapFS{} // the embedded one is read by each command, and none is of it
	do := func(env []string, args ...string) string {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cli.Process{Args: args, Env: env, Stdout: &out, Stderr: &errs, Dir: dir, Cache: dir}, bench)
		require.Less(t, code, cli.ExitUsage, "%v: %s", args, errs.String())
		return out.String()
	}
	catalogue := filepath.Join(root, "fixtures/catalogues/office.jsonl")
	cassettes := filepath.Join(dir, "cassettes")
	require.NoError(t, os.Mkdir(cassettes, 0o755))
	for _, name := range []string{"partition-headline", "auto-large-window", "deferral-headline"} {
		data, err := os.ReadFile(filepath.Join(root, "fixtures/cassettes", name+".yaml"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(cassettes, name+"-with-a-name-that-is-longer-than-any-column.yaml"), data, 0o644))
	}
	own := func(name string) string { return filepath.Join(root, "scenarios", name+".yaml") }
	one, other, third := own("partition-headline"), own("effects-overtake"), own("latency-hiding-headline")
	do(nil, "run", one, third, "--format", "json=a.json", "--quiet")
	do(nil, "run", one, other, "--format", "json=b.json", "--quiet")
	commands := []string{
		"run " + one + " " + other, "run -v " + other, "run -vv " + one, "list " + one, "list trace",
		"tokens --catalog " + catalogue, "tokens --recording cassettes", "cache --recording cassettes", "cache --recording cassettes -v",
		"search --catalog " + catalogue + " archive", "replay cassettes", "replay -v cassettes", "compare a.json b.json --all", "merge a.json",
		"fuzz --engine des --runs 20 --seed 1 -v", "fuzz --list", "rules --allow Bash(git:*) --command git_push",
	}
	for _, slow := range []string{"cache", "doctor"} {
		fitsScreen(t, do(nil, append(strings.Fields(slow), "--width", "60")...), 60, slow)
	}
	for _, width := range []int{60, 80, 120, 200} {
		for _, command := range commands {
			args := append(strings.Fields(command), "--width", strconv.Itoa(width))
			fitsScreen(t, do([]string{"NO_COLOR=1"}, args...), width, command)
			if width > 60 {
				continue
			}
			for _, r := range do([]string{"NO_COLOR=1"}, append(args, "--ascii")...) {
				if !assert.LessOrEqual(t, r, rune(0x7e), "%s --ascii draws %q", command, r) {
					break
				}
			}
		}
		for _, command := range []string{"", "run", "try", "record", "fuzz", "replay", "compare", "tap", "init", "doctor"} {
			fitsScreen(t, do([]string{fmt.Sprintf("COLUMNS=%d", width)}, append(strings.Fields(command), "--help")...), width, command+" --help")
		}
		fitsScreen(t, do([]string{fmt.Sprintf("COLUMNS=%d", width)}, "help", "ci"), width, "help ci")
	}
}

func fitsScreen(t *testing.T, text string, width int, what string) {
	t.Helper()
	assert.NotEmpty(t, text, what)
	assert.NotContains(t, text, "\x1b", what)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.Contains(line, "again: toolbench") && !assert.LessOrEqual(t, reports.Width(line), width, "%s: %s", what, line) {
			return
		}
	}
}

// What is piped, as into a pager, is as wide as the terminal that the errors go to.
func TestAPipeIsAsWideAsTheTerminal(t *testing.T) {
	control, terminal, err := pty.Open()
	require.NoError(t, err)
	defer control.Close()
	defer terminal.Close()
	require.NoError(t, pty.Setsize(control, &pty.Winsize{Rows: 40, Cols: 64}))
	widestLine := func(env ...string) int {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		code := cli.Main(t.Context(), cli.Process{Args: []string{"list", "partition-headline"}, Stdout: w, Stderr: terminal, Env: env}, cli.Scenarios())
		require.NoError(t, w.Close())
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, cli.ExitHeld, code)
		most := 0
		for line := range strings.Lines(string(text)) {
			most = max(most, reports.Width(strings.TrimSuffix(line, "\n")))
		}
		return most
	}
	assert.LessOrEqual(t, widestLine(), 64)
	assert.Greater(t, widestLine("COLUMNS=110"), 64, "COLUMNS was given")
}

// A timeline is kept cell by cell, so that a screen of any width cannot fill the memory.
func TestATimelineIsOfBoundedWidth(t *testing.T) {
	for _, asked := range [][]string{{"--width=2000000000"}, {"--width=20000"}, {"--width=10000"}} {
		var out, stderr bytes.Buffer
		args := append([]string{"run", "partition-headline", "-v"}, asked...)
		code := cli.Main(t.Context(), cli.Process{Args: args, Stdout: &out, Stderr: &stderr}, cli.Scenarios())
		assert.Equal(t, cli.ExitHeld, code, "%s", stderr.String())
		most := 0
		for line := range strings.Lines(out.String()) {
			most = max(most, reports.Width(strings.TrimSuffix(line, "\n")))
		}
		assert.LessOrEqual(t, most, 10_000)
		assert.Greater(t, most, 9_000)
	}
}
