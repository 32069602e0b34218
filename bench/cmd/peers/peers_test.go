package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/bench/measure"
)

func TestAWrongLineIsExplained(t *testing.T) {
	for want, args := range map[string][]string{
		"-repeats must be at least 1": {"-repeats", "0"},
		"there are no arguments":      {"eino"},
		"not defined":                 {"-fast"},
		"-budget must be at least":    {"-budget", "1us"},
	} {
		var out, problems bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), args, &out, &problems))
		assert.Contains(t, problems.String(), want)
	}
}

// Every peer does the work it is measured by.
func TestEveryPeerAnswersEveryCall(t *testing.T) {
	for _, p := range all() {
		for _, small := range []bool{false, true} {
			bout, err := p.Open(measure.Noops(measure.Calls, small))
			require.NoError(t, err, p.Name)
			require.NoError(t, bout.Run(t.Context()), p.Name)
			assert.Len(t, bout.Answers(), measure.Calls, p.Name)
		}
	}
}
