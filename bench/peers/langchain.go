package peers

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"toolbench/bench/measure"
)

// langchain is the agent executor; its agent plays the script. Tools there take a
// text, so decoding it is their own work.
func langchain() measure.Peer {
	return measure.Peer{Name: "langchaingo", Module: "github.com/tmc/langchaingo", Path: "agents.Executor.Call, a scripted agent", Open: openLangchain}
}

type langchainTool struct{ measure.Tool }

// Name, Description and Call make it a tool.
func (t langchainTool) Name() string { return t.Tool.Name }

// Description is a sentence.
func (t langchainTool) Description() string { return "Works on a file." }

// Call decodes the text and works.
func (t langchainTool) Call(ctx context.Context, input string) (string, error) {
	if t.Small {
		return decoded[measure.One](ctx, t.Tool, input)
	}
	return decoded[measure.Five](ctx, t.Tool, input)
}

func decoded[In measure.Input](ctx context.Context, t measure.Tool, input string) (string, error) {
	var in In
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "", err
	}
	return t.Do(ctx, in.Where())
}

// script is an agent that plans the message and, its steps done, finishes.
type script struct {
	said    measure.Message
	actions []schema.AgentAction
	tools   []tools.Tool
	seen    []schema.AgentStep
}

// Plan gives the message's calls, or the end.
func (s *script) Plan(ctx context.Context, steps []schema.AgentStep, _ map[string]string, _ ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if len(steps) > 0 {
		s.seen = steps
		return nil, &schema.AgentFinish{ReturnValues: map[string]any{"output": "done"}}, nil
	}
	if err := s.said.Collect(ctx); err != nil {
		return nil, nil, err
	}
	return s.actions, nil, nil
}

// GetInputKeys, GetOutputKeys and GetTools make it an agent.
func (s *script) GetInputKeys() []string { return []string{"input"} }

// GetOutputKeys names what it gives.
func (s *script) GetOutputKeys() []string { return []string{"output"} }

// GetTools are its tools.
func (s *script) GetTools() []tools.Tool { return s.tools }

func openLangchain(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	s := &script{said: m}
	for _, t := range all {
		s.tools = append(s.tools, langchainTool{t})
	}
	for _, c := range m.Calls {
		s.actions = append(s.actions, schema.AgentAction{Tool: c.Tool, ToolInput: c.Input, ToolID: c.ID})
	}
	executor := agents.NewExecutor(s)
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			s.seen = nil
			_, err := executor.Call(ctx, map[string]any{"input": "go"})
			return err
		},
		Answers: func() (out []measure.Answer) {
			for _, step := range s.seen {
				out = append(out, measure.Answer{ID: step.Action.ToolID})
			}
			return out
		},
	}, nil
}
