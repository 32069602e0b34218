package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/trace"
)

// Whatever a model or a tool wrote, what is shown fits the screen and gives no terminal a command.
func TestWhatIsShownIsHarmless(t *testing.T) {
	nasty := "\x1b[31m読\u202e" + strings.Repeat("long ", 200) + strings.Repeat("\nline", 50)
	o := check.Result{Name: "x", Trace: []trace.Event{
		{Data: trace.TurnStart{}, Turn: 1},
		{Call: "a", Tool: nasty, Turn: 1, Data: trace.Ready{Input: nasty}},
		{Call: "a", Tool: nasty, Agent: nasty, Turn: 1, Data: trace.Hook{Event: "PreToolUse", Hook: nasty, Trouble: nasty}},
		{Call: "a", Tool: nasty, Turn: 1, Data: trace.Emitted{Status: "ok", Text: nasty}},
		{Data: trace.Fallback{Error: nasty}},
	}}
	for _, width := range []int{40, 80, 120} {
		var out bytes.Buffer
		require.NoError(t, reports.Show(&out, o, reports.Options{Width: width}))
		fits(t, out.String(), width)
		assert.NotContains(t, out.String(), "\x1b")
		assert.NotContains(t, out.String(), "\u202e")
	}
}
