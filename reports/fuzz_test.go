package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/property/fuzz"
	"toolbench/property/oracle"
	"toolbench/reports"
)

func fuzzed() reports.FuzzReport {
	r := reports.FuzzReport{Seed: 7, Engine: "both", Policies: []string{"serial", "streaming"}, Took: 2 * time.Second}
	r.Total = fuzz.Result{Cases: 1000, Calls: 12_000, Seen: make([]int, len(oracle.Goals()))}
	r.Total.Seen[0], r.Total.Seen[2] = 214, 1
	r.Failure = &reports.FuzzFailure{
		Case: 42, Broke: "limit", Found: "at 1s: 3 calls run; the limit is 2\x1b[31m", Log: "0s turn 1 request\n",
		Calls: 19, Left: 2, Again: "toolbench fuzz --seed 7 --runs 43 --engine both", File: "fuzz-7-42.yaml", CaseFile: "fuzz-7-42.case.yaml", Text: "name: fuzz-7-42\n",
		Inevitable: &fuzz.Moment{What: "c2 ready, at 2s", Entry: 5, Entries: 16, Tried: 199, Same: 175, Averted: "turns.0.calls: without 1"},
	}
	return r
}

func TestAFuzzRunFitsTheScreen(t *testing.T) {
	for _, width := range []int{100, 80, 60, 40} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, fuzzed(), "table", reports.Options{Width: width}))
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, reports.Width(strings.TrimRight(line, "\n")), width, line)
		}
		assert.NotContains(t, b.String(), "\x1b")
		golden(t, fmt.Sprint("fuzz.", width), b.String())
	}
	var b bytes.Buffer
	all := fuzzed()
	all.Goals = true
	require.NoError(t, reports.Print(&b, all, "table", reports.Options{Width: 60}))
	golden(t, "fuzz.goals", b.String())
	b.Reset()
	require.NoError(t, reports.Print(&b, fuzzed(), "json", reports.Options{}))
	golden(t, "fuzz.json", b.String())
}

// The colour of what failed is a colour, and no escape spelled out.
func TestAFailingCaseIsPainted(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, fuzzed(), "table", reports.Options{Width: 100, Color: true}))
	assert.Contains(t, b.String(), "\x1b[1mFAILED\x1b[0m case 42 broke limit")
}

// What cannot come up under the policies that were played is not missed.
func TestWhatCannotComeUpIsNotMissed(t *testing.T) {
	var b bytes.Buffer
	all := fuzzed()
	all.Goals = true
	require.NoError(t, reports.Print(&b, all, "table", reports.Options{Width: 100}))
	never := b.String()[strings.Index(b.String(), "Never seen"):]
	assert.Contains(t, never, "a safe call's modifier was dropped")
	assert.NotContains(t, never, "acted after its batch")
}

func TestReplayedCasesAreReported(t *testing.T) {
	r := reports.FuzzReplayReport{Engine: "both", Replayed: []reports.FuzzReplayed{
		{File: "a.yaml", About: "Fine."}, {File: "b.yaml", Broke: "limit", Found: "3 calls run"},
	}}
	var b bytes.Buffer
	require.NoError(t, reports.Print(&b, r, "table", reports.Options{Width: 80}))
	assert.Equal(t, "FAILED b.yaml broke limit\n  3 calls run\n2 cases: 1 held, 1 failed\n", b.String())
}

func TestEveryInvariantIsListed(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.FuzzList(&b, reports.Options{Width: 60}))
	for _, c := range fuzz.Invariants() {
		assert.Contains(t, b.String(), c.Name)
	}
}
