package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/cmd/toolbench/cli"
)

const recorded = `{"type":"user","sessionId":"s","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"Go."}}
{"type":"assistant","sessionId":"s","timestamp":"2025-01-01T00:00:02.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"a","input":{}}]}}
{"type":"system"}
{broken}
`

func TestWhatReplayWritesFitsItsPublishedSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(recorded), 0o644))
	fits(t, output(t, "replay", "--schema"), output(t, "replay", file, "--format", "json"))
}

func TestReplayLooksAtALimitedNumberOfFiles(t *testing.T) {
	dir := t.TempDir()
	for n := range 10_001 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o644))
	}
	var errs bytes.Buffer
	code := cli.Main(t.Context(), cli.Process{Args: []string{"replay", "."}, Dir: dir, Stdout: io.Discard, Stderr: &errs}, cli.Scenarios())
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs.String(), "more than 10000 files")
}

func TestAStoppedReplayCountsWholeFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "session.jsonl"), []byte(recorded), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs bytes.Buffer
	code := cli.Main(ctx, cli.Process{Args: []string{"replay", "."}, Dir: dir, Stdout: io.Discard, Stderr: &errs}, cli.Scenarios())
	assert.Equal(t, cli.ExitInterrupted, code)
	assert.Contains(t, errs.String(), "interrupted: 0 of 1 files")
}
