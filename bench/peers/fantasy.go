package peers

import (
	"context"
	"errors"
	"sync"

	"charm.land/fantasy"

	"toolbench/bench/measure"
)

// charm is fantasy's agent in its streaming form, tools marked parallel where they
// only read.
func charm() measure.Peer {
	return measure.Peer{Name: "fantasy", Module: "charm.land/fantasy", Path: "Agent.Stream, a scripted model", Open: openCharm}
}

func charmTool(t measure.Tool) fantasy.AgentTool {
	if t.Small {
		return charmTyped[measure.One](t)
	}
	return charmTyped[measure.Five](t)
}

func charmTyped[In measure.Input](t measure.Tool) fantasy.AgentTool {
	do := func(ctx context.Context, in In, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		text, err := t.Do(ctx, in.Where())
		return fantasy.NewTextResponse(text), err
	}
	if t.Writes {
		return fantasy.NewAgentTool(t.Name, "Works on a file.", do)
	}
	return fantasy.NewParallelAgentTool(t.Name, "Works on a file.", do)
}

// charmModel streams the message, then the end.
type charmModel struct {
	said measure.Message
	next fantasy.Prompt
}

// Provider and Model name it.
func (*charmModel) Provider() string { return "script" }

// Model names it.
func (*charmModel) Model() string { return "script" }

var errUnasked = errors.New("the script does not answer this")

// Generate is not played.
func (*charmModel) Generate(context.Context, fantasy.Call) (*fantasy.Response, error) {
	return nil, errUnasked
}

// GenerateObject is not played.
func (*charmModel) GenerateObject(context.Context, fantasy.ObjectCall) (*fantasy.ObjectResponse, error) {
	return nil, errUnasked
}

// StreamObject is not played.
func (*charmModel) StreamObject(context.Context, fantasy.ObjectCall) (fantasy.ObjectStreamResponse, error) {
	return nil, errUnasked
}

// Stream plays the message to the first request and the end to the second.
func (c *charmModel) Stream(ctx context.Context, req fantasy.Call) (fantasy.StreamResponse, error) {
	if len(req.Prompt) > 1 {
		c.next = req.Prompt
		return charmDone, nil
	}
	return func(yield func(fantasy.StreamPart) bool) {
		err := c.said.Stream(ctx, func(call measure.Call) error {
			for _, part := range []fantasy.StreamPart{
				{Type: fantasy.StreamPartTypeToolInputStart, ID: call.ID, ToolCallName: call.Tool},
				{Type: fantasy.StreamPartTypeToolInputDelta, ID: call.ID, Delta: call.Input},
				{Type: fantasy.StreamPartTypeToolInputEnd, ID: call.ID},
				{Type: fantasy.StreamPartTypeToolCall, ID: call.ID, ToolCallName: call.Tool, ToolCallInput: call.Input},
			} {
				if !yield(part) {
					return errUnasked
				}
			}
			return nil
		})
		if err != nil {
			yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeError, Error: err})
			return
		}
		yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeFinish, FinishReason: fantasy.FinishReasonToolCalls})
	}, nil
}

func charmDone(yield func(fantasy.StreamPart) bool) {
	_ = yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeTextStart, ID: "t"}) &&
		yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeTextDelta, ID: "t", Delta: "done"}) &&
		yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeTextEnd, ID: "t"}) &&
		yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeFinish, FinishReason: fantasy.FinishReasonStop})
}

func openCharm(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	model := &charmModel{said: m}
	var hearing sync.Mutex
	made := make([]fantasy.AgentTool, len(all))
	for i, t := range all {
		made[i] = charmTool(t)
	}
	agent := fantasy.NewAgent(model, fantasy.WithTools(made...))
	never := 0
	var heard []measure.Answer
	hear := func(r fantasy.ToolResultContent) error {
		_, failed := r.Result.(fantasy.ToolResultOutputContentError)
		hearing.Lock()
		defer hearing.Unlock()
		heard = append(heard, measure.Answer{ID: r.ToolCallID, Error: failed})
		return nil
	}
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			model.next, heard = nil, nil
			_, err := agent.Stream(ctx, fantasy.AgentStreamCall{Prompt: "go", MaxRetries: &never, OnToolResult: hear})
			return err
		},
		// After an error the agent gives back nothing; its caller has what was called
		// back.
		Answers: func() (out []measure.Answer) {
			if model.next == nil {
				return heard
			}
			for _, message := range model.next {
				for _, part := range message.Content {
					if r, ok := fantasy.AsMessagePart[fantasy.ToolResultPart](part); ok {
						out = append(out, measure.Answer{ID: r.ToolCallID})
					}
				}
			}
			return out
		},
	}, nil
}
