package message_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

func use(id string) message.Block {
	return message.Block{Type: message.TypeToolUse, ID: id, Name: "Look", Input: json.RawMessage(`{}`)}
}

func answer(id string) message.Block {
	return message.ToolResult(id, false, message.Text("seen"))
}

func by(role string, blocks ...message.Block) message.Message {
	return message.Message{Role: role, Content: blocks}
}

func TestAReferenceThatMayNotBeSentIsReplaced(t *testing.T) {
	found := func(names ...string) message.Block {
		var refs []message.Block
		for _, n := range names {
			refs = append(refs, message.ToolReference(n))
		}
		return message.ToolResult("c", false, refs...)
	}
	searched := message.Block{Type: "tool_search_tool_result"}
	searched.Raw = json.RawMessage(`{"type":"tool_search_tool_result","content":{"tool_references":[{"type":"tool_reference","tool_name":"Gone"},{"type":"tool_reference","tool_name":"Here"}],"n":12345678901234567890}}`)
	history := []message.Message{
		by(message.User, message.Text("go")),
		by(message.Assistant, use("c"), searched),
		by(message.User, found("Gone")), by(message.User, found("Gone", "Here")), by(message.User, message.ToolReference("Gone")),
	}
	before, err := json.Marshal(history)
	require.NoError(t, err)
	sent := message.Dereference(history, (&message.Places{Of: message.Refers}).In(history), func(name string) string {
		if name == "Gone" {
			return "It is gone."
		}
		return ""
	})
	assert.JSONEq(t, `{"type":"tool_search_tool_result","content":{"tool_references":[{"type":"tool_reference","tool_name":"Here"}],"n":12345678901234567890}}`, string(sent[1].Content[1].Raw))
	assert.Equal(t, []message.Block{message.Text("It is gone.")}, sent[2].Content[0].Content)
	assert.Equal(t, []message.Block{message.ToolReference("Here")}, sent[3].Content[0].Content, "no text beside a reference")
	assert.Equal(t, message.Text("It is gone."), sent[4].Content[0])
	after, err := json.Marshal(history)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the history itself stays")
	same := message.Dereference(history, (&message.Places{Of: message.Refers}).In(history), func(string) string { return "" })
	assert.Same(t, &history[0], &same[0], "nothing is copied where nothing changes")
}

func TestAHistoryThatBrokeOffIsMended(t *testing.T) {
	lost := func(b message.Block) bool {
		return b.IsError && message.PlainText(b.Content) == "Look was cut off: the session ended before its result was kept. Whether it ran, and what it did, is not known."
	}
	t.Run("a call at the end", func(t *testing.T) {
		got, did := message.Mend([]message.Message{by(message.User, message.Text("go")), by(message.Assistant, use("a"), use("b"))})
		require.Len(t, got, 3)
		assert.True(t, lost(got[2].Content[0]) && lost(got[2].Content[1]))
		assert.Len(t, did, 2)
	})
	t.Run("one of two results", func(t *testing.T) {
		got, _ := message.Mend([]message.Message{by(message.Assistant, use("a"), use("b")), by(message.User, answer("b"), message.Text("more"))})
		assert.True(t, lost(got[1].Content[0]), "results come first")
		assert.Equal(t, []message.Block{answer("b"), message.Text("more")}, got[1].Content[1:])
	})
	t.Run("the second of two results", func(t *testing.T) {
		got, _ := message.Mend([]message.Message{by(message.Assistant, use("a"), use("b"), use("c")), by(message.User, answer("c"), answer("a"), message.Text("more"))})
		assert.Equal(t, answer("a"), got[1].Content[0])
		assert.True(t, lost(got[1].Content[1]), "in call order")
		assert.Equal(t, []message.Block{answer("c"), message.Text("more")}, got[1].Content[2:])
	})
	t.Run("results behind other blocks", func(t *testing.T) {
		asked, uses := message.Text("more"), by(message.Assistant, use("a"), use("b"))
		for _, after := range [][]message.Message{
			{by(message.User, asked, answer("b"), answer("a"))}, {by(message.User, asked), by(message.User, answer("a"), answer("b"))},
			{by(message.User, answer("b"), asked), by(message.User, answer("a"))},
		} {
			got, did := message.Mend(append([]message.Message{uses}, after...))
			assert.Equal(t, []message.Message{uses, by(message.User, answer("a"), answer("b"), asked)}, got)
			assert.Equal(t, []string{"results of the history stood behind other blocks"}, did)
		}
	})
	t.Run("results of no call, and twice", func(t *testing.T) {
		got, did := message.Mend([]message.Message{by(message.User, answer("z")), by(message.Assistant, use("a")), by(message.User, answer("a"), answer("a"))})
		assert.Equal(t, "[A result whose call is not in this conversation: seen]", got[0].Content[0].Text)
		assert.Equal(t, answer("a"), got[2].Content[0])
		assert.Equal(t, message.TypeText, got[2].Content[1].Type)
		assert.Len(t, did, 2)
	})
	t.Run("calls that share an id", func(t *testing.T) {
		history := []message.Message{
			by(message.Assistant, use("a"), use("a")), by(message.User, answer("a"), answer("a")),
			by(message.Assistant, use("a"), use("a-2"), use("b")), by(message.User, answer("b"), answer("a-2"), answer("a")),
		}
		got, did := message.Mend(history)
		assert.Equal(t, []message.Message{
			by(message.Assistant, use("a"), use("a-2")), by(message.User, answer("a"), answer("a-2")),
			by(message.Assistant, use("a-3"), use("a-2-2"), use("b")), by(message.User, answer("b"), answer("a-2-2"), answer("a-3")),
		}, got)
		assert.Equal(t, []string{"call a of the history is now a-2", "call a of the history is now a-3", "call a-2 of the history is now a-2-2"}, did)
		assert.Equal(t, use("a"), history[0].Content[1], "what was said stays as it was")
	})
}

// Whatever was cut away or written twice, a mended history has one result for each
// call, in the message behind it, and a sound one is not touched.
func TestAMendedHistoryIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []message.Message
		n := 0
		for range rapid.IntRange(0, 5).Draw(t, "turns") {
			var uses, results []message.Block
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				n++
				uses, results = append(uses, use(fmt.Sprint(n))), append(results, answer(fmt.Sprint(n)))
			}
			history = append(history, by(message.Assistant, append(uses, message.Text("x"))...), by(message.User, append(results, message.Text("y"))...))
		}
		got, did := message.Mend(history)
		require.Equal(t, history, got)
		require.Empty(t, did)
		if len(history) == 0 {
			return
		}
		for range rapid.IntRange(1, 4).Draw(t, "breaks") {
			i := rapid.IntRange(0, len(history)-1).Draw(t, "message")
			m := &history[i]
			k := rapid.IntRange(0, len(m.Content)-1).Draw(t, "block")
			switch {
			case rapid.Bool().Draw(t, "opened twice"):
				history = append(history[:i:i], append(slices.Clone(history[i:]), history[i:]...)...)
			case rapid.Bool().Draw(t, "twice"):
				m.Content = append(m.Content, m.Content[k])
			case len(m.Content) > 1:
				m.Content = slices.Delete(slices.Clone(m.Content), k, k+1)
			}
		}
		got, _ = message.Mend(history)
		require.Empty(t, unpaired(got))
		again, did := message.Mend(got)
		require.Equal(t, got, again, "mending twice mends nothing")
		require.Empty(t, did)
	})
}

// unpaired lists the calls and results of a history that an API would refuse.
func unpaired(history []message.Message) (bad []string) {
	seen := map[string]bool{}
	for i, m := range history {
		for _, c := range m.Calls() {
			if seen[c.ID] {
				bad = append(bad, "two calls have the id "+c.ID)
			}
			seen[c.ID] = true
			n := 0
			for _, next := range history[i+1:] {
				if next.Role != message.User {
					break
				}
				for _, r := range next.Results() {
					if r.ToolUseID == c.ID {
						n++
					}
				}
			}
			if n != 1 {
				bad = append(bad, fmt.Sprintf("call %s has %d results", c.ID, n))
			}
		}
		for _, r := range m.Results() {
			called := false
			for k := i - 1; k >= 0 && !called; k-- {
				called = slices.ContainsFunc(history[k].Calls(), func(c message.Block) bool { return c.ID == r.ToolUseID })
				if history[k].Role != message.User {
					break
				}
			}
			if !called {
				bad = append(bad, "result "+r.ToolUseID+" has no call")
			}
		}
	}
	return bad
}
