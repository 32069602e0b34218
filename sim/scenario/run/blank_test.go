package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

// What a failure quotes of the world goes to screens and CI logs.
func TestAFailureDoesNotQuoteASecret(t *testing.T) {
	sc, err := scenario.Parse("leak.yaml", []byte(`name: leak
about: A result holds a key.
world:
  files: {/repo/env: "KEY=sk-ant-api03-abcdefgh\n"}
stream:
  turns:
    - calls: [{id: read, tool: Read, input: {file_path: /repo/env}}]
    - text: Done.
expect:
  results: {read: {status: ok, equals: "nothing like it"}}
`))
	require.NoError(t, err)
	out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
	require.NotEmpty(t, out.Failures)
	for _, f := range out.Failures {
		assert.NotContains(t, f.Found, "abcdefgh")
	}
	assert.Contains(t, out.Failures[0].Found, "[redacted]")
}
