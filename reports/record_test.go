package reports_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
)

func recordedReport() run.CaptureReport {
	return run.CaptureReport{
		Mode: run.RecordNew, Cassette: "cassettes/a-rather-long-name-of-a-session.yaml", Recorded: 3, Replayed: 2, Turns: 5, Calls: 12, Bytes: 123456,
		Usage: run.CaptureUsage{Input: 40213, Output: 2211, CacheRead: 38000, CacheWrite: 1200}, Took: 83 * time.Second,
		Blanked: []secret.Count{{Kind: "X-Api-Key", Where: "request headers", Times: 3}, {Kind: "known value of ANTHROPIC_API_KEY", Where: "response body", Times: 1}},
		Unused:  []string{"interaction 4 (POST /v1/messages)"}, Missing: []string{"evil \x1b]0;x\x07"},
	}
}

func TestNoLineOfARecordedSessionIsWiderThanTheScreen(t *testing.T) {
	for width := 30; width < 200; width += 7 {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.RecordReport{CaptureReport: recordedReport()}, "table", reports.Options{Width: width, Color: true}))
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), width, line)
		}
		assert.NotContains(t, b.String(), "\x1b]")
	}
}

func TestARecordedSessionIsSummedUp(t *testing.T) {
	r := recordedReport()
	for want, change := range map[string]func(*run.CaptureReport){
		"3 answers recorded in cassettes/a-rather-long-name-of-a-session.yaml, behind 2 replayed, 4 secrets blanked": func(*run.CaptureReport) {},
		"1 answer of the session kept in p.yaml":                   func(r *run.CaptureReport) { r.Recorded, r.Partial = 1, "p.yaml" },
		"nothing was written":                                      func(r *run.CaptureReport) { r.Err = errors.New("x") },
		"2 answers replayed from c.yaml; the network was not used": func(r *run.CaptureReport) { r.Recorded, r.Cassette = 0, "c.yaml" },
	} {
		r := r
		change(&r)
		assert.Equal(t, want, reports.RecordSummary(r))
	}
}

func TestTheJSONOfARecordedSessionIsAsItsSchemaSays(t *testing.T) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema("record")))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("record.json", parsed))
	schema, err := c.Compile("record.json")
	require.NoError(t, err)
	failed := recordedReport()
	failed.Err = errors.New("no, sk-ant-api03-abcdefgh is wrong")
	for _, r := range []run.CaptureReport{recordedReport(), failed, {Mode: run.RecordOnce}} {
		var b bytes.Buffer
		require.NoError(t, reports.Print(&b, reports.RecordReport{CaptureReport: r, Scenario: "s.yaml"}, "json", reports.Options{}))
		assert.NotContains(t, b.String(), "sk-ant")
		value, err := jsonschema.UnmarshalJSON(&b)
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(value))
	}
}
