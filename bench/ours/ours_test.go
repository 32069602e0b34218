package ours_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/bench/measure"
	"toolbench/bench/ours"
)

// What the table says of us must hold whenever it is drawn.
func TestOurs(t *testing.T) {
	for _, p := range ours.Peers() {
		t.Run(p.Name, func(t *testing.T) {
			for _, name := range measure.Troubles() {
				got, err := measure.TroubleOf(p, name)
				require.NoError(t, err, name)
				assert.Equal(t, got.Calls, got.Answered, "%s: every call is answered", name)
				assert.True(t, got.Ordered, "%s: in call order", name)
				assert.Zero(t, got.Running, "%s: nothing runs on", name)
				assert.Zero(t, got.Left, "%s: no goroutine is left", name)
			}
			span, err := measure.SpanOf(p)
			require.NoError(t, err)
			if p.Name != ours.Prefix+"effects" {
				assert.False(t, span.Overlaps, "a write runs alone")
			}
			cost, err := measure.CostOf(p, false, 20*time.Millisecond)
			require.NoError(t, err)
			assert.Positive(t, cost.Micros)
		})
	}
	steps, err := ours.Steps(1, 20*time.Millisecond)
	require.NoError(t, err)
	assert.Len(t, steps, 4)
}
