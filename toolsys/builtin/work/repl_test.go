package work_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// inner answers each call with its tool's name; one of "Broken" fails. It notes the calls.
func inner(made *[]tool.InnerCall) func(context.Context, func([]tool.InnerResult) (tool.InnerCall, bool)) tool.InnerReport {
	return func(_ context.Context, next func([]tool.InnerResult) (tool.InnerCall, bool)) (report tool.InnerReport) {
		report.Modify = func(s tool.State) tool.State { return s.WithDir("/after") }
		for {
			c, more := next(report.Results)
			if !more {
				return report
			}
			*made = append(*made, c)
			r := tool.InnerResult{Tool: c.Tool, Status: "ok", Blocks: []message.Block{message.Text(c.Tool + " did"), message.Image("image/png", "AA==")}, Failed: c.Tool == "Broken"}
			report.Results = append(report.Results, r)
		}
	}
}

func TestAREPLMakesItsCallsInOrderAndStopsAtAFailure(t *testing.T) {
	r := work.REPL()
	for input, want := range map[string]struct {
		made, blocks int
		failed       bool
		last         string
	}{
		`{"calls":[{"tool":"Read","input":{"file_path":"a","limit":7}},{"tool":"Bash","input":{}}]}`:                       {2, 6, false, "[2] Bash: ok"},
		`{"calls":[{"tool":"Read","input":{}},{"tool":"Broken","input":{}},{"tool":"Bash","input":{}}]}`:                   {2, 7, true, "[3] Bash: not made, because a call before it failed"},
		`{"keep_going":true,"calls":[{"tool":"Read","input":{}},{"tool":"Broken","input":{}},{"tool":"Bash","input":{}}]}`: {3, 9, true, "[3] Bash: ok"},
	} {
		var made []tool.InnerCall
		c := &tool.Context{}
		c.Inner = inner(&made)
		in, problems := r.Parse(json.RawMessage(input))
		require.Empty(t, problems)
		out, err := r.Call(t.Context(), in, c)
		require.NoError(t, err)
		assert.Len(t, made, want.made, input)
		assert.Len(t, out.Blocks, want.blocks, input)
		assert.Equal(t, want.failed, out.Failed, input)
		assert.Contains(t, message.PlainText(out.Blocks), want.last)
		assert.Equal(t, "/after", out.Modify(tool.State{}).Dir, "what the calls changed is the call's own change")
	}
}

func TestAREPLNeedsSomethingToDoAndSomebodyToDoIt(t *testing.T) {
	r := work.REPL()
	for _, input := range []string{`{}`, `{"calls":[]}`, `{"calls":[{"tool":"","input":{}}]}`, `{"calls":[{"tool":"Read"}]}`, `{"calls":[{"tool":"Read","input":[]}]}`} {
		_, problems := r.Parse(json.RawMessage(input))
		assert.NotEmpty(t, problems, input)
	}
	in, problems := r.Parse(json.RawMessage(`{"calls":[{"tool":"Read","input":{}}]}`))
	require.Empty(t, problems)
	_, err := r.Call(t.Context(), in, &tool.Context{})
	assert.ErrorContains(t, err, "one by one")
	assert.Equal(t, permission.Allow, r.Permit(in, &tool.Context{}).Behaviour)
	assert.True(t, r.Behaviour.Wrapper)
	assert.False(t, r.Behaviour.Safe(in))
}
