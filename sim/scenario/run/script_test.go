package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
)

// A scripted page is that of its method before that of its address alone, and takes its time.
func TestAScriptedPageIsThatOfItsMethodAndTakesItsTime(t *testing.T) {
	passes(t, `name: x
about: A page is read.
world:
  only: [WebFetch]
  settings: {ENABLE_TOOL_SEARCH: "false"}
  permissions: {allow: [WebFetch]}
  web:
    https://shop.example/a: {body: "of any", type: text/plain}
    GET https://shop.example/a: {body: "of GET", type: text/plain, after: 3s}
stream:
  turns:
    - calls: [{id: a, tool: WebFetch, input: {url: "https://shop.example/a", prompt: "Read it."}}]
    - text: Done.
expect:
  results: {a: {status: ok, contains: of GET, lacks: of any}}
  makespan: 3s
`)
}

func passes(t *testing.T, text string) {
	t.Helper()
	sc, err := scenario.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	all := run.Cases(sc)
	require.Len(t, all, 1)
	got := all[0].Run(t.Context(), run.Options{Seed: 1})
	assert.Equal(t, check.Passed, got.Status, got.Failures)
}
