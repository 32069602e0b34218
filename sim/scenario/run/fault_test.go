package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

// Each fault of a request counts, whichever of them stands last.
func TestOneRequestMayHaveSeveralFaults(t *testing.T) {
	for _, faults := range []string{
		`[{request: 1, status: 529, body: Busy}, "stall @ request=1 event=2 for 1s"]`, `["stall @ request=1 event=2 for 1s", {request: 1, status: 529, body: Busy}]`,
		`["malformed @ request=1 event=3", "late @ request=1 event=2 for 1s"]`, `["late @ request=1 event=2 for 1s", "malformed @ request=1 event=1"]`,
	} {
		sc, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It is asked again.\nworld: {retries: 1}\nstream: {turns: [{text: Hello., end: 2s}]}\nfaults: "+faults+"\nexpect: {requests: {count: 2}}\n"))
		require.NoError(t, err)
		out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
		assert.Empty(t, out.Failures, faults)
	}
}
