package run_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

// Servers that cannot be meant are refused, with their line.
func TestServersThatCannotBeMeantAreRefused(t *testing.T) {
	const head = "name: x\nabout: It is.\nstream: {turns: [{text: hi}]}\n"
	for problem, text := range map[string]string{
		"has no place, or two":           "world: {mcp: [{catalogue: c.jsonl, faults: [{gone: true}]}]}",
		"no place, or two":               "world: {mcp: [{catalogue: c.jsonl, faults: [{call: a, connect: 1, refused: true}]}]}",
		"nothing that becomes of a list": "world: {mcp: [{catalogue: c.jsonl, faults: [{connect: 1, list: sings}]}]}",
		"does nothing to the connection": "world: {mcp: [{catalogue: c.jsonl, faults: [{connect: 1, gone: true}]}]}",
		"before the second request":      "world: {mcp: [{catalogue: c.jsonl, lists: [{without: [a]}]}]}",
		"is no answer to a server":       "user: {elicits: [{action: maybe}]}",
		"unknown field \"duplicated\"":   "world: {mcp: [{catalogue: c.jsonl, faults: [{call: a, duplicated: true}]}]}",
	} {
		_, err := scenario.Load(fstest.MapFS{"x.yaml": {Data: []byte(head + text)}}, "x.yaml")
		require.ErrorContains(t, err, problem)
		assert.ErrorContains(t, err, "x.yaml:4", problem)
	}
}

// Scripts for what the catalogue does not have are found before anything runs.
func TestScriptsForNoToolAreRefused(t *testing.T) {
	const file = "name: x\nabout: It is.\nstream: {turns: [{text: hi}]}\nworld:\n  mcp: [{catalogue: c.jsonl, "
	for problem, text := range map[string]string{
		`"two"`:                  "asks: {two: {message: Eh?}}}]",
		`the server "elsewhere"`: "faults: [{server: elsewhere, call: a, gone: true}]}]",
	} {
		fsys := fstest.MapFS{"x.yaml": {Data: []byte(file + text)}, "c.jsonl": {Data: []byte(`{"server":"s","name":"one"}`)}}
		sc, err := scenario.Load(fsys, "x.yaml")
		require.NoError(t, err)
		out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
		require.ErrorContains(t, out.Err, problem)
		assert.True(t, out.Invalid)
	}
}

// What a client calls off is seen behind an address as well, and a prompt may name an argument
// twice.
func TestServersSeeWhatIsCalledOffAndFillPrompts(t *testing.T) {
	const called = `
name: called-off
about: A call ends at its limit.
world:
  only: [Sleep]
  settings: {ENABLE_TOOL_SEARCH: "false"}
  permissions: {mode: bypass}
  mcp:
    - {catalogue: c.jsonl, http: {by: person}, faults: [{call: long, slow: 500s}]}
stream: {turns: [{calls: [{id: long, tool: mcp__s__one, input: {}}]}, {text: Done.}]}
expect: {servers: {s: {called: [long], cancelled: [long]}}}
`
	const filled = `
name: filled
about: A prompt is filled in.
world:
  settings: {ENABLE_TOOL_SEARCH: "false"}
  mcp: [{catalogue: c.jsonl, prompts: {greet: "Hi {who}, bye {who}."}}]
prompt: /mcp__s__greet Ann
stream: {turns: [{text: Done.}]}
expect: {requests: {contains: ["Hi Ann, bye Ann."]}}
`
	for _, text := range []string{called, filled} {
		fsys := fstest.MapFS{"x.yaml": {Data: []byte(text)}, "c.jsonl": {Data: []byte(`{"server":"s","name":"one"}`)}}
		sc, err := scenario.Load(fsys, "x.yaml")
		require.NoError(t, err)
		out := run.Scenario(t.Context(), sc, run.Options{Seed: 1})
		require.NoError(t, out.Err)
		assert.Empty(t, out.Failures, sc.Name)
	}
}
