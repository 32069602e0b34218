package peers

import (
	"context"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"toolbench/bench/measure"
	"toolbench/bench/ours"
)

const einoModule = "github.com/cloudwego/eino"

// eino is the tools node alone: it takes a whole message.
func eino() measure.Peer {
	return measure.Peer{Name: "eino", Module: einoModule, Path: "compose.ToolsNode.Invoke, typed tools", Open: openEino(typedEino)}
}

// einoBare is the tools node over tools that look at nothing.
func einoBare() measure.Peer {
	return measure.Peer{Name: ours.Against, Module: einoModule, Path: "the same, tools that do not decode", Open: openEino(bareEino)}
}

func typedEino(t measure.Tool, _ measure.Message) (tool.BaseTool, error) {
	if t.Small {
		return inferred[measure.One](t)
	}
	return inferred[measure.Five](t)
}

func inferred[In measure.Input](t measure.Tool) (tool.BaseTool, error) {
	return utils.InferTool(t.Name, "Works on a file.", func(ctx context.Context, in In) (string, error) { return t.Do(ctx, in.Where()) })
}

// bare is a tool that does not decode its input: it knows what each says.
type bare struct {
	measure.Tool
	paths map[string]string
}

// Info describes the tool.
func (b bare) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: b.Name, Desc: "Works on a file."}, nil
}

// InvokableRun runs it.
func (b bare) InvokableRun(ctx context.Context, input string, _ ...tool.Option) (string, error) {
	return b.Do(ctx, b.paths[input])
}

func bareEino(t measure.Tool, m measure.Message) (tool.BaseTool, error) {
	paths := map[string]string{}
	for _, c := range m.Calls {
		paths[c.Input] = c.Path()
	}
	return bare{t, paths}, nil
}

func openEino(make func(measure.Tool, measure.Message) (tool.BaseTool, error)) func([]measure.Tool, measure.Message) (measure.Conversation, error) {
	return func(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
		var cfg compose.ToolsNodeConfig
		for _, t := range all {
			made, err := make(t, m)
			if err != nil {
				return measure.Conversation{}, err
			}
			cfg.Tools = append(cfg.Tools, made)
		}
		node, err := compose.NewToolNode(context.Background(), &cfg)
		if err != nil {
			return measure.Conversation{}, err
		}
		said := &schema.Message{Role: schema.Assistant}
		for _, c := range m.Calls {
			said.ToolCalls = append(said.ToolCalls, schema.ToolCall{ID: c.ID, Function: schema.FunctionCall{Name: c.Tool, Arguments: c.Input}})
		}
		var results []*schema.Message
		return measure.Conversation{
			Run: func(ctx context.Context) (err error) {
				results = nil
				if err := m.Collect(ctx); err != nil {
					return err
				}
				results, err = node.Invoke(ctx, said)
				return err
			},
			Answers: func() (out []measure.Answer) {
				for _, r := range results {
					out = append(out, measure.Answer{ID: r.ToolCallID})
				}
				return out
			},
		}, nil
	}
}
