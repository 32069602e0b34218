package message_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

func calling(id, name string) message.Block {
	return message.Block{Type: message.TypeToolUse, ID: id, Name: name, Input: []byte(`{}`)}
}

func result(id, text string) message.Block { return message.ToolResult(id, false, message.Text(text)) }

func model(blocks ...message.Block) message.Message {
	return message.Message{Role: message.Assistant, Content: blocks}
}

func user(blocks ...message.Block) message.Message {
	return message.Message{Role: message.User, Content: blocks}
}

// written is a history as JSON, a message a line.
func written(t require.TestingT, history []message.Message) []string {
	var lines []string
	for _, m := range history {
		raw, err := m.MarshalJSON()
		require.NoError(t, err)
		lines = append(lines, string(raw))
	}
	return lines
}

func TestWhatIsSnippedLeavesANoteInItsPlace(t *testing.T) {
	thinking := message.Block{Type: "thinking", Raw: []byte(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)}
	text := message.Text
	history := []message.Message{
		user(text("one")),
		model(thinking, text("I look."), calling("a", "Read"), calling("b", "Bash")),
		user(result("a", "A"), result("b", "B"), text("more")),
		model(thinking, calling("c", "Read")),
		user(result("c", "C")),
		model(text("done")),
		user(text("two")),
	}
	for name, c := range map[string]struct {
		cut  message.Cut
		want []message.Message
	}{
		"nothing":           {message.Cut{}, history},
		"what is not there": {message.Cut{Messages: []int{-3, 6, 99}, Calls: []message.CallAt{{Message: 1, ID: "x"}, {Message: 3, ID: "a"}, {Message: -1, ID: "b"}}}, history},
		"one of two calls": {message.Cut{Calls: []message.CallAt{{Message: 1, ID: "b"}}}, []message.Message{
			user(text("one")),
			model(thinking, text("I look."), calling("a", "Read")),
			user(result("a", "A"), text("[Snipped here: calls of Bash, about 33 tokens.]"), text("more")),
			history[3], history[4], history[5], history[6],
		}},
		"a message with its call": {message.Cut{Messages: []int{4}}, []message.Message{
			history[0], history[1],
			user(result("a", "A"), result("b", "B"), text("more"), text("[Snipped here: 2 messages with calls of Read, about 47 tokens.]")),
			history[5], history[6],
		}},
		"the first": {message.Cut{Messages: []int{0}}, append([]message.Message{
			user(text("[Snipped here: 1 message, about 7 tokens.]")),
		}, history[1:]...)},
		"results, with their calls": {message.Cut{Messages: []int{2}}, []message.Message{
			history[0], model(thinking, text("I look.")),
			user(text("[Snipped here: 1 message with calls of Bash, Read, about 74 tokens.]")),
			history[3], history[4], history[5], history[6],
		}},
		"between two of the model": {message.Cut{Calls: []message.CallAt{{Message: 3, ID: "c"}}, Messages: []int{2}}, []message.Message{
			history[0], model(thinking, text("I look.")),
			user(text("[Snipped here: 3 messages with calls of Bash, Read (2), about 120 tokens.]")),
			history[5], history[6],
		}},
		"all": {message.Cut{Messages: []int{0, 1, 2, 3, 4, 5}}, []message.Message{
			user(text("[Snipped here: 6 messages with calls of Bash, Read (2), about 156 tokens.]"), text("two")),
		}},
	} {
		before := written(t, history)
		assert.Equal(t, written(t, c.want), written(t, c.cut.Of(history)), name)
		assert.Equal(t, before, written(t, history), "the history is as it was")
	}
}

// A model may give an id again. What was snipped of it is one call, and the others stay.
func TestACallIsSnippedOnceThoughItsIDComesAgain(t *testing.T) {
	history := []message.Message{
		user(message.Text("one")),
		model(calling("a", "Read")), user(result("a", "A"), message.Text("more")),
		model(calling("a", "Bash")), user(result("a", "B")),
	}
	want := written(t, []message.Message{
		user(message.Text("one"), message.Text("[Snipped here: 1 message with calls of Read, about 33 tokens.]"), message.Text("more")),
		history[3], history[4],
	})
	for _, cut := range []message.Cut{{Messages: []int{1}}, {Calls: []message.CallAt{{Message: 1, ID: "a"}}}} {
		assert.Equal(t, want, written(t, cut.Of(history)))
	}
	longer := append(slices.Clone(history), model(calling("a", "Grep")), user(result("a", "C")))
	assert.Equal(t, append(want, written(t, longer[5:])...), written(t, message.Cut{Calls: []message.CallAt{{Message: 1, ID: "a"}}}.Of(longer)))
}

// Whatever is cut out of whatever history: an API takes what is left, which is in its
// order and in its bytes, and the last message is whole.
func TestWhatIsLeftOfAnyHistoryIsAHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []message.Message
		var calls []message.CallAt
		repeated := rapid.Bool().Draw(t, "ids come again")
		for i := range rapid.IntRange(0, 6).Draw(t, "turns") {
			if i == 0 || rapid.Bool().Draw(t, "asks") {
				if n := len(history); n > 0 && history[n-1].Role == message.User {
					history[n-1].Content = append(history[n-1].Content, message.Text(fmt.Sprint("ask", i)))
				} else {
					history = append(history, user(message.Text(fmt.Sprint("ask", i))))
				}
			} else if history[len(history)-1].Role == message.Assistant {
				history = append(history, user(message.Text("next")))
			}
			var blocks, results []message.Block
			if rapid.Bool().Draw(t, "thinks") {
				blocks = append(blocks, message.Block{Type: "thinking", Raw: []byte(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)})
			}
			for k := range rapid.IntRange(0, 3).Draw(t, "calls") {
				id := fmt.Sprintf("c%d_%d", i, k)
				if repeated {
					id = fmt.Sprint("c", k)
				}
				calls = append(calls, message.CallAt{Message: len(history), ID: id})
				blocks, results = append(blocks, calling(id, "Read")), append(results, result(id, "r"+id))
			}
			if len(results) == 0 || rapid.Bool().Draw(t, "writes") {
				blocks = append(blocks, message.Text(fmt.Sprint("answer", i)))
			}
			if history = append(history, model(blocks...)); len(results) > 0 {
				history = append(history, user(results...))
			}
		}
		if len(history) == 0 || history[len(history)-1].Role == message.Assistant {
			history = append(history, user(message.Text("last")))
		}
		cut := message.Cut{
			Messages: rapid.SliceOfDistinct(rapid.IntRange(-1, len(history)), rapid.ID[int]).Draw(t, "messages"),
		}
		if len(calls) > 0 {
			cut.Calls = rapid.SliceOfDistinct(rapid.SampledFrom(calls), rapid.ID[message.CallAt]).Draw(t, "calls that go")
		}
		left := cut.Of(history)

		_, did := message.Mend(left)
		did = slices.DeleteFunc(did, func(what string) bool { return repeated && strings.Contains(what, " of the history is now ") })
		assert.Empty(t, did, "no call is parted from its result")
		require.NotEmpty(t, left)
		assert.Equal(t, message.User, left[0].Role)
		for i, m := range left {
			assert.NotEmpty(t, m.Content)
			assert.True(t, slices.ContainsFunc(m.Content, func(b message.Block) bool { return b.Type != "thinking" }), "thinking alone")
			assert.True(t, i == 0 || left[i-1].Role != m.Role, "roles alternate")
			results := len(m.Results())
			assert.Len(t, message.Message{Content: m.Content[:results]}.Results(), results, "results come first")
		}
		for _, call := range cut.Calls {
			if !repeated && !last(history, call.ID) {
				assert.NotContains(t, strings.Join(written(t, left), ""), call.ID, "a call that was cut")
			}
		}
		lastBefore, lastAfter := history[len(history)-1].Content, left[len(left)-1].Content
		for _, b := range lastBefore {
			assert.Contains(t, written(t, []message.Message{user(lastAfter...)})[0], written(t, []message.Message{user(b)})[0][len(`{"role":"user","content":[`):len(written(t, []message.Message{user(b)})[0])-2])
		}
		assert.Equal(t, written(t, left), written(t, cut.Of(history)), "the same again")
	})
}

// last reports whether a call has its result in the last message.
func last(history []message.Message, id string) bool {
	return slices.ContainsFunc(history[len(history)-1].Results(), func(b message.Block) bool { return b.ToolUseID == id })
}
