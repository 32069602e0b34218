package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every edit fits the file it is for, in exactly one place: a list that no longer
// fits the code would plant nothing and prove nothing.
func TestEveryFaultFits(t *testing.T) {
	faults, err := all()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range faults {
		assert.False(t, names[m.name], "%s is there twice", m.name)
		names[m.name] = true
		text, err := m.planted("../..")
		assert.NoError(t, err)
		assert.NotContains(t, text, m.old+m.old)
	}
	assert.GreaterOrEqual(t, len(faults), 40)
}
