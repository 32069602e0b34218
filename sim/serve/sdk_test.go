package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/serve"
)

// counter gives the answers to calls, which the SDK hands over without their ids: by
// name and input, equal ones in their order.
type counter struct {
	mu    sync.Mutex
	queue map[string][]planned
}

func newCounter(tp *serve.Script, p plan) *counter {
	c := &counter{queue: map[string][]planned{}}
	for _, a := range tp.Conversations[0].Answers {
		for _, call := range a.Calls() {
			key := call.Name + compact(call.Input)
			c.queue[key] = append(c.queue[key], p.Answers[call.ID])
		}
	}
	return c
}

func compact(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v) // what is no JSON is its own key
	out, _ := json.Marshal(v)
	return string(out)
}

func (c *counter) answer(name string, input json.RawMessage) (anthropic.BetaToolResultBlockParamContentUnion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := name + compact(input)
	var none anthropic.BetaToolResultBlockParamContentUnion
	if len(c.queue[key]) == 0 {
		return none, errors.New("nothing was recorded for " + key)
	}
	a := c.queue[key][0]
	c.queue[key] = c.queue[key][1:]
	if a.Error {
		return none, errors.New(a.Text)
	}
	return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: a.Text}}, nil
}

// runGo drives the server with the official Go SDK's tool runner.
func runGo(t *testing.T, tp *serve.Script, p plan) serve.SessionReport {
	t.Helper()
	server := serve.New(tp, serve.Options{})
	at := httptest.NewServer(server)
	defer at.Close()
	answers := newCounter(tp, p)
	var tools []anthropic.BetaTool
	for _, d := range p.Tools {
		tool, err := toolrunner.NewBetaToolFromBytes(d.Name, d.Description, d.Schema, func(_ context.Context, input json.RawMessage) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return answers.answer(d.Name, input)
		})
		require.NoError(t, err)
		tools = append(tools, tool)
	}
	client := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(at.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: "served", MaxTokens: 1024,
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(p.Prompt))},
	}}
	if p.Stream {
		runner := client.Beta.Messages.NewToolRunnerStreaming(tools, params)
		for events, err := range runner.AllStreaming(t.Context()) {
			require.NoError(t, err)
			for _, err := range events {
				require.NoError(t, err)
			}
		}
	} else {
		_, err := client.Beta.Messages.NewToolRunner(tools, params).RunToCompletion(t.Context())
		require.NoError(t, err)
	}
	assert.True(t, server.State().Done)
	return requireHeld(t, server)
}

// The official Go SDK's tool runner is a good client, streaming or not, with calls in
// parallel and one that fails.
func TestTheGoSDKIsAGoodClient(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		p := weatherPlan()
		p.Stream = streaming
		s := runGo(t, weather(), p)
		assert.Equal(t, []int{3, 3, 3, 3}, []int{s.Requests, s.Answers, s.Calls, s.Results})
	}
}

// So it is with what others recorded, whose results it sends as they were.
func TestTheGoSDKOnRecordingsOfOthers(t *testing.T) {
	for _, file := range sdkRecordings {
		for _, streaming := range []bool{false, true} {
			t.Run(file, func(t *testing.T) {
				tp, p := recorded(t, file)
				p.Stream = streaming
				s := runGo(t, tp, p)
				for _, c := range s.Checks {
					if c.Name == "recorded" && distinguishable(tp) {
						assert.Equal(t, serve.Held, c.Status, c.Findings)
					}
				}
			})
		}
	}
}

// distinguishable reports whether the calls differ, so that a client without their ids finds
// which answer is whose.
func distinguishable(tp *serve.Script) bool {
	seen := map[string]bool{}
	for _, a := range tp.Conversations[0].Answers {
		for _, c := range a.Calls() {
			key := c.Name + compact(c.Input)
			if seen[key] {
				return false
			}
			seen[key] = true
		}
	}
	return true
}

// sdkRecordings are recordings of conversations with one user message.
var sdkRecordings = []string{
	"anthropics+anthropic-sdk-go/tool_runner_concurrent.yaml", "anthropics+anthropic-sdk-go/tool_runner_streaming_all.yaml",
	"charmbracelet+fantasy/TestAnthropicCommon__claude-sonnet-4__multi_tool_streaming.yaml",
	"charmbracelet+fantasy/TestAnthropicThinking__claude-sonnet-4__thinking-streaming.yaml",
	"posit-dev+chatlas/test_provider_anthropic__test_anthropic_tool_variations_parallel.yaml",
	"simonw+llm-anthropic/test_tools.yaml",
}
