package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
)

func TestDiscoveredNamesAreReadBackFromAttachmentsAndReferences(t *testing.T) {
	history := []message.Message{
		{Role: message.User, Content: []message.Block{message.Text("hello"), pool.Discovery([]string{"TodoWrite", "WebFetch"})}},
		{Role: message.Assistant, Content: []message.Block{pool.Discovery([]string{"Claimed"})}},
		{Role: message.User, Content: []message.Block{
			message.ToolResult("call_1", false, message.ToolReference("mcp__git__status"), message.ToolReference("WebFetch")),
			message.Text("<discovered_tools>no list</discovered_tools>"),
			message.Text("<discovered_tools>[\"Open\"]"),
		}},
	}
	assert.Equal(t, []string{"TodoWrite", "WebFetch", "mcp__git__status"}, pool.Discovered(history))
}

func TestASummaryKeepsWhatWasDiscovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.StringMatching(`[A-Za-z_]{1,12}`)).Draw(t, "names")
		cut := []message.Message{{Role: message.User, Content: []message.Block{pool.Discovery(names)}}}
		kept, some := pool.Compact(cut)
		require.Equal(t, len(names) > 0, some)
		if some {
			assert.Equal(t, pool.Discovered(cut), pool.Discovered([]message.Message{kept}))
		}
	})
}

func TestADeltaSaysWhatCameAndWhatWent(t *testing.T) {
	assert.Empty(t, pool.Delta([]string{"A", "B"}, []string{"A", "B"}))
	text := pool.Delta([]string{"A", "B"}, []string{"B", "C"})
	assert.Contains(t, text, "+ C\n- A\n")
	assert.NotContains(t, text, "B")
}

// The names that settings accept are the rankers there are: a leaf that may not
// import the other repeats them.
func TestSettingsNameEveryRanker(t *testing.T) {
	var names []string
	for _, r := range search.Rankers() {
		names = append(names, r.Name)
	}
	assert.Equal(t, names, settings.Rankers())
}
