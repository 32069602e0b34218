package economics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/economics"
	"toolbench/sim/recording"
)

// sent is a session of some requests with the same tools; calls[i] is what the i-th
// answer calls.
func sent(tools []recording.PromptTool, calls ...[]string) *recording.PromptFile {
	s := &recording.PromptSession{Number: 1}
	for i, names := range calls {
		s.Turns = append(s.Turns, recording.PromptTurn{Number: i + 1, Calls: names, Prompt: &recording.Prompt{
			Model: "claude-sonnet-4-5", Tools: tools, Messages: []recording.PromptBlock{{Text: strings.Repeat("x", 100)}},
		}})
	}
	return &recording.PromptFile{Name: "session.yaml", Sessions: []*recording.PromptSession{s}}
}

func someTools(n, size int) []recording.PromptTool {
	var all []recording.PromptTool
	for i := range n {
		about := strings.Repeat("a", size)
		name := fmt.Sprintf("tool_%02d", i)
		all = append(all, recording.PromptTool{Name: name, Description: about, Schema: `{"type":"object"}`,
			Text: fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":{"type":"object"}}`, name, about)})
	}
	return all
}

func counted(t require.TestingT, file *recording.PromptFile) (economics.SessionCost, *economics.Recordings) {
	c, err := economics.NewCounter("bytes4")
	require.NoError(t, err)
	all := economics.NewRecordings()
	all.Add(file, c)
	require.Len(t, all.Sessions, 1)
	return all.Sessions[0], all
}

// What the figure holds, reckoned by hand: 40 tools of 400 bytes each over 4 requests,
// one of them called in the second, which so becomes two requests.
func TestNetFiguresHoldWhatDeferralAdds(t *testing.T) {
	tools := someTools(40, 320)
	s, all := counted(t, sent(tools, nil, []string{"tool_07", "tool_07"}, []string{"tool_07"}, nil))
	line := len(`<function>{"description":"","name":"tool_00","parameters":{"type":"object"}}</function>`) + 1 + 320
	frame := len("<available-deferred-tools>\n</available-deferred-tools>\n")
	call, result := len(economics.SearchCall([]string{"tool_07"})), len(economics.SearchResult(tools[7:8]))

	assert.Equal(t, 1, s.Searches)
	assert.Equal(t, (4*40*line+2)/4, s.Whole)
	names := s.Ways[0]
	// Before the search 40 names in 2 requests, behind it 39 names and the definition in 3.
	assert.Equal(t, (2*(40*8+frame)+3*(39*8+frame+line)+2)/4, names.Definitions)
	assert.Equal(t, (call+3*(call+result)+2)/4, names.History)
	assert.InDelta(t, names.Definitions+names.Searcher+names.History, names.Total, 2)
	assert.Greater(t, names.Saved, 80.0)
	assert.Greater(t, s.Ways[2].Saved, names.Saved, "with references, no name and no definition stands twice")
	assert.Equal(t, 25, s.Resent, "one request more sends the conversation once more")
	assert.Equal(t, 3, all.Tools()[7].Calls)
	assert.Equal(t, "claude-sonnet-4-5", all.Model)
}

// A pool of one small tool is dearer deferred: the figure is below 0.
func TestNetFiguresMayBeLosses(t *testing.T) {
	s, _ := counted(t, sent(someTools(1, 40), []string{"tool_00"}, nil))
	for _, w := range s.Ways {
		assert.Negative(t, w.Saved, w.Name)
		assert.Less(t, w.Resending, w.Saved, w.Name)
	}
}

func TestWhatIsNeverDeferredStaysWhole(t *testing.T) {
	tools := someTools(2, 100)
	tools[0].Name = "Bash"
	s, all := counted(t, sent(tools, []string{"Bash"}, nil))
	assert.Zero(t, s.Searches, "Bash was there all the time")
	for _, tool := range all.Tools() {
		assert.Equal(t, tool.Name == "Bash", tool.Whole, tool.Name)
	}
}

func TestASessionThatDefersByItselfIsNotDeferredAgain(t *testing.T) {
	for name, extra := range map[string]recording.PromptTool{
		"ours": {Name: "ToolSearch", Text: "{}"}, "the API's": {Name: "tool_search_tool_bm25", Kind: "tool_search_tool_bm25_20251119"}, "marked": {Name: "x", Deferred: true},
	} {
		s, _ := counted(t, sent(append(someTools(3, 50), extra), nil, nil))
		assert.True(t, s.Defers, name)
		assert.Empty(t, s.Ways, name)
	}
}

func TestNetFiguresAddUpForAnySession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := someTools(rapid.IntRange(1, 12).Draw(t, "tools"), rapid.IntRange(0, 900).Draw(t, "size"))
		var calls [][]string
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			var names []string
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				names = append(names, tools[rapid.IntRange(0, len(tools)-1).Draw(t, "called")].Name)
			}
			calls = append(calls, names)
		}
		s, _ := counted(t, sent(tools, calls...))
		assert.Equal(t, s.Called, s.FirstUses, "what is called is loaded, once")
		assert.LessOrEqual(t, s.Searches, min(len(calls), s.FirstUses))
		for _, w := range s.Ways {
			assert.InDelta(t, w.Definitions+w.Searcher+w.History, w.Total, 2, w.Name)
			assert.LessOrEqual(t, w.Resending, w.Saved, w.Name)
		}
		assert.LessOrEqual(t, s.Ways[0].Total, s.Ways[1].Total, "hints cost more than names")
		assert.LessOrEqual(t, s.Ways[2].Total, s.Ways[0].Total)
	})
}
