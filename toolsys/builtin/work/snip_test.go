package work_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// conversation is one whose last results load a tool by reference, and in which the user
// added a text beside results; its first message is the fifth.
func conversation() *tool.Context {
	use := func(id, name string) message.Block {
		return message.Block{Type: message.TypeToolUse, ID: id, Name: name, Input: []byte(`{}`)}
	}
	c := &tool.Context{}
	c.FirstMessage = 5
	c.Messages = []message.Message{
		message.UserText("First."),
		{Role: message.Assistant, Content: []message.Block{use("read", "Read"), use("found", "ToolSearch")}},
		{Role: message.User, Content: []message.Block{
			message.ToolResult("read", false, message.Text("the file")), message.ToolResult("found", false, message.ToolReference("Glob")),
		}},
		{Role: message.Assistant, Content: []message.Block{message.Text("Looking."), use("bash", "Bash")}},
		{Role: message.User, Content: []message.Block{message.ToolResult("bash", true, message.Text("no")), message.Text("And this.")}},
	}
	return c
}

func TestSnipRefusesWhatIsNotThereOrStays(t *testing.T) {
	snip := work.Snip()
	for raw, want := range map[string]struct {
		code int
		text string
	}{
		`{"ids":["m4"]}`:             {work.CodeNothingThere, "the messages are m5 to m9"},
		`{"ids":["m05"]}`:            {work.CodeNothingThere, "m05"},
		`{"ids":["read","x"]}`:       {work.CodeNothingThere, `"x"`},
		`{"ids":[""]}`:               {work.CodeNothingThere, "list them"},
		`{"from":"m5"}`:              {work.CodeHalfRange, "both its ends"},
		`{"to":"m5"}`:                {work.CodeHalfRange, "both its ends"},
		`{"from":"m8","to":"m6"}`:    {work.CodeHalfRange, "m8 comes after m6"},
		`{"from":"m1","to":"m6"}`:    {work.CodeNothingThere, "m1"},
		`{"ids":["found"]}`:          {work.CodeStays, "loads tools"},
		`{"ids":["m6"]}`:             {work.CodeStays, "loads tools"},
		`{"ids":["m7"]}`:             {work.CodeStays, "loads tools"},
		`{"ids":["m9"]}`:             {work.CodeStays, "asked last"},
		`{"ids":["m5"]}`:             {work.CodeStays, "asked last"},
		`{"from":"m8","to":"m9"}`:    {work.CodeStays, "asked last"},
		`{"from":"read","to":"m99"}`: {work.CodeNothingThere, "m99"},
	} {
		refusal := snip.Validate(parse(t, snip, raw), conversation())
		require.NotNil(t, refusal, raw)
		assert.Equal(t, want.code, refusal.Code, raw)
		assert.Contains(t, refusal.Message, want.text, raw)
	}
	assert.Contains(t, snip.Validate(parse(t, snip, `{"ids":["m1"]}`), &tool.Context{}).Message, "no messages yet")
}

func TestSnippingTwiceCountsOnceAndKeepsWhatWasSnipped(t *testing.T) {
	c := conversation()
	c.State.Snipped = tool.Snips{Calls: []message.CallAt{{Message: 8, ID: "bash"}}}
	out := call(t, work.Snip(), `{"ids":["read","bash","read"],"from":"m8","to":"m8"}`, c)
	data := out.Data.(work.SnipOut)
	assert.Equal(t, []string{"read", "bash"}, data.Calls)
	assert.Equal(t, 37+9, data.Tokens, "the call of Read and the text of m8")
	after := out.Modify(tool.State{Dir: "/repo", Snipped: tool.Snips{Messages: []int{2}, Calls: []message.CallAt{{Message: 2, ID: "a"}}}})
	assert.Equal(t, tool.State{Dir: "/repo", Snipped: tool.Snips{Messages: []int{2, 8}, Calls: []message.CallAt{{Message: 2, ID: "a"}, {Message: 6, ID: "read"}, {Message: 8, ID: "bash"}}}}, after)
	assert.Equal(t, tool.Snips{Messages: []int{8}, Calls: []message.CallAt{{Message: 8, ID: "bash"}}}, after.Snipped.From(8))
	assert.Equal(t, message.Cut{Messages: []int{-3, 3}, Calls: []message.CallAt{{Message: -3, ID: "a"}, {Message: 1, ID: "read"}, {Message: 3, ID: "bash"}}}, after.Snipped.Cut(5))
}

// A model may give an id again: an id names all calls that have it, each with the result that follows it.
func TestCallsThatShareAnIDAreCountedApart(t *testing.T) {
	c := conversation()
	c.Messages[3].Content[1].ID, c.Messages[4].Content[0].ToolUseID = "read", "read"
	assert.Equal(t, []string{"read", "read"}, call(t, work.Snip(), `{"ids":["read"]}`, c).Data.(work.SnipOut).Calls)

	c.Messages[3].Content[1].ID, c.Messages[4].Content[0].ToolUseID = "found", "found"
	refusal := work.Snip().Validate(parse(t, work.Snip(), `{"ids":["found"]}`), c)
	require.NotNil(t, refusal, "one of them loads tools")
	assert.Equal(t, work.CodeStays, refusal.Code)
	out := call(t, work.Snip(), `{"ids":["m8"]}`, c)
	assert.Equal(t, []int{8}, out.Modify(tool.State{}).Snipped.Messages, "and the message of the other goes")
}

func TestTheContextIsAddedUpByParts(t *testing.T) {
	c := conversation()
	_, err := work.CtxInspect().Call(t.Context(), parse(t, work.CtxInspect(), `{}`), c)
	require.ErrorContains(t, err, "no conversation")

	c.Overhead = func() tool.Overhead { return tool.Overhead{System: 40, Tools: 4001, Names: 8, Window: 1000} }
	c.State.Snipped = tool.Snips{Messages: []int{8}}
	got := call(t, work.CtxInspect(), `{"top":1}`, c).Data.(work.InspectOut)
	assert.Equal(t, []int{10, 1001, 2}, []int{got.System, got.Tools, got.Names})
	assert.Equal(t, got.System+got.Tools+got.Names+got.Messages+got.Calls+got.Results, got.Total)
	assert.Equal(t, []work.Part{{ID: "read", What: "Read", Tokens: 37}}, got.Largest)
	assert.Greater(t, got.Snipped, 30, "a message's calls go with it")
}
