package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/serve"
)

// node finds Node.js and the modules. Where they must be there, their lack is a
// failure; elsewhere the test is skipped.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("testdata", "ts", "node_modules", "@anthropic-ai", "sdk", "package.json"))
	}
	switch {
	case err == nil:
		return path
	case os.Getenv("TOOLBENCH_NODE") != "":
		t.Fatalf("TOOLBENCH_NODE asks for the proof in Node.js: %s", err)
	}
	t.Skip("without Node.js, or before `npm ci` in sim/serve/testdata/ts")
	return ""
}

// runTS drives the server with the official TypeScript SDK's tool runner.
func runTS(t *testing.T, tp *serve.Script, p plan) serve.SessionReport {
	t.Helper()
	path := node(t)
	server := serve.New(tp, serve.Options{})
	at := httptest.NewServer(server)
	defer at.Close()
	p.URL = at.URL
	input, err := json.Marshal(p)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "client.mjs")
	cmd.Dir = filepath.Join("testdata", "ts")
	cmd.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	var said struct {
		Messages int    `json:"messages"`
		Said     string `json:"said"`
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &said), stdout.String())
	assert.Equal(t, len(tp.Conversations[0].Answers), said.Messages)
	assert.True(t, server.State().Done)
	return requireHeld(t, server)
}

// The official TypeScript SDK's tool runner is a good client: streaming or not, tools
// run while the reply still streams or after it, schemas in JSON or Zod.
func TestTheTypeScriptSDKIsAGoodClient(t *testing.T) {
	for _, p := range []plan{{}, {Stream: true}, {Stream: true, Eager: true}, {Stream: true, Zod: true}} {
		w := weatherPlan()
		w.Stream, w.Eager, w.Zod = p.Stream, p.Eager, p.Zod
		s := runTS(t, weather(), w)
		assert.Equal(t, []int{3, 3, 3, 3}, []int{s.Requests, s.Answers, s.Calls, s.Results})
	}
}

// So it is with what others recorded.
func TestTheTypeScriptSDKOnRecordingsOfOthers(t *testing.T) {
	for _, file := range sdkRecordings {
		t.Run(file, func(t *testing.T) {
			tp, p := recorded(t, file)
			p.Stream = true
			runTS(t, tp, p)
		})
	}
}
