package scenariotest_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the module's tests print into testdata/shop.txt")

// A module of its own, with two tools, a check and four scenarios, runs them with go test:
// one that fails explains itself, and is brought up to date. What it prints stands in
// docs/embedding.md.
func TestAModuleOfItsOwn(t *testing.T) {
	dir := module(t)
	var said bytes.Buffer
	gotest := func(args ...string) {
		said.WriteString("$ go test" + strings.Join(append([]string{""}, args...), " ") + "\n")
		said.WriteString(steady(command(t, dir, append([]string{"test"}, args...)...)))
	}
	gotest()
	file := filepath.Join(dir, "testdata", "looked-up-together.yaml")
	right, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(right, []byte("makespan: 400ms"), []byte("makespan: 300ms"), 1), 0o600))
	gotest()
	gotest("-update", "-v", "-run", "TestScenarios/looked-up-together")
	updated, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(right), string(updated), "the comments stay, and the figure is right again")

	tools := filepath.Join(dir, "shop_test.go")
	code, err := os.ReadFile(tools)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(tools, bytes.Replace(code, []byte(`"refunds.log"), []byte(line)`), []byte(`"elsewhere.log"), []byte(line)`), 1), 0o600))
	broken := command(t, dir, "test")
	assert.Contains(t, broken, "checks.refunds-are-logged", "the module's own check")

	const golden = "testdata/shop.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, said.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), said.String())
}

// module copies the shop to where it is no part of this module.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/shop")))
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	text := regexp.MustCompile(`(?m)^module .*`).ReplaceAllString(string(mod), "module example.com/shop\n\nrequire toolbench v0.0.0\n\nreplace toolbench => "+root)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600))
	return dir
}

// command runs the go command and gives what it prints.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"))
	out, _ := cmd.CombinedOutput() // a test that fails is wanted
	return string(out)
}

var times = regexp.MustCompile(`\d+\.\d+s`)

// steady leaves out what differs from run to run.
func steady(out string) string { return times.ReplaceAllString(out, "0.01s") }
