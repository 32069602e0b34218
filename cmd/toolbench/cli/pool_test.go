package cli

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

// A report that draws time keeps what happened in each run, but not its tools, which are most of what a run
// holds: those are for who draws calls. Cases that share a run still have them, and under another policy nobody
// looks at requests.
func TestOnlyWhoDrawsCallsKeepsTheToolsOfEachRun(t *testing.T) {
	find := func(string) any { return "a tool" }
	shared := []trace.Event{{Data: trace.TurnStart{}}, {Data: trace.Pool{Tools: []string{"Read"}, Find: find}}}
	entries := func() []entry {
		one := entry{}
		one.Name = "one"
		one.Run = func(_ context.Context, o run.Options) check.Result {
			return check.Result{Name: "one", Status: check.Passed, Policy: o.Policy, Trace: shared, Requests: make([]message.Body, 1)}
		}
		return []entry{one}
	}
	for _, kept := range []bool{false, true} {
		p := &pool{jobs: 1, repeat: 1, whole: true, tools: kept, progress: newProgress(nil, false)}
		results, stopped := p.run(t.Context(), entries())
		require.False(t, stopped)
		out := results[0].outcome
		require.Len(t, out.Trace, 2)
		assert.Equal(t, []string{"Read"}, out.Trace[1].Data.(trace.Pool).Tools)
		assert.Equal(t, kept, out.Trace[1].Data.(trace.Pool).Find != nil)
		assert.Len(t, out.Requests, 1)
		others := p.others(t.Context(), entries(), []string{"", "serial"})(out)
		require.Len(t, others, 1)
		assert.Len(t, others[0].Trace, 2)
		assert.Empty(t, others[0].Requests)
	}
	assert.NotNil(t, shared[1].Data.(trace.Pool).Find)
}
