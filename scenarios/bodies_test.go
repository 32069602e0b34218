package scenarios_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Of each built-in tool the suite has a scenario whose expectations fail when the tool does
// nothing and reports success. The scripted turns stand in for the cassettes: with those every
// missing result would show as another request, whether or not anything expects it.
func TestEveryToolHasAScenarioThatFailsWithoutItsWork(t *testing.T) {
	callers := callersOf(t)
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, callers[name], "no scenario calls it")
			assert.True(t, slices.ContainsFunc(callers[name], func(sc *scenario.Scenario) bool {
				out := run.Scenario(context.Background(), sc, run.Options{Seed: 1, Scripted: true, Own: &run.Own{Decorate: idle(name)}})
				return out.Status == check.Failed
			}), "none of the %d scenarios that call it fails without its work", len(callers[name]))
		})
	}
}

// idle gives the tool of a name a body that does nothing.
func idle(name string) func(*tool.Tool) *tool.Tool {
	return func(t *tool.Tool) *tool.Tool {
		if t.Name != name {
			return t
		}
		still := *t
		still.Call = func(context.Context, tool.Input, *tool.Context) (tool.Output, error) { return tool.Output{}, nil }
		return &still
	}
}

// callersOf are the scenarios that have a tool run, by its name. All of them hold.
func callersOf(t *testing.T) map[string][]*scenario.Scenario {
	all := suite(t)
	called := make([]map[string]bool, len(all))
	var runs sync.WaitGroup
	for i, sc := range all {
		runs.Go(func() {
			out := run.Scenario(context.Background(), sc, run.Options{Seed: 1, Scripted: true})
			called[i] = map[string]bool{}
			if !assert.Equal(t, check.Passed, out.Status, sc.Name) {
				return
			}
			for _, e := range out.Trace {
				if e.Kind() == trace.KindStarted {
					called[i][e.Tool] = true
				}
			}
		})
	}
	runs.Wait()
	callers := map[string][]*scenario.Scenario{}
	for i, names := range called {
		for name := range names {
			callers[name] = append(callers[name], all[i])
		}
	}
	return callers
}
