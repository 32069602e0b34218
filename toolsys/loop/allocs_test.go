//go:build !race

package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/schedule"
)

// What a conversation costs is held by what it allocates, which a busy machine does not
// change as it does times; the race detector adds its own. Each bound is what was
// measured and a tenth: who needs more has a reason, and who needs less lowers it.

// one runs conversations of a script and gives what each allocates.
func one(t *testing.T, turns ...turn) float64 {
	tl := look()
	return testing.AllocsPerRun(5, func() {
		s := &script{turns: turns}
		r := open(t, s, func(c *loop.Config) {
			silence(c)
			c.Policy, c.MaxTurns = schedule.Streaming, len(turns)
		}, tl)
		_, err := r.Send(context.Background(), message.UserText("go"))
		require.NoError(t, err)
	})
}

func TestAllocationsPerCall(t *testing.T) {
	few, more := one(t, many(100), says("done")), one(t, many(200), says("done"))
	assert.LessOrEqual(t, (more-few)/100, 19.0, "for a call, its three events read and its result committed")
}

func TestAllocationsPerEvent(t *testing.T) {
	begin := turn{beginning, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`}
	part := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a \"word\" and \u00e9"}}`)
	assert.Less(t, testing.AllocsPerRun(5, func() {
		var a message.Assembler
		for _, e := range begin {
			_, err := a.Add([]byte(e))
			require.NoError(t, err)
		}
		for range 1000 {
			_, _ = a.Add(part)
		}
	}), 100.0, "for 1,000 deltas: the text grows, and nothing else")
}

// A turn late in a conversation costs what one early in it does.
func TestAllocationsPerTurnDoNotGrow(t *testing.T) {
	conversation := func(n int) float64 {
		var turns []turn
		for i := range n {
			turns = append(turns, renamed(calls("Look a"), i))
		}
		return one(t, append(turns, says("done"))...) / float64(n)
	}
	few, more := conversation(100), conversation(400)
	assert.LessOrEqual(t, more/few, 1.1, "allocations of a turn, of 400 (%.0f) and of 100 (%.0f)", more, few)
}
