package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

// screen is an output that is read while it is written.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Saving a scenario runs it again and no other; saving what any may point to runs all; a
// broken file is named and the watch goes on; Ctrl-C ends it.
func TestAWatchRunsAgainWhatIsSaved(t *testing.T) {
	dir := t.TempDir()
	elsewhere := t.TempDir()
	save := func(name, text string) { // at once, as editors do
		whole := filepath.Join(elsewhere, name)
		require.NoError(t, os.WriteFile(whole, []byte(text), 0o600))
		require.NoError(t, os.Rename(whole, filepath.Join(dir, name)))
	}
	body := "about: It answers.\nstream: {turns: [{text: Hello.}]}\n"
	save("one.yaml", "name: one\n"+body)
	save("two.yaml", "name: two\n"+body)
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs screen
	code := make(chan int)
	go func() {
		code <- cli.Main(ctx, cli.Process{Args: []string{"run", "--watch", "--format", "json=report.json", "--format", "table", "--findings", "found", "."}, Dir: dir, Stdout: &out, Stderr: &errs}, cli.Scenarios())
	}()
	// waited is when the n-th run is over.
	waited := func(n int) string {
		require.Eventually(t, func() bool { return strings.Count(errs.String(), "Ctrl-C ends") == n }, time.Minute, 10*time.Millisecond, errs.String())
		runs := strings.SplitAfter(out.String(), " passed\n")
		return runs[n-1]
	}
	assert.Contains(t, waited(1), "two ")
	save("one.yaml", "name: one\n"+body+"policy: serial\n")
	second := waited(2)
	assert.Contains(t, second, "serial")
	assert.NotContains(t, second, "two ", "what was not saved does not run")
	aside := filepath.Join(dir, "one.yaml~") // as many editors save: beside the file, and then in its place
	require.NoError(t, os.WriteFile(aside, []byte("name: one\n"+body+"policy: batch\n"), 0o600))
	require.NoError(t, os.Rename(aside, filepath.Join(dir, "one.yaml")))
	saved := waited(3)
	assert.Contains(t, saved, "batch")
	assert.NotContains(t, saved, "two ", "what lay beside it for a moment is nothing")
	save("notes.txt", "x")
	assert.Contains(t, waited(4), "two ")
	time.Sleep(300 * time.Millisecond)
	assert.Equal(t, 4, strings.Count(errs.String(), "Ctrl-C ends"), "what a run writes starts none")
	assert.FileExists(t, filepath.Join(dir, "report.json"))
	assert.FileExists(t, filepath.Join(dir, "found", "ledger.json"))
	save("one.yaml", "name: one\nabuot: x\n")
	waitedErr := func(text string) {
		require.Eventually(t, func() bool { return strings.Contains(errs.String(), text) }, time.Minute, 10*time.Millisecond)
	}
	waitedErr("one.yaml:2:1: unknown field \"abuot\"; did you mean about?")
	cancel()
	assert.Equal(t, cli.ExitInterrupted, <-code)
}

func TestTheEmbeddedSuiteIsNotWatched(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Equal(t, cli.ExitUsage, cli.Main(t.Context(), cli.Process{Args: []string{"run", "--watch"}, Stdout: &out, Stderr: &errs}, cli.Scenarios()))
	assert.Contains(t, errs.String(), "--watch needs files or folders")
}

// What the shell sends into a folder that is watched is no change of it.
func TestAWatchPassesOverItsOwnLog(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.yaml"), []byte("name: one\nabout: It answers.\nstream: {turns: [{text: Hello.}]}\n"), 0o600))
	log, err := os.Create(filepath.Join(dir, "watch.log"))
	require.NoError(t, err)
	defer log.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var errs screen
	code := make(chan int)
	go func() {
		code <- cli.Main(ctx, cli.Process{Args: []string{"run", "--watch", "one.yaml"}, Dir: dir, Stdout: log, Stderr: &errs}, cli.Scenarios())
	}()
	require.Eventually(t, func() bool { return strings.Contains(errs.String(), "Ctrl-C ends") }, time.Minute, 10*time.Millisecond)
	time.Sleep(500 * time.Millisecond)
	cancel()
	assert.Equal(t, cli.ExitInterrupted, <-code)
	assert.Equal(t, 1, strings.Count(errs.String(), "Ctrl-C ends"))
}

func TestAWatchedFoldersNameMayHaveADot(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "mine.d"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "others"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.d", "one.yaml"), []byte("name: one\nabout: It answers.\nstream: {turns: [{text: Hello.}]}\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	assert.Equal(t, cli.ExitInterrupted, cli.Main(ctx, cli.Process{Args: []string{"run", "--watch", "mine.d"}, Dir: dir, Stdout: &out, Stderr: &errs}, cli.Scenarios()))
	assert.Contains(t, errs.String(), "folders watched: 1;")
}

func TestAWatchFollowsALinkToItsFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".kept", "below"), 0o700))
	require.NoError(t, os.Symlink(".kept", filepath.Join(dir, "mine")))
	scenario := "name: one\nabout: It answers.\nstream: {turns: [{text: Hello.}]}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".kept", "one.yaml"), []byte(scenario), 0o600))
	for _, arg := range []string{"mine", "mine/", ".kept"} {
		ctx, cancel := context.WithCancel(t.Context())
		var out, errs screen
		code := make(chan int)
		go func() {
			code <- cli.Main(ctx, cli.Process{Args: []string{"run", "--watch", arg}, Dir: dir, Stdout: &out, Stderr: &errs}, cli.Scenarios())
		}()
		ran := func(n int) func() bool {
			return func() bool { return strings.Count(errs.String(), "folders watched: 2;") == n }
		}
		require.Eventually(t, ran(1), time.Minute, 10*time.Millisecond, arg)
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".kept", "one.yaml"), []byte(scenario+"# "+arg), 0o600))
		require.Eventually(t, ran(2), time.Minute, 10*time.Millisecond, arg)
		cancel()
		assert.Equal(t, cli.ExitInterrupted, <-code, errs.String())
	}
}

// A branch that is checked out may take a folder away and put it back.
func TestAWatchedFolderMayBePutBack(t *testing.T) {
	dir := t.TempDir()
	save := func(text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "mine"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine", "one.yaml"), []byte("name: one\nabout: "+text+"\nstream: {turns: [{text: Hello.}]}\n"), 0o600))
	}
	save("It answers.")
	var out, errs screen
	code := make(chan int)
	go func() {
		code <- cli.Main(t.Context(), cli.Process{Args: []string{"run", "--watch", "mine"}, Dir: dir, Stdout: &out, Stderr: &errs}, cli.Scenarios())
	}()
	waited := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(errs.String(), "Ctrl-C ends") >= n }, 20*time.Second, 10*time.Millisecond, "%d\n%s", n, &errs)
	}
	waited(1)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "mine")))
	save("It answers again.")
	waited(2)
	save("It answers once more.")
	waited(3)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "mine")))
	assert.Equal(t, cli.ExitUsage, <-code)
	assert.Contains(t, errs.String(), "what was to be watched is gone: mine")
}

// held is an output whose first text waits.
type held struct {
	screen
	first sync.Once
	until chan struct{}
}

func (h *held) Write(p []byte) (int, error) {
	h.first.Do(func() { <-h.until })
	return h.screen.Write(p)
}

// More may be saved while scenarios run than the system has room to report, and there may be no pause at all in
// which nothing is: the scenarios run again all the same.
func TestAWatchOutlivesMuchThatIsSaved(t *testing.T) {
	dir := t.TempDir()
	save := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	save("one.yaml", "name: one\nabout: It answers.\nstream: {turns: [{text: Hello.}]}\n")
	ctx, cancel := context.WithCancel(t.Context())
	out, errs, code := &held{until: make(chan struct{})}, &screen{}, make(chan int)
	go func() {
		code <- cli.Main(ctx, cli.Process{Args: []string{"run", "--watch", "."}, Dir: dir, Stdout: out, Stderr: errs}, cli.Scenarios())
	}()
	time.Sleep(300 * time.Millisecond) // it waits with what it prints, and takes no report
	for i := range 20_000 {
		save([]string{"a.txt", "b.txt"}[i%2], "x")
	}
	close(out.until)
	for i := 0; strings.Count(errs.String(), "Ctrl-C ends") < 4; i++ {
		require.Less(t, i, 1000, errs.String())
		save("agent.log", "x")
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	assert.Equal(t, cli.ExitInterrupted, <-code)
}
