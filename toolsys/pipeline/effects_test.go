package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// effects asks Look what a call will touch.
func (w *world) effects(input string) tool.Effects {
	p, env := w.pipeline()
	return p.Effects(p.Prepare(pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(input), Turn: 1}, env), env)
}

func TestACallsEffectsAreItsToolsUnlessOthersHaveASay(t *testing.T) {
	everything, own := tool.Effects{Everything: true}, tool.Effects{Reads: []string{"/a"}}
	answers := func(context.Context, pipeline.Question) (pipeline.Reply, error) {
		return pipeline.Reply{Allow: true}, nil
	}
	judges := func(context.Context, string, string) (permission.Verdict, error) { return permission.Verdict{}, nil }
	for name, c := range map[string]struct {
		change func(*world)
		input  string
		want   tool.Effects
	}{
		"what the tool says":                           {nil, `{"path":"/a"}`, own},
		"a tool that says nothing":                     {func(w *world) { w.def.Traits.Effects = nil }, `{"path":"/a"}`, everything},
		"a tool that panics":                           {func(w *world) { w.def.Traits.Effects = func(in, *tool.Context) tool.Effects { panic("oh") } }, `{"path":"/a"}`, everything},
		"an input that breaks the schema runs nothing": {nil, `{"path":1}`, tool.Effects{}},
		"a hook that hears of the tool":                {func(w *world) { w.onPre(hook.Output{}) }, `{"path":"/a"}`, everything},
		"a person is asked":                            {func(w *world) { w.rule(permission.Ask, "Look"); w.handlers.Ask = answers }, `{"path":"/a"}`, everything},
		"nobody can be asked, so it is denied":         {func(w *world) { w.rule(permission.Ask, "Look") }, `{"path":"/a"}`, own},
		"the tool is for asking":                       {func(w *world) { w.def.Traits.NeedsUser = tool.Always[in] }, `{"path":"/a"}`, everything},
		"its own check rewrites the input": {func(w *world) {
			w.def.Permit = func(in, *tool.Context) permission.Opinion {
				return permission.Opinion{Behaviour: permission.Allow, UpdatedInput: json.RawMessage(`{"path":"/b"}`)}
			}
		}, `{"path":"/a"}`, everything},
		"a classifier looks at it": {func(w *world) {
			w.env.Mode, w.handlers.Classify = permission.Auto, judges
			w.def.Shaping.Classifier = func(in) string { return "look" }
		}, `{"path":"/a"}`, everything},
		"in auto mode, but allowed whatever happens":     {func(w *world) { w.env.Mode = permission.Auto }, `{"path":"/a"}`, own},
		"in auto mode, and earlier denials would count":  {func(w *world) { w.env.Mode, w.handlers.Ask = permission.Auto, answers; w.def.Traits.ReadOnly = nil }, `{"path":"/a"}`, everything},
		"it holds a member that only permission may set": {func(w *world) { w.def.Internal = []string{"mode"} }, `{"path":"/a","mode":"x"}`, everything},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.def.Traits.Effects = func(in in, _ *tool.Context) tool.Effects { return tool.Effects{Reads: []string{in.Path}} }
			if c.change != nil {
				c.change(w)
			}
			assert.Equal(t, c.want, w.effects(c.input))
			assert.Empty(t, w.got, "nothing was run")
		})
	}
}
