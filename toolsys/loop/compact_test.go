package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/trace"
)

// once cuts before the n-th request, keeping some messages.
func once(n, keep int) func(*loop.Config) {
	return func(c *loop.Config) {
		request := 0
		c.Compact = func(context.Context, []message.Message) (loop.Summary, bool, error) {
			request++
			return loop.Summary{Text: "They looked at a.", Keep: keep}, request == n, nil
		}
	}
}

// A summary takes the place of what is cut; a call and its result stay together,
// even where fewer messages were asked to be kept.
func TestACutNeverPartsACallFromItsResult(t *testing.T) {
	for keep := range 4 {
		s := &script{turns: []turn{calls("Look a"), calls("Look b"), says("done")}}
		r := open(t, s, once(3, keep), named("Look", nil))
		r.send(t)
		sent := s.requests[2].Messages
		assert.Equal(t, "They looked at a.", sent[0].Content[0].Text)
		asked := map[string]bool{}
		for _, m := range sent {
			for _, b := range m.Content {
				switch b.Type {
				case message.TypeToolUse:
					asked[b.ID] = true
				case message.TypeToolResult:
					assert.True(t, asked[b.ToolUseID], "keep %d: a result without its call", keep)
				}
			}
		}
		assert.Len(t, r.kinds(trace.KindCompacted, "cut"), 1)
	}
}

// What was discovered is read back from a history that was cut (E6).
func TestDiscoveryOutlivesACut(t *testing.T) {
	s := &script{turns: []turn{says("done")}}
	r := open(t, s, func(c *loop.Config) {
		once(1, 1)(c)
		c.History = []message.Message{
			{Role: message.User, Content: []message.Block{message.Text("Plan."), pool.Discovery([]string{"Rare"})}},
			{Role: message.Assistant, Content: []message.Block{message.Text("Planned.")}},
		}
	}, named("Look", nil))
	r.send(t)
	require.Len(t, s.requests[0].Messages, 2)
	assert.Equal(t, []string{"Rare"}, pool.Discovered(r.History()))
	assert.False(t, strings.Contains(message.PlainText(s.requests[0].Messages[0].Content), "Plan."))
}

// A failed summary ends the conversation instead of cutting it blindly.
func TestAFailedSummaryIsAnError(t *testing.T) {
	s := &script{turns: []turn{says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.Compact = func(context.Context, []message.Message) (loop.Summary, bool, error) {
			return loop.Summary{}, false, errGone
		}
	}, named("Look", nil))
	_, err := r.Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, errGone)
	assert.Len(t, r.History(), 1, "nothing was cut")
}
