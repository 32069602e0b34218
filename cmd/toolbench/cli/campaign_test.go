package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
	"toolbench/property/shards"
)

// play runs a command in a folder, with a program for batches.
func play(self, dir string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), cli.Process{Args: args, Stdout: &out, Stderr: &errs, Dir: dir, Self: self}, cli.Scenarios())
	return code, out.String(), errs.String()
}

// What many workers find is what one process finds: the first failure with its files, while
// the ledger gets each cause once, however many parts show it.
func TestWhatManyWorkersFindIsToldAsOne(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	// Cases 37, 137 and 237 kill their process, the last with other words.
	script := `#!/bin/sh
if [ "$2" = --replay ]; then if grep -q 'safe: true' "$3"; then echo "panic: boom" >&2; exit 2; fi; exit 0; fi
first=${3%%:*}; rest=${3#*:}; n=${rest%%:*}
echo "{\"at\":$first}"
for bad in 37 137 237; do
if [ $first -le $bad ] && [ $((first+n)) -gt $bad ]; then
if [ $bad -lt 200 ]; then echo "panic: boom" >&2; else echo "panic: crash" >&2; fi
exit 2
fi
done
echo "{\"done\":{\"cases\":$n,\"calls\":$n,\"seen\":[]}}"
`
	require.NoError(t, os.WriteFile(self, []byte(script), 0o755))
	cases := []string{"--seed", "4", "--range", "0..300", "--engine", "des", "--format", "json=report.json"}
	one, many := t.TempDir(), t.TempDir()
	code, _, errs := play(self, one, append([]string{"fuzz"}, cases...)...)
	require.Equal(t, cli.ExitFailed, code, errs)
	code, out, errs := play(self, many, append([]string{"campaign", "--part", "50", "--workers", "2", "--findings", "found"}, cases...)...)
	assert.Equal(t, cli.ExitFailed, code, errs)
	assert.Contains(t, out, "FAILED case 37 broke crash")
	assert.Contains(t, errs, "2 causes were found")
	for _, name := range []string{"report.json", "fuzz-4-37.yaml", "fuzz-4-37.case.yaml"} {
		want, err := os.ReadFile(filepath.Join(one, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(many, name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
	}
	ledger, err := os.ReadFile(filepath.Join(many, "found", "ledger.json"))
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(ledger, []byte(`"cause"`)), string(ledger))
	assert.Equal(t, 2, bytes.Count(ledger, []byte(`"new"`)), string(ledger))
	kept, err := filepath.Glob(filepath.Join(many, "found", "*.case.yaml"))
	require.NoError(t, err)
	assert.Len(t, kept, 2)
}

// A server that goes away is waited for, and its users get to know it.
func TestAServerThatGoesAwayIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	serve := func(port int) (*shards.Server, int) {
		server, err := shards.Serve("127.0.0.1", port, dir, "")
		require.NoError(t, err)
		at, err := url.Parse(server.URL())
		require.NoError(t, err)
		port, err = strconv.Atoi(at.Port())
		require.NoError(t, err)
		return server, port
	}
	server, port := serve(-1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs, code := &screen{}, make(chan int)
	printed := func(text string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(errs.String(), text) }, time.Minute, 10*time.Millisecond, errs)
	}
	go func() {
		code <- cli.Main(ctx, cli.Process{Args: []string{"campaign", "--nats", server.URL(), "--workers", "0", "--seed", "7", "--range", "0..10"}, Dir: dir, Stdout: io.Discard, Stderr: errs}, cli.Scenarios())
	}()
	printed("workers may come")
	server.Close()
	printed("the NATS server is gone (EOF) and is waited for; Ctrl-C ends")
	server, _ = serve(port)
	printed("the NATS server is back")
	cancel()
	assert.Equal(t, cli.ExitInterrupted, <-code)
	server.Close()
}

// session is a recording of so many calls, with a text of the user.
func session(calls int, text string) string {
	lines := []string{`{"type":"user","sessionId":"` + text + `","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"Go."}}`}
	for n := range calls {
		lines = append(lines,
			fmt.Sprintf(`{"type":"assistant","sessionId":"%s","timestamp":"2025-01-01T00:00:%02d.000Z","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"look","input":{}}]}}`, text, 2*n+1, n, n),
			fmt.Sprintf(`{"type":"user","sessionId":"%s","timestamp":"2025-01-01T00:00:%02d.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"x"}]}}`, text, 2*n+2, n))
	}
	return strings.Join(lines, "\n") + "\n"
}

func filled(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

// Workers elsewhere are sent the recordings, once where they are equal, and take files of their
// own only where these are the same. What they come to is what one process prints and writes,
// with what that process knows for a secret blanked.
func TestRecordingsAreReplayedElsewhere(t *testing.T) {
	home, empty, other := t.TempDir(), t.TempDir(), t.TempDir()
	files := map[string]string{"logs/notes.md": "# Notes", "logs/nothing": "", "logs/secret.jsonl": session(1, "plain-words-of-ours")}
	for n := range 20 {
		files[fmt.Sprintf("logs/%02d.jsonl", n)] = session(1+n%5, fmt.Sprint("s", n%10))
	}
	filled(t, home, files)
	filled(t, other, map[string]string{"logs/03.jsonl": session(4, "t3"), "logs/04.jsonl": files["logs/04.jsonl"] + "{}\n", "logs/05.jsonl": files["logs/05.jsonl"]})
	ours := []string{"API_TOKEN=plain-words-of-ours"}
	in := func(ctx context.Context, dir string, env []string, errs io.Writer, args ...string) (int, string) {
		var out bytes.Buffer
		return cli.Main(ctx, cli.Process{Args: args, Stdout: &out, Stderr: errs, Dir: dir, Env: env}, cli.Scenarios()), out.String()
	}
	code, want := in(t.Context(), home, ours, io.Discard, "replay", "logs", "--safe", "look", "--format", "json=one.json")
	require.Equal(t, cli.ExitHeld, code)
	require.NotContains(t, want, "plain-words")

	for _, dir := range []string{empty, other} {
		reader, writer := io.Pipe()
		var all sync.WaitGroup
		all.Go(func() {
			words := bufio.NewReader(reader)
			line, err := words.ReadString('\n')
			_, command, ok := strings.Cut(line, "workers may come: ")
			go io.Copy(io.Discard, words)
			if !assert.NoError(t, err) || !assert.True(t, ok, line) {
				return
			}
			fields := strings.Fields(command) // the token, the program and its arguments
			code, _ := in(t.Context(), dir, fields[:1], io.Discard, append(fields[2:], "-j", "2")...)
			assert.Equal(t, cli.ExitHeld, code)
		})
		code, got := in(t.Context(), home, ours, writer, "replay", "logs", "--safe", "look", "--format", "json=all.json", "--workers", "0", "--store", "kept", "--part", "3")
		require.NoError(t, writer.Close())
		all.Wait()
		assert.Equal(t, cli.ExitHeld, code)
		assert.Equal(t, want, got)
		one, err := os.ReadFile(filepath.Join(home, "one.json"))
		require.NoError(t, err)
		many, err := os.ReadFile(filepath.Join(home, "all.json"))
		require.NoError(t, err)
		assert.Equal(t, string(one), string(many))
	}
}

// Two servers on one folder would take each other's streams away: the second one would wait for ever.
func TestAStoreIsOneCampaignsAtATime(t *testing.T) {
	dir := t.TempDir()
	args := []string{"campaign", "--seed", "7", "--range", "0..1000000", "--store", "kept", "--workers", "0"}
	begin := func() (end func() int) {
		ctx, cancel := context.WithCancel(t.Context())
		var errs screen
		code := make(chan int, 1)
		go func() {
			code <- cli.Main(ctx, cli.Process{Args: args, Dir: dir, Stdout: io.Discard, Stderr: &errs}, cli.Scenarios())
		}()
		require.Eventually(t, func() bool { return strings.Contains(errs.String(), "workers may come") }, time.Minute, 10*time.Millisecond)
		return func() int { cancel(); return <-code }
	}
	end := begin()
	short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var errs screen
	assert.Equal(t, cli.ExitUsage, cli.Main(short, cli.Process{Args: args, Dir: dir, Stdout: io.Discard, Stderr: &errs}, cli.Scenarios()))
	assert.Contains(t, errs.String(), "--store kept: another campaign has it (")
	assert.Equal(t, cli.ExitInterrupted, end())
	end = begin() // a folder that is left is free
	assert.Equal(t, cli.ExitInterrupted, end())
}
