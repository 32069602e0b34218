package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
)

// A value that is written once and used elsewhere, or on lines of its own, is left to
// people: replacing its first token would break the file.
func TestUpdateLeavesAnchorsAliasesAndBlocks(t *testing.T) {
	const file = "a: &x 1\nb: *x\nc: |\n  text\nd: 1 # kept\ne: [x, y] # kept\n"
	got, left, err := scenario.Update([]byte(file), map[string]string{"a": "2", "b": "2", "c": "2", "d": "2", "e": "[z]", "f": "2"})
	require.NoError(t, err)
	assert.Equal(t, "a: &x 1\nb: *x\nc: |\n  text\nd: 2 # kept\ne: [z] # kept\n", string(got))
	assert.Equal(t, []string{"a", "b", "c", "f"}, left)
}
