package serve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

// plan is what a client of ours has: its tools and what each call is answered.
type plan struct {
	URL     string             `json:"url"`
	Prompt  string             `json:"prompt"`
	Stream  bool               `json:"stream"`
	Eager   bool               `json:"eager"`
	Zod     bool               `json:"zod"`
	Tools   []planTool         `json:"tools"`
	Answers map[string]planned `json:"answers"`
}

type planTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

type planned struct {
	Text  string `json:"text"`
	Error bool   `json:"error"`
}

func weatherPlan() plan {
	return plan{
		Prompt:  "How is it?",
		Tools:   []planTool{{"weather", "The weather of a city.", json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}},
		Answers: map[string]planned{"call_a": {Text: "wet"}, "call_b": {Text: "no such city", Error: true}, "call_c": {Text: "dry"}},
	}
}

// recorded makes a script and a plan of the first conversation of a recording made by
// others; it skips with a word where there is none.
func recorded(t *testing.T, file string) (*serve.Script, plan) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "corpus", file)
	data, err := os.Open(path)
	if err != nil {
		t.Skip("the recordings of others are not here")
	}
	defer data.Close()
	rec, err := recording.Open(file, data, recording.Limits{}, nil)
	require.NoError(t, err)
	again, err := os.Open(path)
	require.NoError(t, err)
	defer again.Close()
	tp, err := serve.FromRecording(file, again, recording.Limits{}, stream.Pace{})
	require.NoError(t, err)
	p := plan{Prompt: tp.Conversations[0].Opening, Answers: map[string]planned{}}
	if p.Prompt == "" {
		p.Prompt = "Go."
	}
	known := map[string]bool{}
	for _, turn := range rec.Conversations[0].Turns {
		for _, d := range turn.Tools {
			if !known[d.Name] && d.Kind == "" {
				known[d.Name] = true
				p.Tools = append(p.Tools, planTool{d.Name, d.Description, d.Schema})
			}
		}
		for _, r := range turn.Results {
			p.Answers[r.Call] = planned{r.Text, r.IsError}
		}
	}
	tp.Conversations = tp.Conversations[:1]
	return tp, p
}

// report fails the test with what the checks found wrong.
func requireHeld(t *testing.T, s *serve.Server) serve.SessionReport {
	t.Helper()
	r := s.Report()
	require.Empty(t, r.Refused)
	require.Len(t, r.Sessions, 1)
	for _, c := range r.Sessions[0].Checks {
		require.NotEqual(t, serve.Failed, c.Status, "%s: %v", c.Demand, c.Findings)
	}
	return r.Sessions[0]
}
