package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/cassette"
	"toolbench/sim/serve"
)

// clientPlan is what a client of clients.mjs is to do.
type clientPlan struct {
	plan
	Client string             `json:"client"`
	Cities map[string]planned `json:"cities"`
}

// runClient has a client hold the conversation about the weather; fault may disturb it.
func runClient(t *testing.T, name string, streamed bool, fault func(int) cassette.Fault) (said, errs string, s *serve.Server) {
	t.Helper()
	path := node(t)
	s = serve.New(weather(), serve.Options{Fault: fault})
	at := httptest.NewServer(s)
	defer at.Close()
	p := clientPlan{plan: weatherPlan(), Client: name, Cities: map[string]planned{}}
	p.URL, p.Stream = at.URL, streamed
	for _, a := range weather().Conversations[0].Answers {
		for _, c := range a.Calls() {
			var in struct{ City string }
			require.NoError(t, json.Unmarshal(c.Input, &in))
			p.Cities[in.City] = p.Answers[c.ID]
		}
	}
	input, err := json.Marshal(p)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "clients.mjs")
	cmd.Dir, cmd.Stdin = filepath.Join("testdata", "ts"), bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // an error is in what it printed
	return stdout.String(), stderr.String(), s
}

// clients are those of clients.mjs.
var clients = []string{"anthropic", "openai-chat", "openai-responses", "openai-kept", "genai", "vercel-anthropic", "vercel-chat", "vercel-responses", "vercel-google"}

// The SDKs of each provider, and Vercel's with each of them, are good clients,
// streaming or not, with calls beside each other and one that fails. They get over a model
// that has no time.
func TestTheClientsOfOtherProviders(t *testing.T) {
	noTime := func(request int) (f cassette.Fault) {
		if request == 1 {
			f.Status = 529
		}
		return f
	}
	for _, name := range clients {
		for _, streamed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				said, errs, s := runClient(t, name, streamed, noTime)
				assert.Contains(t, said, `"said"`, errs)
				r := requireHeld(t, s)
				assert.Equal(t, []int{4, 3, 3, 3}, []int{r.Requests, r.Answers, r.Calls, r.Results})
			})
		}
	}
}

// None of them asks again for a stream that is cut: the caller gets the error. What they did
// until then was right.
func TestAStreamThatIsCutIsTheCallersBusiness(t *testing.T) {
	cut := func(request int) (f cassette.Fault) {
		if request == 2 {
			f.CutAfter = 4
		}
		return f
	}
	for _, name := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, errs, s := runClient(t, name, true, cut)
			assert.NotContains(t, said, `"said"`)
			assert.NotEmpty(t, errs)
			assert.Equal(t, 2, requireHeld(t, s).Requests)
		})
	}
}
