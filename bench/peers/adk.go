package peers

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"toolbench/bench/measure"
)

// adk is the runner in memory with an agent over a scripted model. Its own models
// give a streamed message's calls with the message, as the script does here.
func adk() measure.Peer {
	return measure.Peer{Name: "adk", Module: "google.golang.org/adk/v2", Path: "runner.Run in memory, a scripted model", Open: openADK}
}

type adkResult struct {
	Text string `json:"text"`
}

func adkTool(t measure.Tool) (tool.Tool, error) {
	if t.Small {
		return adkTyped[measure.One](t)
	}
	return adkTyped[measure.Five](t)
}

func adkTyped[In measure.Input](t measure.Tool) (tool.Tool, error) {
	return functiontool.New(functiontool.Config{Name: t.Name, Description: "Works on a file."}, func(ctx agent.Context, in In) (adkResult, error) {
		text, err := t.Do(ctx, in.Where())
		return adkResult{text}, err
	})
}

// adkModel says the message, then the end.
type adkModel struct {
	said  measure.Message
	parts []*genai.Part
	fresh bool
}

// Name names it.
func (*adkModel) Name() string { return "script" }

// GenerateContent plays the script.
func (a *adkModel) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if !a.fresh {
			yield(&model.LLMResponse{Content: genai.NewContentFromText("done", genai.RoleModel), TurnComplete: true}, nil)
			return
		}
		a.fresh = false
		if err := a.said.Collect(ctx); err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: a.parts}, TurnComplete: true}, nil)
	}
}

func openADK(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	script := &adkModel{said: m}
	for _, c := range m.Calls {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Input), &args); err != nil {
			return measure.Conversation{}, err
		}
		script.parts = append(script.parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Tool, Args: args}})
	}
	made := make([]tool.Tool, len(all))
	for i, t := range all {
		one, err := adkTool(t)
		if err != nil {
			return measure.Conversation{}, err
		}
		made[i] = one
	}
	speaker, err := llmagent.New(llmagent.Config{Name: "bench", Model: script, Tools: made})
	if err != nil {
		return measure.Conversation{}, err
	}
	held := 0
	var heard []*genai.Content
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			script.fresh, heard = true, nil
			held++
			// A service of its own for each conversation, or all stay in memory.
			r, err := runner.NewInMemory("bench", speaker)
			if err != nil {
				return err
			}
			for event, err := range r.Run(ctx, "user", strconv.Itoa(held), genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					return err
				}
				if event.Content != nil {
					heard = append(heard, event.Content)
				}
			}
			return nil
		},
		// What is yielded stands in the session.
		Answers: func() (out []measure.Answer) {
			for _, c := range heard {
				for _, p := range c.Parts {
					if p.FunctionResponse != nil {
						out = append(out, measure.Answer{ID: p.FunctionResponse.ID})
					}
				}
			}
			return out
		},
	}, nil
}
