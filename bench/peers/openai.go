package peers

import (
	"context"

	"github.com/nlpodyssey/openai-agents-go/agents"
	"github.com/nlpodyssey/openai-agents-go/tracing"
	"github.com/nlpodyssey/openai-agents-go/usage"
	"github.com/openai/openai-go/v2/packages/param"
	"github.com/openai/openai-go/v2/responses"
	"github.com/openai/openai-go/v2/shared/constant"

	"toolbench/bench/measure"
)

// openaiAgents is the runner over a scripted model, its tracing off.
func openaiAgents() measure.Peer {
	return measure.Peer{Name: "openai-agents-go", Module: "github.com/nlpodyssey/openai-agents-go", Path: "Runner.Run, a scripted model", Open: openOpenAI}
}

func openaiTool(t measure.Tool) (agents.Tool, error) {
	if t.Small {
		return openaiTyped[measure.One](t)
	}
	return openaiTyped[measure.Five](t)
}

func openaiTyped[In measure.Input](t measure.Tool) (agents.Tool, error) {
	return agents.SafeNewFunctionTool(t.Name, "Works on a file.", func(ctx context.Context, in In) (string, error) { return t.Do(ctx, in.Where()) })
}

// openaiModel says the message, then the end.
type openaiModel struct {
	said  measure.Message
	calls []agents.TResponseOutputItem
	fresh bool
	next  agents.Input
}

// GetResponse plays the script.
func (o *openaiModel) GetResponse(ctx context.Context, req agents.ModelResponseParams) (*agents.ModelResponse, error) {
	output := []agents.TResponseOutputItem{openaiDone}
	if o.fresh {
		o.fresh = false
		if err := o.said.Collect(ctx); err != nil {
			return nil, err
		}
		output = o.calls
	} else {
		o.next = req.Input
	}
	return &agents.ModelResponse{Output: output, Usage: usage.NewUsage()}, nil
}

// StreamResponse gives the message with its end, the only event the runner reads
// calls from.
func (o *openaiModel) StreamResponse(ctx context.Context, req agents.ModelResponseParams, yield agents.ModelStreamResponseCallback) error {
	r, err := o.GetResponse(ctx, req)
	if err != nil {
		return err
	}
	return yield(ctx, agents.TResponseStreamEvent{Type: "response.completed", Response: responses.Response{Output: r.Output}})
}

// GetModel makes it a provider as well.
func (o *openaiModel) GetModel(string) (agents.Model, error) { return o, nil }

var openaiDone = responses.ResponseOutputItemUnion{
	ID: "m", Type: "message", Role: constant.ValueOf[constant.Assistant](), Status: string(responses.ResponseOutputMessageStatusCompleted),
	Content: []responses.ResponseOutputMessageContentUnion{{Type: "output_text", Text: "done"}},
}

func openOpenAI(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	tracing.SetTracingDisabled(true)
	script := &openaiModel{said: m}
	for _, c := range m.Calls {
		script.calls = append(script.calls, responses.ResponseOutputItemUnion{ID: c.ID, CallID: c.ID, Type: "function_call", Name: c.Tool, Arguments: c.Input})
	}
	speaker := agents.New("bench").WithModelInstance(script)
	for _, t := range all {
		made, err := openaiTool(t)
		if err != nil {
			return measure.Conversation{}, err
		}
		speaker.Tools = append(speaker.Tools, made)
	}
	runner := agents.Runner{Config: agents.RunConfig{ModelProvider: script, TracingDisabled: true, TraceIncludeSensitiveData: param.NewOpt(false)}}
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			script.fresh, script.next = true, nil
			if m.Whole > 0 {
				r, err := runner.RunStreamed(ctx, speaker, "go")
				if err != nil {
					return err
				}
				return r.StreamEvents(func(agents.StreamEvent) error { return nil })
			}
			_, err := runner.Run(ctx, speaker, "go")
			return err
		},
		Answers: func() (out []measure.Answer) {
			items, _ := script.next.(agents.InputItems)
			for _, i := range items {
				if r := i.OfFunctionCallOutput; r != nil {
					out = append(out, measure.Answer{ID: r.CallID})
				}
			}
			return out
		},
	}, nil
}
