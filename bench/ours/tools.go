package ours

import (
	"context"

	"toolbench/bench/measure"
	"toolbench/toolsys/tool"
)

// tools are m's tools as their author would write them for us: a name, a function
// over a Go type, which calls are safe, and which file a call touches.
func tools(all []measure.Tool) ([]*tool.Tool, error) {
	out := make([]*tool.Tool, len(all))
	for i, t := range all {
		built, err := build(t)
		if err != nil {
			return nil, err
		}
		out[i] = built
	}
	return out, nil
}

func build(t measure.Tool) (*tool.Tool, error) {
	if t.Small {
		return tool.Build(definition[measure.One](t))
	}
	return tool.Build(definition[measure.Five](t))
}

func definition[In measure.Input](t measure.Tool) tool.Def[In, string] {
	reads := func(In) bool { return !t.Writes }
	return tool.Def[In, string]{
		Name: t.Name, Description: "Works on a file.",
		Call: func(ctx context.Context, in In, _ *tool.Context) (tool.Result[string], error) {
			text, err := t.Do(ctx, in.Where())
			return tool.Done(text), err
		},
		Subject: func(in In, _ *tool.Context) tool.Subject { return tool.Subject{Paths: []string{in.Where()}} },
		Traits: tool.Traits[In]{
			Safe: reads, ReadOnly: reads,
			Effects: func(in In, _ *tool.Context) tool.Effects {
				if t.Writes {
					return tool.Effects{Writes: []string{in.Where()}}
				}
				return tool.Effects{Reads: []string{in.Where()}}
			},
		},
	}
}
