package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

const withCases = `name: x
about: It answers.
stream: {turns: [{text: hi}]}
expect: {calls: 0}
must_fail:
`

func cases(t *testing.T, text string) []check.Result {
	t.Helper()
	sc, err := scenario.Parse("x.yaml", []byte(withCases+text))
	require.NoError(t, err)
	var all []check.Result
	for _, c := range run.Cases(sc) {
		all = append(all, c.Run(t.Context(), run.Options{Seed: 1}))
	}
	return all
}

// A case passes if it fails of what it names and of nothing else.
func TestACaseMustFailOfWhatItNames(t *testing.T) {
	for found, text := range map[string]string{
		"":                           "- {case: a, failure: calls, words: ['1'], expect: {calls: 1}}",
		"nothing fails":              "- {case: a, failure: calls, expect: {calls: 0}}",
		"calls: expected 1, found 0": "- {case: a, failure: makespan, expect: {calls: 1}}",
		"calls: expected 2, found 0": "- {case: a, failure: calls, words: ['3'], expect: {calls: 2}}",
		"outcome: expected refused, found completed": "- {case: a, failure: calls, expect: {calls: 1, outcome: refused}}",
	} {
		all := cases(t, text)
		require.Len(t, all, 2)
		assert.Equal(t, check.Passed, all[0].Status)
		assert.Equal(t, "x/a", all[1].Name)
		if found == "" {
			assert.Equal(t, check.Passed, all[1].Status, all[1].Failures)
			continue
		}
		require.Equal(t, check.Failed, all[1].Status, text)
		assert.Equal(t, "must_fail", all[1].Failures[0].Expectation)
		assert.Equal(t, "x.yaml:6", all[1].Failures[0].At)
		assert.Contains(t, all[1].Failures[0].Found, found)
	}
}

// Under another policy times are not checked, so that a case may find nothing wrong.
func TestACaseMayPassUnderAnotherPolicy(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte(withCases+"- {case: a, failure: makespan, expect: {makespan: 1s}}\n"))
	require.NoError(t, err)
	for _, policy := range []string{"", "serial"} {
		out := run.Cases(sc)[1].Run(t.Context(), run.Options{Seed: 1, Policy: policy})
		assert.Equal(t, check.Passed, out.Status, policy)
	}
}

// A case has the same verdict whatever ran before it, also where a shard has it alone.
func TestACaseIsJudgedAlikeInAnyOrder(t *testing.T) {
	sc, err := scenario.Parse("x.yaml", []byte(`name: x
about: It answers.
stream: {turns: [{text: hi}]}
expect: {gates: [{profile: simple, in: 3}]}
must_fail:
- {case: a, failure: calls, words: ['1'], expect: {calls: 1}}
- {case: b, failure: gates.0.in, expect: {gates: [{profile: simple, in: 99}]}}
`))
	require.NoError(t, err)
	all := run.Cases(sc)
	for _, i := range []int{1, 2, 0, 2} {
		out := all[i].Run(t.Context(), run.Options{Seed: 1})
		assert.Equal(t, check.Passed, out.Status, "%s: %v", out.Name, out.Failures)
	}
}

// A case that cannot prove anything, and an expectation that checks nothing, are refused.
func TestWhatWouldCheckNothingIsRefused(t *testing.T) {
	const file = "name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\n"
	for text, problem := range map[string]string{
		"must_fail: [{failure: calls, expect: {calls: 1}}]":                 "no name of a case",
		"must_fail: [{case: a, expect: {calls: 1}}]":                        "does not name what must fail",
		"must_fail: [{case: a, failure: calls}, {case: a, failure: calls}]": "there twice",
		"must_fail: [{case: a, failure: files, expect: {files: {/a: {}}}}]": "expect.files./a is empty",
		"expect: {results: {a: {contains: []}}}":                            "expect.results.a.contains is empty",
		"expect: {trace: [{kind: run.end, has: {}}]}":                       "expect.trace.0.has is empty",
		"expect: {trace: [{kind: call.emitted, has: {status: ''}}]}":        "expect.trace.0.has.status is empty",
		"expect: {state: {mode: ''}}":                                       "expect.state.mode is empty",
		"expect: {makespan: }":                                              "expect.makespan is empty",
		"expect: {outcome: ''}":                                             "expect.outcome is empty",
		"expect: {files: {/a: {is: absent, lacks: x}}}":                     "has no content",
		"expect: {same_under: [streaming]}":                                 "runs under streaming itself",
		"expect: {chunks: [8, 0]}":                                          "a chunk of 0 bytes",
		"expect: {gates: [{profile: simple}]}":                              "nothing is expected of the gates",
		"must_fail: [{case: a, failure: chunks.0, expect: {chunks: [0]}}]":  "a chunk of 0 bytes",
	} {
		_, err := scenario.Parse("x.yaml", []byte(file+text+"\n"))
		var wrong *scenario.FileError
		require.ErrorAs(t, err, &wrong, text)
		assert.Contains(t, wrong.Problem, problem)
		assert.Equal(t, 4, wrong.Line, text)
	}
	for _, text := range []string{"expect: {order: [], hints: [], called: []}", "expect: {state: {env: {A: ''}, todos: []}}", "expect: {files: {/a: {equals: ''}}}"} {
		_, err := scenario.Parse("x.yaml", []byte(file+text+"\n"))
		assert.NoError(t, err, text)
	}
}
