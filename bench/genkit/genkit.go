package main

import (
	"context"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"toolbench/bench/measure"
)

// peer is genkit's Generate with a model that plays the message.
func peer() measure.Peer {
	return measure.Peer{Name: "genkit", Module: "github.com/firebase/genkit/go", Path: "genkit.Generate, a scripted model", Open: open}
}

func define(g *genkit.Genkit, t measure.Tool) ai.ToolRef {
	if t.Small {
		return typed[measure.One](g, t)
	}
	return typed[measure.Five](g, t)
}

func typed[In measure.Input](g *genkit.Genkit, t measure.Tool) ai.ToolRef {
	return genkit.DefineTool(g, t.Name, "Works on a file.", func(ctx *ai.ToolContext, in In) (string, error) { return t.Do(ctx, in.Where()) })
}

// script says the message to the first request and the end to the next.
type script struct {
	said  measure.Message
	parts []*ai.Part
	next  []*ai.Message
}

func (s *script) model(ctx context.Context, req *ai.ModelRequest, chunk ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	if len(req.Messages) > 1 {
		s.next = req.Messages
		return &ai.ModelResponse{Request: req, FinishReason: ai.FinishReasonStop, Message: ai.NewModelTextMessage("done")}, nil
	}
	i := 0
	err := s.said.Stream(ctx, func(measure.Call) error {
		part := s.parts[i]
		i++
		if chunk == nil {
			return nil
		}
		return chunk(ctx, &ai.ModelResponseChunk{Role: ai.RoleModel, Content: []*ai.Part{part}})
	})
	if err != nil {
		return nil, err
	}
	return &ai.ModelResponse{Request: req, FinishReason: ai.FinishReasonStop, Message: ai.NewModelMessage(s.parts...)}, nil
}

func open(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	ctx := context.Background()
	g := genkit.Init(ctx)
	s := &script{said: m}
	for _, c := range m.Calls {
		var input any
		if err := json.Unmarshal([]byte(c.Input), &input); err != nil {
			return measure.Conversation{}, err
		}
		s.parts = append(s.parts, ai.NewToolRequestPart(&ai.ToolRequest{Name: c.Tool, Ref: c.ID, Input: input}))
	}
	model := genkit.DefineModel(g, "script/script", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, s.model)
	refs := make([]ai.ToolRef, len(all))
	for i, t := range all {
		refs[i] = define(g, t)
	}
	opts := []ai.GenerateOption{ai.WithModel(model), ai.WithPrompt("go"), ai.WithTools(refs...)}
	if m.Whole > 0 {
		opts = append(opts, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
	}
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			s.next = nil
			_, err := genkit.Generate(ctx, g, opts...)
			return err
		},
		Answers: func() (out []measure.Answer) {
			for _, message := range s.next {
				for _, p := range message.Content {
					if p.ToolResponse != nil {
						out = append(out, measure.Answer{ID: p.ToolResponse.Ref})
					}
				}
			}
			return out
		},
	}, nil
}
