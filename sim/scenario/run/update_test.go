package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

const outdated = `name: outdated # a name
about: It is brought up to date.
world: {files: {/repo/ä.txt: "x\n"}, only: [Read]}
stream:
  turns:
    - calls:
        - {id: call_1, tool: Read, input: {file_path: /repo/ä.txt}, at: 2s}
    - text: Done.
# why these figures are right
expect:
  batches: [[Write]] # ä comment
  starts: {call_1: 1s} # kept
  not_started: [call_1]
  makespan: 9s
  results: {call_1: {status: failed, contains: nothing like it}}
`

func TestUpdateReplacesValuesAndNothingElse(t *testing.T) {
	sc, err := scenario.Parse("outdated.yaml", []byte(outdated))
	require.NoError(t, err)
	out := run.Scenario(context.Background(), sc, run.Options{Seed: 1})
	require.NoError(t, out.Err)
	require.Equal(t, check.Failed, out.Status)

	got, left, err := check.Update([]byte(outdated), out.Failures)
	require.NoError(t, err)
	want := strings.NewReplacer("[[Write]]", "[[Read]]", "call_1: 1s", "call_1: 2s", "makespan: 9s", "makespan: 2s", "status: failed", "status: ok").Replace(outdated)
	assert.Equal(t, want, string(got))

	var keys []string
	for _, f := range left {
		keys = append(keys, f.Expectation)
	}
	assert.ElementsMatch(t, []string{"not_started.0", "results.call_1.contains"}, keys, "only a person can say")
}

func TestAFailureSaysExpectedFoundAndWhere(t *testing.T) {
	sc, err := scenario.Parse("outdated.yaml", []byte(outdated))
	require.NoError(t, err)
	out := run.Scenario(context.Background(), sc, run.Options{Seed: 1})
	byKey := map[string]check.Failure{}
	for _, f := range out.Failures {
		byKey[f.Expectation] = f
	}
	f := byKey["makespan"]
	assert.Equal(t, "9s", f.Expected)
	assert.Equal(t, "2s", f.Found)
	assert.Equal(t, "outdated.yaml:14", f.At)
}

// A run that is cut off has no verdict, not even that of the further runs it
// would have been compared with.
func TestAnInterruptedRunIsNoFailure(t *testing.T) {
	sc, err := scenario.Parse("cut.yaml", []byte(`name: cut
about: It is compared with other policies.
stream: {turns: [{text: Done., end: 1s}]}
expect: {same_under: [serial], makespan: 1s}
`))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := run.Scenario(ctx, sc, run.Options{Seed: 1})
	assert.Equal(t, check.Errored, out.Status)
	assert.ErrorIs(t, out.Err, context.Canceled)
	assert.Empty(t, out.Failures)
}

// Code is full of signs that mean something in HTML: they are compared and shown as they are.
func TestExpectedCallsWithCodeAreShownAsTheyAre(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte(`name: x
about: What a call must have is code.
world: {tools: [{name: Look, schema: {type: object}}]}
stream: {turns: [{calls: [{id: a, tool: Look, input: {all: ["a && b > c"], one: d}, at: 1s}]}, {text: Done.}]}
expect:
  loosely:
    match: subset
    calls: [{tool: Look, matches: {all: '&& b >'}}, {tool: Look, input: {one: "<d>"}}]
  called: [{id: a, tool: Look, input: {all: ["a || b > c"]}}]
`))
	require.NoError(t, err)
	out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
	expected := map[string]string{}
	for _, f := range out.Failures {
		expected[f.Expectation] = f.Expected
	}
	assert.Equal(t, map[string]string{"called.0": `Look a {"all":["a || b > c"]}`, "loosely.calls.1": `Look with {"one":"<d>"}`}, expected)
}
