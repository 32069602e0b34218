package search_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"toolbench/toolsys/search"
)

func TestTheOrderOfTheQuestionsIsTheRule(t *testing.T) {
	all := search.Flags{ForkSubagent: true, Kairos: true, Bridge: true}
	for _, c := range []struct {
		about string
		entry search.Entry
		flags search.Flags
		want  bool
	}{
		{"always-load beats MCP", search.Entry{Name: "mcp__s__t", MCP: true, AlwaysLoad: true}, search.Flags{}, false},
		{"always-load beats deferrable", search.Entry{Name: "X", AlwaysLoad: true, Deferrable: true}, search.Flags{}, false},
		{"MCP is deferred, asked or not", search.Entry{Name: "mcp__s__t", MCP: true}, search.Flags{}, true},
		{"MCP comes before the name ToolSearch", search.Entry{Name: "ToolSearch", MCP: true}, search.Flags{}, true},
		{"MCP comes before the name Agent", search.Entry{Name: "Agent", MCP: true}, all, true},
		{"ToolSearch never", search.Entry{Name: "ToolSearch", Deferrable: true}, search.Flags{}, false},
		{"Agent under FORK_SUBAGENT", search.Entry{Name: "Agent", Deferrable: true}, search.Flags{ForkSubagent: true}, false},
		{"Agent without it", search.Entry{Name: "Agent", Deferrable: true}, search.Flags{Kairos: true, Bridge: true}, true},
		{"Agent on demand", search.Entry{Name: "Agent"}, search.Flags{DeferAgent: true}, true},
		{"Agent on demand, but forking", search.Entry{Name: "Agent"}, search.Flags{DeferAgent: true, ForkSubagent: true}, false},
		{"Brief on demand", search.Entry{Name: "Brief"}, search.Flags{DeferBrief: true}, true},
		{"Brief on demand, but KAIROS", search.Entry{Name: "Brief"}, search.Flags{DeferBrief: true, Kairos: true}, false},
		{"another tool on that demand", search.Entry{Name: "Read"}, search.Flags{DeferAgent: true, DeferBrief: true}, false},
		{"Brief under KAIROS", search.Entry{Name: "Brief", Deferrable: true}, search.Flags{Kairos: true}, false},
		{"Brief without it", search.Entry{Name: "Brief", Deferrable: true}, search.Flags{ForkSubagent: true, Bridge: true}, true},
		{"SendUserFile over a bridge", search.Entry{Name: "SendUserFile", Deferrable: true}, search.Flags{Kairos: true, Bridge: true}, false},
		{"SendUserFile without a bridge", search.Entry{Name: "SendUserFile", Deferrable: true}, search.Flags{Kairos: true}, true},
		{"SendUserFile without KAIROS", search.Entry{Name: "SendUserFile", Deferrable: true}, search.Flags{Bridge: true}, true},
		{"deferrable", search.Entry{Name: "TaskGet", Deferrable: true}, all, true},
		{"anything else", search.Entry{Name: "Bash"}, all, false},
	} {
		assert.Equal(t, c.want, search.Deferred(c.entry, c.flags), c.about)
	}
}

func TestAForeignGatewaySwitchesSearchOffUnlessSetExplicitly(t *testing.T) {
	own := []string{
		"", "https://api.anthropic.com", "https://API.anthropic.com/", "https://api.anthropic.com:443/v1", "https://api.anthropic.com./v1",
	}
	foreign := []string{
		"https://gateway.example", "https://api.anthropic.com.evil.net", "https://evil.net/api.anthropic.com",
		"https://api.anthropic.com@evil.net", "https://evilapi.anthropic.com", "https://anthropic.com", "http://api.anthropic.com",
		"https://api.anthropic.com:8443", "https://evil.net#api.anthropic.com", "https://evil.net?https://api.anthropic.com",
		"api.anthropic.com", "://", "https://api-anthropic.com", "https://xn--api-anthropic.com",
	}
	for _, mode := range []search.Mode{search.Always, search.Automatic} {
		for _, url := range own {
			assert.True(t, search.Optimistic(mode, url, false), url)
		}
		for _, url := range foreign {
			assert.False(t, search.Optimistic(mode, url, false), url)
			assert.True(t, search.Optimistic(mode, url, true), url)
		}
	}
	assert.False(t, search.Optimistic(search.Off, "", true))
}

func TestTheFinalDecision(t *testing.T) {
	yes := search.FinalInput{Mode: search.Always, Model: "claude-sonnet-4-5", Present: true}
	for about, c := range map[string]struct {
		change func(*search.FinalInput)
		want   bool
		reason string
	}{
		"always":           {func(*search.FinalInput) {}, true, "deferral is always on"},
		"off":              {func(in *search.FinalInput) { in.Mode = search.Off }, false, "deferral is off"},
		"no ToolSearch":    {func(in *search.FinalInput) { in.Present = false }, false, "ToolSearch is not in the pool"},
		"haiku":            {func(in *search.FinalInput) { in.Model = "claude-haiku-4-5" }, false, "model claude-haiku-4-5 takes no tool references"},
		"auto at the edge": {func(in *search.FinalInput) { in.Mode, in.Percent, in.DeferredTokens = search.Automatic, 10, 20_000 }, false, "20000 deferred tokens stay within 20000 (10 % of a window of 200000)"},
		"auto just over":   {func(in *search.FinalInput) { in.Mode, in.Percent, in.DeferredTokens = search.Automatic, 10, 20_001 }, true, "20001 deferred tokens exceed 20000 (10 % of a window of 200000)"},
		"auto, wide window": {func(in *search.FinalInput) {
			in.Mode, in.Percent, in.DeferredTokens, in.Betas = search.Automatic, 10, 20_001, []string{"x", "context-1m-2025-08-07"}
		}, false, "20001 deferred tokens stay within 100000 (10 % of a window of 1000000)"},
		"auto, unknown": {func(in *search.FinalInput) { in.Mode, in.Percent, in.Model = search.Automatic, 1, "llama" }, false, "0 deferred tokens stay within 2000 (1 % of a window of 200000, assumed for an unknown model)"},
		"auto, haiku": {func(in *search.FinalInput) {
			in.Mode, in.DeferredTokens, in.Model = search.Automatic, 1e6, "Claude-3-5-HAIKU"
		}, false, "model Claude-3-5-HAIKU takes no tool references"},
	} {
		in := yes
		c.change(&in)
		on, reason := search.Final(in)
		assert.Equal(t, c.want, on, about)
		assert.Equal(t, c.reason, reason, about)
	}
}

func TestTheThresholdIsTheFloorAndIsExceededStrictly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := search.FinalInput{
			Mode: search.Automatic, Present: true, Model: "claude-2-0", // a window of 100,000
			Percent: rapid.IntRange(1, 99).Draw(t, "percent"), DeferredTokens: rapid.IntRange(0, 120_000).Draw(t, "tokens"),
		}
		on, _ := search.Final(in)
		assert.Equal(t, in.DeferredTokens > in.Percent*1000, on)
	})
}

func TestTheHaikuFamilyTakesNoReferencesUnderAnyProvidersName(t *testing.T) {
	for _, model := range []string{"us.anthropic.claude-3-5-haiku-20241022-v1:0", "anthropic/claude-haiku-4-5", "CLAUDE-3-HAIKU@20240307"} {
		assert.False(t, search.References(model), model)
	}
	assert.True(t, search.References("claude-opus-5-5"))
}

func TestWindowsByModelAndBeta(t *testing.T) {
	beta := []string{"interleaved-thinking-2025-05-14", "context-1m-2025-08-07"}
	for _, c := range []struct {
		model       string
		plain, beta int
		known       bool
	}{
		{"claude-sonnet-4-5", 200_000, 1_000_000, true},
		{"claude-sonnet-4-5-20250929", 200_000, 1_000_000, true},
		{"us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000, 1_000_000, true},
		{"claude-sonnet-4@20250514", 200_000, 1_000_000, true},
		{"anthropic/claude-sonnet-4.5", 200_000, 1_000_000, true},
		{"claude-opus-4-5-20251101", 200_000, 200_000, true},
		{"anthropic.claude-3-5-haiku-20241022-v1:0", 200_000, 200_000, true},
		{"Claude-Opus-4-6", 1_000_000, 1_000_000, true},
		{"claude-sonnet-4-5[1m]", 1_000_000, 1_000_000, true},
		{" claude-sonnet-4-5[1m] ", 1_000_000, 1_000_000, true},
		{"claude-opus-4-5[1m]", 200_000, 200_000, true},
		{"claude-2.1", 200_000, 200_000, true},
		{"claude-sonnet-4-9", 200_000, 200_000, false},
		{"gpt-6", 200_000, 200_000, false},
		{"", 200_000, 200_000, false},
	} {
		tokens, known := search.Window(c.model, nil)
		assert.Equal(t, c.plain, tokens, c.model)
		assert.Equal(t, c.known, known, c.model)
		tokens, _ = search.Window(c.model, beta)
		assert.Equal(t, c.beta, tokens, c.model)
	}
}
